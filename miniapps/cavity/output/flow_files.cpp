#include "miniapps/cavity/output/flow_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/text_file.hpp"
#include "core/base/vti_file.hpp"
#include "miniapps/cavity/output/flow_analysis.hpp"

namespace steelyard::cavity {

void write_flow_vti(const std::filesystem::path& path, const Problem& problem, const FlowState& state) {
  const Streamfunction psi = streamfunction(problem, state);
  const VtiGrid grid{
      problem.rows, problem.columns, {problem.dx(), problem.dy()}, {0.5 * problem.dx(), 0.5 * problem.dy()}};
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
  return y.of([&](std::int64_t j) { return x.of([&](std::int64_t i) { return at(j, i); }); });
}

/// Rows and columns of the picture, the first row at the top.
struct Pixels {
  std::int64_t rows, columns;

  explicit Pixels(double height) {
    const double scale = static_cast<double>(longest_side) / std::max(1.0, height);
    const auto whole = [](double length) { return std::max<std::int64_t>(1, std::llround(length)); };
    rows = whole(scale * height);
    columns = whole(scale);
  }
};

/// The speed at all pixels' centres.
std::vector<double> speeds_at(const Pixels& pixels, const Problem& problem, const FlowState& state) {
  const double side_x = 0.5 / static_cast<double>(pixels.columns);
  const double side_y = 0.5 * problem.height / static_cast<double>(pixels.rows);
  const auto across = [&](const auto& points) { return samples(points, 2, pixels.columns, side_x, 1.0 - side_x); };
  const auto down = [&](const auto& points) {
    return samples(points, 2, pixels.rows, problem.height - side_y, side_y);
  };
  const auto u_x = across(faces(problem.columns, 1.0)), v_x = across(centres_and_walls(problem.columns, 1.0));
  const auto u_y = down(centres_and_walls(problem.rows, problem.height)),
             v_y = down(faces(problem.rows, problem.height));
  std::vector<double> speeds;
  for (std::size_t row = 0; row < u_y.size(); ++row) {
    for (std::size_t column = 0; column < u_x.size(); ++column) {
      // Points of walls around the grid: row or column 0 of u_y and v_x.
      const double u = sample(u_y[row], u_x[column], [&](std::int64_t j, std::int64_t i) {
        if (j == 0) return 0.0;
        return j > state.rows ? 1.0 : state.u_at(j - 1, i);
      });
      const double v = sample(v_y[row], v_x[column], [&](std::int64_t j, std::int64_t i) {
        return i == 0 || i > state.columns ? 0.0 : state.v_at(j, i - 1);
      });
      speeds.push_back(std::hypot(u, v));
    }
  }
  return speeds;
}

/// Share of each pixel that streamlines cover, on a lattice finer than pixels: a lattice point is on a line where a
/// neighbour lies between two other levels of psi.
std::vector<double> covered_by_lines(const Pixels& pixels, const Problem& problem, const FlowState& state) {
  const Streamfunction psi = streamfunction(problem, state);
  const double weakest = 10.0 * psi.closure_error();
  std::vector<double> levels;
  std::ranges::copy_if(all_levels, std::back_inserter(levels), [&](double level) { return std::abs(level) > weakest; });
  const std::int64_t rows = fineness * pixels.rows, columns = fineness * pixels.columns;
  const auto x = samples(faces(problem.columns, 1.0), 4, columns, 0.0, 1.0);
  const auto y = samples(faces(problem.rows, problem.height), 4, rows, problem.height, 0.0);
  std::vector<std::uint8_t> levels_below;  // psi, at the lattice's points
  for (const Interpolation& row : y) {
    for (const Interpolation& column : x) {
      const double value = sample(row, column, [&](std::int64_t j, std::int64_t i) { return psi.at(j, i); });
      levels_below.push_back(static_cast<std::uint8_t>(std::ranges::lower_bound(levels, value) - levels.begin()));
    }
  }
  const auto band = [&](std::int64_t row, std::int64_t column) {
    row = std::clamp<std::int64_t>(row, 0, rows - 1);
    return levels_below[static_cast<std::size_t>(row * columns + std::clamp<std::int64_t>(column, 0, columns - 1))];
  };
  std::vector<double> covered(static_cast<std::size_t>(pixels.rows * pixels.columns), 0.0);
  for (std::int64_t j = 0; j < rows; ++j) {
    for (std::int64_t i = 0; i < columns; ++i) {
      const int here = band(j, i);
      if (band(j - 1, i) == here && band(j + 1, i) == here && band(j, i - 1) == here && band(j, i + 1) == here)
        continue;
      covered[static_cast<std::size_t>(j / fineness * pixels.columns + i / fineness)] += 1.0 / (fineness * fineness);
    }
  }
  return covered;
}

}  // namespace

