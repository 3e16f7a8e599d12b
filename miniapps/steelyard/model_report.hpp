#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "models/fpm_file.hpp"
#include "models/model_kinds.hpp"
#include "models/speed_model.hpp"

namespace steelyard::tool {

/// Where the model comes from, what it is, its limits and its fit error, a line each.
std::string model_header(const std::filesystem::path& path, const models::FpmFile& file,
                         const models::SpeedModel& model);

/// Measured and modelled times at the measured sizes; says which points do not count.
std::string points_table(const models::FpmFile& file, const models::SpeedModel& model);

/// Predicted times and speeds.
std::string predictions_table(const models::SpeedModel& model, const std::vector<double>& at);

/// Every kind's error at its points, and at points that it was not shown.
std::string compare_kinds(const models::FpmFile& file, const models::FitOptions& options);

/// Speed against size as SVG: measured points with their confidence intervals, and the model.
std::string model_plot(const models::FpmFile& file, const models::SpeedModel& model);

}  // namespace steelyard::tool
