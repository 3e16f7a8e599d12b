#pragma once

#include <cstdint>
#include <vector>

#include "models/fpm_file.hpp"
#include "models/speed_model.hpp"
#include "partition/algorithms.hpp"

namespace steelyard {

/// One speed model per slot, and the measured points that it is made of.
class SpeedModels {
 public:
  /// @param files where one has no points, its slot has no model until it has got some
  /// @param algorithm asks for models of a kind and shape
  /// @throws InvalidArgument for points that no such model can be made of
  SpeedModels(std::vector<models::FpmFile> files, partition::Algorithm algorithm);
  /// Without files: constant speeds of 1 / slowdown.
  SpeedModels(const std::vector<double>& slowdowns, partition::Algorithm algorithm);

  /// Model of every slot; null for one without points.
  std::vector<const models::SpeedModel*> pointers() const;
  const std::vector<models::FpmFile>& files() const { return files_; }
  const partition::Algorithm& algorithm() const { return algorithm_; }
  /// Distribution by the algorithm. @throws InvalidArgument as that does
  partition::Distribution distribute(std::int64_t total) const { return algorithm_.distribute(total, pointers()); }
  /// Adds what was measured at each slot's size, in place of points within 2 % of it in the same regime of memory, from
  /// which it says how far speed has drifted since; a size of 0 adds nothing. @param points one per slot
  void add(const std::vector<models::MeasuredPoint>& points);

 private:
  void fit();
  partition::Algorithm algorithm_;
  std::vector<models::FpmFile> files_;
  std::vector<models::SpeedModelPtr> models_;
};

}  // namespace steelyard
