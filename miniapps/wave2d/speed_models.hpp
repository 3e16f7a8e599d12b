#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "core/co_execution.hpp"
#include "miniapps/wave2d/problem.hpp"
#include "miniapps/wave2d/simulation.hpp"
#include "models/fpm_file.hpp"
#include "models/speed_model.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::wave2d {

/// One speed model per slot: a computation unit is a grid row advanced by one step.
class SpeedModels {
 public:
  /// @param algorithm asks for models of a kind and shape
  SpeedModels(std::vector<models::FpmFile> files, const partition::Algorithm& algorithm);

  std::vector<const models::SpeedModel*> pointers() const;
  const std::vector<models::FpmFile>& files() const { return files_; }
  /// Adds what was measured at each slot's size, in place of points within 2 % of it; 0 rows add nothing.
  void add(const std::vector<models::MeasuredPoint>& points);

 private:
  void fit();
  const partition::Algorithm* algorithm_;
  std::vector<models::FpmFile> files_;
  std::vector<models::SpeedModelPtr> models_;
};

/// Measures all slots at the same time at a few sizes up to the even share, then, as partial models are refined
/// (000, section 2.4.2), at the distribution that `algorithm` makes of them, until it changes by less than 1 %.
/// Collective; every rank gets the same models.
SpeedModels measure_speed_models(const Session& session, CoExecution& co_execution, const RankUnits& units,
                                 const Problem& problem, ElementType element, const std::vector<Slot>& slots,
                                 const std::string& algorithm);

/// Models from files: one for all slots, one per unit of a rank, or one per slot. Collective.
/// @throws CollectiveError for bad files, another number of files, or models of other row lengths or element types
SpeedModels read_speed_models(const Session& session, const std::vector<std::filesystem::path>& paths,
                              const Problem& problem, const std::vector<Slot>& slots, const std::string& element,
                              const std::string& algorithm);

}  // namespace steelyard::wave2d
