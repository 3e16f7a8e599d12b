#include "miniapps/cavity/output/flow_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/plot/colour_map.hpp"
#include "core/base/plot/png_file.hpp"
#include "core/base/text_file.hpp"
#include "core/base/vti_file.hpp"
#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/output/checkpoint.hpp"
#include "miniapps/cavity/output/flow_analysis.hpp"

namespace steelyard::cavity {
namespace {

constexpr std::int64_t longest_side = 800;
constexpr std::int64_t fineness = 3;  ///< points per pixel and direction at which streamlines are searched

/// Source: Ghia et al. (1982), Table III; rising.
constexpr std::array<double, 24> all_levels = {-0.1175, -0.115, -0.11, -0.1,   -0.09,  -0.07, -0.05,  -0.03,
                                               -0.01,   -1e-4,  -1e-5, -1e-7,  -1e-10, 1e-8,  1e-7,   1e-6,
                                               1e-5,    5e-5,   1e-4,  2.5e-4, 5e-4,   1e-3,  1.5e-3, 3e-3};

/// Where each of `count` evenly spaced points from `first` to `last` lies between grid points, `most` of them.
std::vector<Interpolation> samples(const std::vector<double>& points, std::size_t most, std::int64_t count,
                                   double first, double last) {
  std::vector<Interpolation> result;
  for (std::int64_t k = 0; k < count; ++k) {
    const double part = count == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(count - 1);
    result.push_back(interpolation(points, std::lerp(first, last, part), most));
  }
  return result;
}

/// Across rows of what is interpolated along each, from `at(row, column)`.
template <class At>
double sample(const Interpolation& y, const Interpolation& x, const At& at) {
  return y.of([&](std::size_t j) {
    return x.of([&](std::size_t i) { return at(static_cast<std::int64_t>(j), static_cast<std::int64_t>(i)); });
  });
}

/// Pixel (row, column) of the picture, the first row at the top.
struct Pixels {
  std::int64_t rows;
  std::int64_t columns;

  explicit Pixels(double height) {
    const double scale = static_cast<double>(longest_side) / std::max(1.0, height);
    const auto whole = [](double length) { return std::max<std::int64_t>(1, std::llround(length)); };
    rows = whole(scale * height);
    columns = whole(scale);
  }
};

/// The speed at pixels' centres.
class Speeds {
 public:
  Speeds(const Problem& problem, const FlowState& state, const Pixels& pixels) : state_(state) {
    const double side_x = 0.5 / static_cast<double>(pixels.columns);
    const double side_y = 0.5 * problem.height / static_cast<double>(pixels.rows);
    const auto across = [&](const std::vector<double>& points) {
      return samples(points, 2, pixels.columns, side_x, 1.0 - side_x);
    };
    const auto down = [&](const std::vector<double>& points) {
      return samples(points, 2, pixels.rows, problem.height - side_y, side_y);
    };
    u_x_ = across(faces(problem.columns, 1.0));
    u_y_ = down(centres_and_walls(problem.rows, problem.height));
    v_x_ = across(centres_and_walls(problem.columns, 1.0));
    v_y_ = down(faces(problem.rows, problem.height));
  }

  double at(std::int64_t row, std::int64_t column) const {
    const auto r = static_cast<std::size_t>(row);
    const auto c = static_cast<std::size_t>(column);
    // Points of walls around the grid: row or column 0 of u_y_ and v_x_.
    const double u = sample(u_y_[r], u_x_[c], [&](std::int64_t j, std::int64_t i) {
      if (j == 0) return 0.0;
      return j > state_.rows ? 1.0 : state_.u_at(j - 1, i);
    });
    const double v = sample(v_y_[r], v_x_[c], [&](std::int64_t j, std::int64_t i) {
      return i == 0 || i > state_.columns ? 0.0 : state_.v_at(j, i - 1);
    });
    return std::hypot(u, v);
  }