Rgb speed_colour(double speed) {
  constexpr double darker_part = 0.65;
  return sequential_colour(darker_part * std::clamp(speed, 0.0, 1.0));
}

void write_flow_picture(const std::filesystem::path& path, const Problem& problem, const FlowState& state) {
  const Pixels size(problem.height);
  const std::vector<double> speeds = speeds_at(size, problem, state), covered = covered_by_lines(size, problem, state);
  std::vector<Rgb> pixels;
  for (std::size_t k = 0; k < speeds.size(); ++k) {
    const Rgb ground = speed_colour(speeds[k]);
    const auto mixed = [&](double from, double to) {
      return static_cast<std::uint8_t>(std::lround(std::lerp(from, to, covered[k])));
    };
    pixels.push_back({mixed(ground.red, line_colour.red), mixed(ground.green, line_colour.green),
                      mixed(ground.blue, line_colour.blue)});
  }
  const PictureLegend legend{speed_colour, 0.0, "0", "1 lid speed",
                             fmt::format("re {:g}  t = {:.4g}", problem.reynolds, state.time)};
  std::ranges::copy(legend.pixels(size.columns), std::back_inserter(pixels));
  write_png_file(path, size.columns, pixels);
}

namespace {

static_assert(std::endian::native == std::endian::little && std::numeric_limits<double>::is_iec559,
              "checkpoints hold doubles as this machine has them in memory");

constexpr std::string_view schema = "steelyard.cavity_checkpoint/1";
constexpr std::int64_t longest_header = 1 << 16;

/// FNV-1a of 64 bits over words of 8 bytes: the data, the time step, the steps and the time. In 16 hexadecimal digits.
std::string checksum(const FlowState& state, double time_step) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](double value) { hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3U; };
  for (const auto& [name, field] : flow_fields) std::ranges::for_each(state.*field, add);
  std::ranges::for_each(std::array{time_step, static_cast<double>(state.steps), state.time}, add);
  return fmt::format("{:016x}", hash);
}

/// Message about a field's first value that is not finite, or not 0 on the wall that the field has; "" if none.
std::string wrong_value(const FlowState& state, std::string_view name, std::span<const double> values) {
  for (std::int64_t j = 0; j < state.rows; ++j) {
    for (std::int64_t i = 0; i < state.columns; ++i) {
      const double value = values[state.index(j, i)];
      const bool wall = (name.starts_with('u') && i == 0) || (name.starts_with('v') && j == 0);
      if (std::isfinite(value) && (!wall || value == 0.0)) continue;
      return fmt::format("is {} in row {}, column {} (expected {})", value, j, i,
                         wall ? "0 on the wall" : "a finite number");
    }
  }
  return "";
}

/// The file's first line.
nlohmann::ordered_json header_of(const Problem& problem, const FlowState& state) {
  nlohmann::ordered_json header = {{"schema", schema},
                                   {"byte_order", "little"},
                                   {"element", "float64"},
                                   {"rows", problem.rows},
                                   {"columns", problem.columns},
                                   {"height", problem.height},
                                   {"reynolds", problem.reynolds},
                                   {"scheme", problem.scheme == TimeScheme::euler ? "euler" : "crank_nicolson"},
                                   {"time_step", problem.time_step},
                                   {"steps", state.steps},
                                   {"time", state.time},
                                   {"checksum", checksum(state, problem.time_step)},
                                   {"arrays", nlohmann::ordered_json::array()}};
  for (std::size_t k = 0; k < flow_fields.size(); ++k) {
    header["arrays"].push_back({{"name", flow_fields[k].first}, {"offset", k * sizeof(double) * state.u.size()}});
  }
  return header;
}

