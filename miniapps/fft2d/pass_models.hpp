#pragma once

#include <optional>
#include <vector>

#include "core/base/run_record.hpp"
#include "core/co_execution.hpp"
#include "miniapps/app/speed_models.hpp"
#include "miniapps/fft2d/assignment.hpp"
#include "miniapps/fft2d/options.hpp"

namespace steelyard::fft2d {

/// Speed models of both passes, which for a square transform of complex numbers are the same.
class PassModels {
 public:
  /// From files or measured. Collective. @throws CollectiveError
  PassModels(const Session& session, CoExecution& co_execution, const RankUnits& units, const Options& options,
             const Problem& problem, const std::vector<Slot>& slots, RunRecord& record);

  const SpeedModels& rows() const { return *rows_; }
  /// Those of pass 2, where they are others. What the result folder keeps besides.
  const std::optional<SpeedModels>& columns() const { return columns_; }
  /// Collective. @throws CollectiveError as fft2d::assign()
  Assignment assign(const Session& session, const Problem& problem, const std::string& partition,
                    std::int64_t point_bytes) const;

 private:
  std::optional<SpeedModels> rows_;
  std::optional<SpeedModels> columns_;
};

/// Whether rows of both passes are alike.
inline bool passes_alike(const Problem& problem) { return !problem.real && problem.rows == problem.columns; }

/// Extents with the fastest passes, by short measurements of all units at once. How long that took is printed, and kept
/// as `padding_time_s`. Collective. @throws CollectiveError
Extents measure_fastest_extents(const Session& session, CoExecution& co_execution, const Options& options,
                                const Extents& input, const std::vector<Slot>& slots, RunRecord& record);

}  // namespace steelyard::fft2d