 private:
  const FlowState& state_;
  std::vector<Interpolation> u_x_, u_y_, v_x_, v_y_;
};

/// Share of each pixel that streamlines cover, on a lattice finer than pixels: a lattice point is on a line where a
/// neighbour lies between two other levels of psi.
class Lines {
 public:
  Lines(const Problem& problem, const Streamfunction& psi, const Pixels& pixels)
      : columns_(fineness * pixels.columns),
        x_(samples(faces(problem.columns, 1.0), 4, columns_, 0.0, 1.0)),
        y_(samples(faces(problem.rows, problem.height), 4, fineness * pixels.rows, problem.height, 0.0)),
        psi_(psi) {
    const double weakest = 10.0 * psi.closure_error();
    std::copy_if(all_levels.begin(), all_levels.end(), std::back_inserter(levels_),
                 [&](double level) { return std::abs(level) > weakest; });
  }

  /// From 0 to 1, for all pixels of the next row, the first at the top.
  std::vector<double> next_row() {
    std::vector<double> covered(static_cast<std::size_t>(columns_ / fineness), 0.0);
    for (std::int64_t k = 0; k < fineness; ++k) {
      if (below_.empty()) here_ = below_ = bands(0);
      const std::vector<int> above = std::exchange(here_, below_);
      next_ = std::min(next_ + 1, y_.size() - 1);
      below_ = bands(next_);
      for (std::size_t i = 0; i < here_.size(); ++i) {
        const int band = here_[i];
        const int left = here_[i == 0 ? i : i - 1];
        const int right = here_[std::min(i + 1, here_.size() - 1)];
        if (above[i] != band || below_[i] != band || left != band || right != band) {
          covered[i / fineness] += 1.0 / (fineness * fineness);
        }
      }
    }
    return covered;
  }

 private:
  /// How many levels are below psi, along a row of the lattice.
  std::vector<int> bands(std::size_t k) const {
    std::vector<int> row;
    row.reserve(x_.size());
    for (const Interpolation& x : x_) {
      const double value = sample(y_[k], x, [&](std::int64_t j, std::int64_t i) { return psi_.at(j, i); });
      row.push_back(static_cast<int>(std::lower_bound(levels_.begin(), levels_.end(), value) - levels_.begin()));
    }
    return row;
  }

