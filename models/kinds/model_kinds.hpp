#pragma once

#include <span>
#include <string>

#include "models/fpm_file.hpp"
#include "models/shape.hpp"
#include "models/speed_model.hpp"

namespace steelyard::models {

/// Options of fits.
struct FitOptions {
  Shape shape = Shape::increasing_time;  ///< of `piecewise_linear`
  int degree = 0;                        ///< of `polynomial`; 0 lets it choose
};

/// A kind of speed model under the name that the command line uses.
struct ModelKind {
  std::string name;
  std::string description;  ///< one line
  SpeedModelPtr (*build)(std::span<const MeasuredPoint> points, double max_units, const FitOptions& options);
};

/// Every kind.
std::span<const ModelKind> model_kinds();

/// @throws InvalidArgument naming the kinds that there are
const ModelKind& find_model_kind(const std::string& name);

/// The model of a file's points and memory limits: beyond `in_core_units` a second one where there are points beyond,
/// the end otherwise. Points beyond alone stand for all sizes. Source: 000, section 4.1.1.
/// @throws InvalidArgument for an unknown kind or points that it cannot be built from, or that take less than 1e-15 s
/// or more than 1e15 s
SpeedModelPtr make_model(const FpmFile& file, const std::string& kind = "piecewise_linear",
                         const FitOptions& options = {});

/// How far each point is from what a model of the other points predicts there, the first and the last point, which no
/// others enclose, excepted; nothing to tell with fewer than three points. Unlike SpeedModel::fit_error() this says
/// something about kinds that pass through all points.
FitError leave_one_out_error(std::span<const MeasuredPoint> points, const ModelKind& kind,
                             const FitOptions& options = {});

}  // namespace steelyard::models