nlohmann::json read_header(const std::string& path, std::ifstream& file) {
  std::string line(longest_header, '\0');
  file.getline(line.data(), longest_header);
  const auto fail = [&](const std::string& problem) {
    throw FileFormatError(path, "line 1", fmt::format("{} (expected the JSON object of a {})", problem, schema));
  };
  if (file.fail() || file.eof()) fail("has no end");
  line.resize(static_cast<std::size_t>(file.gcount()) - 1);
  nlohmann::json header = nlohmann::json::parse(line, nullptr, false);
  if (!header.is_object()) fail("is something else");
  return header;
}

/// @throws FileFormatError for another cavity than the run's, or data in another order
void require_same_cavity(const JsonReader& header, const nlohmann::json& expected) {
  header.require_schema(std::string(schema));
  for (const char* key : {"byte_order", "element", "rows", "columns", "height", "reynolds", "scheme", "arrays"}) {
    const auto found = header.value().find(key);
    if (found == header.value().end()) header.fail(key, "is missing");
    if (*found != expected[key]) {
      header.fail(key, fmt::format("is {} (expected {})", found->dump(), expected[key].dump()));
    }
  }
}

}  // namespace

std::string Checkpoint::note(const Problem& problem) const {
  if (time_step == problem.time_step) return "";
  const char* effect = problem.scheme == TimeScheme::crank_nicolson
                           ? "; the first step's convecting velocity is extrapolated as if steps were equal"
                           : "";
  return fmt::format("the checkpoint was reached with time steps of {}, this run goes on with {}{}", time_step,
                     problem.time_step, effect);
}

void write_checkpoint(const std::filesystem::path& path, const Problem& problem, const FlowState& state) {
  for (const auto& [name, field] : flow_fields) {
    const std::string wrong = wrong_value(state, name, state.*field);
    if (!wrong.empty()) throw InvalidArgument(fmt::format("{}: {} {}", path.string(), name, wrong));
  }
  NewFile file(path);
  file.write(header_of(problem, state).dump() + "\n");
  for (const auto& [name, field] : flow_fields) {
    file.write({reinterpret_cast<const char*>((state.*field).data()), sizeof(double) * state.u.size()});
  }
  file.finish();
}

Checkpoint read_checkpoint(const std::filesystem::path& path, const Problem& problem) {
  std::ifstream file = open_binary_file(path, "checkpoint");
  const nlohmann::json first_line = read_header(path.string(), file);
  const JsonReader header(path.string(), first_line);
  Checkpoint checkpoint{FlowState::at_rest(problem), 0.0};
  FlowState& state = checkpoint.state;
  require_same_cavity(header, header_of(problem, state));
  checkpoint.time_step = header.number("time_step");
  const double steps = header.number("steps");
  if (!(steps >= 0.0 && steps < 9e15 && steps == std::floor(steps))) {
    header.fail("steps", fmt::format("is {} (expected a whole number >= 0)", steps));
  }
  state.steps = static_cast<std::int64_t>(steps);
  state.time = header.number("time");
  const auto bytes_each = static_cast<std::int64_t>(sizeof(double) * state.u.size());
  const auto data = static_cast<std::int64_t>(file.tellg());
  std::error_code ignored;
  const auto found = static_cast<std::int64_t>(std::filesystem::file_size(path, ignored)) - data;
  const std::int64_t expected = static_cast<std::int64_t>(flow_fields.size()) * bytes_each;
  if (found != expected) {
    throw FileFormatError(path.string(), "data",
                          fmt::format("{} bytes (expected {} for {} x {} cells: {})", found, expected, problem.rows,
                                      problem.columns, found < expected ? "truncated" : "something follows"));
  }
  for (const auto& [name, field] : flow_fields) {
    file.read(reinterpret_cast<char*>((state.*field).data()), bytes_each);
    if (!file) throw FileFormatError(path.string(), name, "cannot be read to its end");
    const std::string wrong = wrong_value(state, name, state.*field);
    if (!wrong.empty()) throw FileFormatError(path.string(), name, wrong);
  }
  const std::string kept = header.text("checksum"), sum = checksum(state, checkpoint.time_step);
  if (kept != sum) {
    header.fail(
        "checksum",
        fmt::format("is \"{}\" (expected \"{}\", that of the data, time_step, steps and time: damaged)", kept, sum));
  }
  return checkpoint;
}

}  // namespace steelyard::cavity