  std::int64_t columns_;
  std::vector<Interpolation> x_, y_;
  const Streamfunction& psi_;
  std::vector<double> levels_;
  std::size_t next_ = 0;           ///< row of the lattice
  std::vector<int> here_, below_;  ///< it is below_; the one above it
};

std::uint8_t mixed(std::uint8_t from, std::uint8_t to, double part) {
  return static_cast<std::uint8_t>(std::lround(std::lerp(static_cast<double>(from), static_cast<double>(to), part)));
}

}  // namespace

Rgb speed_colour(double speed) {
  constexpr double darker_part = 0.65;
  return sequential_colour(darker_part * std::clamp(speed, 0.0, 1.0));
}

void write_flow_picture(const std::filesystem::path& path, const Problem& problem, const FlowState& state) {
  require_flow_of(problem, state);
  const Pixels pixels(problem.height);
  const Speeds speeds(problem, state, pixels);
  const Streamfunction psi = streamfunction(problem, state);
  Lines lines(problem, psi, pixels);
  const PictureLegend legend{speed_colour, 0.0, "0", "1 lid speed",
                             fmt::format("re {:g}  t = {:.4g}", problem.reynolds, state.time)};
  std::vector<Rgb> picture;
  for (std::int64_t r = 0; r < pixels.rows; ++r) {
    const std::vector<double> covered = lines.next_row();
    for (std::size_t c = 0; c < covered.size(); ++c) {
      const Rgb ground = speed_colour(speeds.at(r, static_cast<std::int64_t>(c)));
      picture.push_back({mixed(ground.red, line_colour.red, covered[c]),
                         mixed(ground.green, line_colour.green, covered[c]),
                         mixed(ground.blue, line_colour.blue, covered[c])});
    }
  }
  for (const Rgb& below : legend.pixels(pixels.columns)) picture.push_back(below);
  write_png_file(path, pixels.columns, picture);
}

namespace {

nlohmann::json solve_json(const SolveReport& report) {
  nlohmann::json residuals = nlohmann::json::array();
  const double scale = report.right_side > 0.0 ? 1.0 / report.right_side : 1.0;
  for (const double residual : report.history) residuals.push_back(scale * residual);
  return {{"iterations", report.iterations}, {"restarts", report.restarts}, {"residuals", residuals}};
}

}  // namespace

void require_flow_outputs(const Options& options) {
  std::map<std::filesystem::path, std::string> names;
  for (const auto& [option, path] : {std::pair{"--output", options.run.output},
                                     {"--profiles", options.profiles},
                                     {"--picture", options.picture},
                                     {"--checkpoint", options.checkpoint}}) {
    if (path.empty()) continue;
    const auto [other, is_new] = names.emplace(std::filesystem::absolute(path).lexically_normal(), option);
    if (!is_new) {
      throw InvalidArgument(
          fmt::format("{} and {} both name {} (expected a file each)", other->second, option, path.string()));
    }
    require_writable(path);
  }
}

void write_flow_outputs(const Options& options, const Problem& problem, const FlowState& state) {
  const std::filesystem::path& folder = options.run.result;
  std::vector<std::string> failures;
  const auto write_one = [&](const std::filesystem::path& path, const auto& writer) {
    try {
      writer(path, problem, state);
    } catch (const RuntimeFailure& failure) {
      failures.emplace_back(failure.what());
    }
  };
  const auto write = [&](const std::filesystem::path& given, const char* name, const auto& writer) {
    if (!given.empty()) write_one(given, writer);
    if (!folder.empty() && name != nullptr) write_one(folder / name, writer);
  };
  // Those first that cost most to make again.
  write(options.checkpoint, nullptr, write_checkpoint);
  write(options.run.output, "flow.vti", write_flow_vti);
  write(options.profiles, "centre_lines.csv", write_centre_lines);
  write(options.picture, "flow.png", write_flow_picture);
  if (!failures.empty()) throw RuntimeFailure(fmt::format("{}", fmt::join(failures, "; ")));
}

void write_histories(const std::filesystem::path& folder, const Problem& problem, const FlowState& start,
                     std::span<const StepReport> reports) {
  NewFile file(folder / "solves.jsonl");
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const StepReport& report = reports[i];
    const auto done = static_cast<std::int64_t>(i + 1);
    nlohmann::json line{{"step", start.steps + done},
                        {"time", start.time + static_cast<double>(done) * problem.time_step},
                        {"momentum", solve_json(report.momentum)},
                        {"pressure", nlohmann::json::array()},
                        {"mass_imbalance", report.mass_imbalance},
                        {"change", report.change}};
    for (const SolveReport& pressure : report.pressure) line["pressure"].push_back(solve_json(pressure));
    file.write(line.dump() + "\n");
  }
  file.finish();
}

void write_flow_vti(const std::filesystem::path& path, const Problem& problem, const FlowState& state) {
  require_flow_of(problem, state);
  const Streamfunction psi = streamfunction(problem, state);
  VtiGrid grid;
  grid.rows = problem.rows;
  grid.columns = problem.columns;
  grid.spacing = {problem.dx(), problem.dy()};
  grid.origin = {0.5 * problem.dx(), 0.5 * problem.dy()};
  std::vector<double> velocity, psi_at_centres;
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    for (std::int64_t i = 0; i < problem.columns; ++i) {
      velocity.push_back(0.5 * (state.u_at(j, i) + state.u_at(j, i + 1)));
      velocity.push_back(0.5 * (state.v_at(j, i) + state.v_at(j + 1, i)));
      velocity.push_back(0.0);
      psi_at_centres.push_back(0.25 * ((psi.at(j, i) + psi.at(j, i + 1)) + (psi.at(j + 1, i) + psi.at(j + 1, i + 1))));
    }
  }
  write_vti_file<double>(path, grid,
                         {{"velocity", 3, velocity}, {"pressure", 1, state.p}, {"streamfunction", 1, psi_at_centres}});
}

}  // namespace steelyard::cavity
