#pragma once

#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "models/measured_point.hpp"

namespace steelyard::models {

/// A speed model file (`*.fpm.json`, schema steelyard.fpm/1): the points as measured and where they come from. Fits are
/// made by whoever reads it. Only `schema` and `points` with `units` and `time_s` are required on reading.
struct FpmFile {
  std::string app;
  std::string kernel;
  std::string element;  ///< double or float
  std::string unit_kind;
  std::string unit_cores;
  std::string unit_device;
  std::string unit_blas;   ///< library and kernels that a host unit calls; empty where it calls none
  bool unit_bound = true;  ///< false where the operating system refused to bind the unit's threads to its cores
  double slowdown = 1.0;
  std::string computation_unit;              ///< what one unit of work is, in words
  std::map<std::string, double> parameters;  ///< what fixes the size of a computation unit, such as `columns`
  std::vector<std::string> parts;  ///< names of the parts of a run that each point has seconds of; they need not be all
  double flops_per_unit = 0.0;
  double bytes_per_unit = 0.0;
  double in_core_units = std::numeric_limits<double>::infinity();  ///< own memory; larger sizes ran out of core
  double max_units = std::numeric_limits<double>::infinity();      ///< memory limit
  bool solo = false;  ///< measured with all other units idle, instead of busy with the same
  std::string machine;
  std::string date;  ///< when it was measured, ISO 8601 in UTC
  std::string commit;
  std::string note;  ///< why its times may mislead; empty where no reason is known
  Drift drift;
  std::vector<MeasuredPoint> points;     ///< sizes strictly increasing
  std::vector<MeasuredPoint> imprecise;  ///< sizes whose measurement ended before it was precise; they do not count
  bool all_imprecise = false;            ///< `points` are imprecise, for want of better ones

  /// Seconds of each part in a run of `units` units: interpolated between the points, beyond them as in the nearest.
  std::array<double, MeasuredPoint::most_parts> parts_s(double units) const;
};

/// Reads `*.fpm.json`, or the text of Fupermod's builder where the name ends in `.fpm`: one point a line, in columns d
/// (computation units), t (seconds), reps and ci (half width of the confidence interval, seconds), of which only the
/// first two have to be there; more columns and lines that begin with # count for nothing. Source: 000, sections 6.1.2
/// (fupermod_point) and 6.3 (builder). Where no point is precise the imprecise ones count.
/// @throws FileFormatError naming file and key or line for wrong JSON, schema or words, no points, sizes not
/// increasing, times or sizes that are not positive and finite
FpmFile read_fpm_file(const std::filesystem::path& path);

/// @throws RuntimeFailure when it cannot be written
void write_fpm_file(const std::filesystem::path& path, const FpmFile& file);

/// As text on one line, to send between ranks; parse_fpm_description() reads it back, where it may have no points yet.
/// `name` stands for the file in errors.
std::string format_fpm(const FpmFile& file);
FpmFile parse_fpm_description(const std::string& text, const std::string& name);

}  // namespace steelyard::models
