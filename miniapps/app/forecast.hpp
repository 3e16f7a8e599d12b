#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "miniapps/app/processes.hpp"
#include "models/communication/message_pattern.hpp"
#include "partition/rectangle.hpp"

namespace steelyard {

/// Seconds of a run by one model of communication.
struct ModelForecast {
  std::string model;
  std::vector<std::pair<std::string, double>> phases;  ///< name and seconds; without speed models not the computation
  double communication_s = 0.0;                        ///< whether or not something else hides it
  double total_s = 0.0;
};

/// What models say of a run that does not take place.
struct Forecast {
  std::vector<ModelForecast> models;                            ///< at least one; the first one counts
  std::vector<std::int64_t> distribution, column_distribution;  ///< computation units of every processing unit, or none
  std::vector<partition::Rectangle> rectangles;                 ///< of every process or unit, or none
  std::string details;                                          ///< of `--detail`
};

/// Of an app that repeats a kernel on all slices at the same time, followed by an exchange.
/// @param kernel of which `total` computation units are distributed by `partition` @param exchange nothing for an app
/// whose processes send no messages @throws InvalidArgument, also without models where nothing is sent, FileFormatError
Forecast forecast_steps(const Processes& processes, const std::string& partition, const KernelFacts& kernel,
                        std::int64_t total, const std::optional<models::MessagePattern>& exchange, std::int64_t steps);

/// A mini-app's part of `steelyard predict APP`; the tool adds the options of processes, `--partition` and `--format`.
class Forecaster {
 public:
  virtual ~Forecaster() = default;
  /// Options of the problem.
  virtual void add_options(CLI::App& parser) = 0;
  virtual std::string default_partition() const { return "geometric"; }
  /// Lines that say what is predicted, each with its newline.
  virtual std::string problem() const = 0;
  /// @throws InvalidArgument, FileFormatError
  virtual Forecast forecast(const Processes& processes, const std::string& partition) const = 0;
  /// Makes the problem so many times as large for weak scaling; false where an app has no weak scaling.
  virtual bool enlarge(std::int64_t /*times*/) { return false; }
};

}  // namespace steelyard
