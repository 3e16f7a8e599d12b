#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/statistics.hpp"

namespace steelyard {

/// Seconds of one part of a run, per step or as the name says.
struct PhaseTime {
  std::string name;
  double measured_s = 0.0;
  std::optional<double> predicted_s;
};

/// Speed by which runs of an app are compared: the higher the better.
struct FigureOfMerit {
  std::string name;  ///< its unit, such as GFLOP/s
  double value = 0.0;
};

/// Result of a verification. `performed` is false where there is nothing to compare with, or the user asked for none.
struct CheckResult {
  bool performed = false;
  bool passed = false;
  double error = 0.0;
  double tolerance = 0.0;
  std::string against;  ///< what the result was compared with
};

/// One processing unit of the run, as the result file describes it.
struct UnitRecord {
  int rank = 0;
  std::string kind;   ///< host or device
  std::string space;  ///< Kokkos execution space, and a device's model
  std::string cores;  ///< such as 0-3
  double slowdown = 1.0;
  std::optional<double> predicted_s = {};  ///< of its kernels, for what `timed_per` says
  std::optional<double> measured_s = {};   ///< its median over all repetitions
};

/// Blocks that one rank owns, where slices have two dimensions.
struct RectangleRecord {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  bool operator==(const RectangleRecord&) const = default;
};

/// One measured value: a repetition's metric with the parameters it was measured under.
struct Sample {
  std::map<std::string, double> params;
  std::string metric;
  double value = 0.0;
  std::map<std::string, std::string> keys;
};

/// Everything that `--result DIR` keeps of a run.
struct RunRecord {
  std::string app;
  std::string date;  ///< when it started, ISO 8601 in UTC
  std::vector<std::string> argv;
  std::vector<std::string> launch;                 ///< the command that started the ranks; empty where none is known
  std::map<std::string, std::string> environment;  ///< variables of rank 0 that programs such as these go by
  std::uint64_t seed = 0;
  std::string kokkos;
  std::string blas;  ///< the host's, and its kernels
  std::string mpi;
  std::vector<std::string> hosts;
  std::vector<std::string> processors;          ///< of each host
  std::map<std::string, double> params;         ///< problem size and such
  std::map<std::string, std::string> settings;  ///< partition, boundary, element type, …
  std::vector<UnitRecord> units;
  std::string timed_per;                   ///< what units' seconds are of, such as `step`; empty for a repetition
  std::string computation_units;           ///< what is distributed, such as `rows`
  std::vector<std::int64_t> distribution;  ///< computation units of each processing unit
  std::vector<std::int64_t> column_distribution;  ///< of apps whose second phase is split anew; empty for others
  std::vector<RectangleRecord> rectangles;        ///< of each rank; empty where slices have one dimension
  double median_time_s = 0.0;
  std::optional<double> predicted_time_s;
  std::optional<Interval> predicted_interval_s;       ///< in which 90 % of runs are predicted to end
  std::optional<FigureOfMerit> figure_of_merit;       ///< nothing where no repetition was summed up
  std::map<std::string, double> figures;              ///< derived figures: share of a bound, memory bound, …
  std::map<std::string, std::vector<double>> points;  ///< figures that are points of the plane
  std::vector<PhaseTime> phases;
  CheckResult check;
  bool is_interrupted = false;  ///< the user ended it; `samples` has the repetitions that were finished
  bool is_dry_run = false;      ///< nothing was run: there are predictions alone
  std::vector<Sample> samples;
  std::vector<double> memory_bytes = {};  ///< of each host; 0 where unknown
  std::vector<std::string> notes = {};    ///< why its numbers may mislead
};

/// The time now, ISO 8601 in UTC.
std::string date_now();

/// Writes `run.json` (schema steelyard.run/1) and `samples.jsonl` into `folder`, which is made where it is missing.
/// @throws RuntimeFailure
void write_run_record(const std::filesystem::path& folder, const RunRecord& record);

}  // namespace steelyard
