#pragma once

#include <functional>
#include <span>
#include <vector>

namespace steelyard::models {

/// Residuals of a parameter vector, as many as there are points.
using Residuals = std::function<void(std::span<const double> parameters, std::span<double> residuals)>;

/// The parameters near `start` with the least sum of squared residuals, by Levenberg and Marquardt's method with
/// derivatives from differences. Returns `start` where nothing better is found.
/// @param count residuals; with fewer than parameters, `start` is returned
std::vector<double> fit_least_squares(const Residuals& residuals, std::vector<double> start, int count);

double sum_of_squares(const Residuals& residuals, std::span<const double> parameters, int count);

}  // namespace steelyard::models
