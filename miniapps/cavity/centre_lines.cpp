#include "miniapps/cavity/centre_lines.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string>

#include "core/base/text_file.hpp"
#include "miniapps/cavity/flow_check.hpp"
#include "miniapps/cavity/ghia.hpp"

namespace steelyard::cavity {

std::vector<double> centres_and_walls(std::int64_t cells, double length) {
  std::vector<double> points = {0.0};
  const auto count = static_cast<double>(cells);
  for (std::int64_t k = 0; k < cells; ++k) points.push_back((static_cast<double>(k) + 0.5) / count * length);
  points.push_back(length);
  return points;
}

std::vector<double> faces(std::int64_t cells, double length) {
  std::vector<double> points;
  const auto count = static_cast<double>(cells);
  for (std::int64_t k = 0; k <= cells; ++k) points.push_back(static_cast<double>(k) / count * length);
  return points;
}

Profile u_on_vertical_centre_line(const Problem& problem, const FlowState& state) {
  require_flow_of(problem, state);
  const Interpolation middle = interpolation(faces(problem.columns, 1.0), 0.5, 4);
  Profile profile{centres_and_walls(problem.rows, problem.height), {0.0}};
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    profile.values.push_back(middle.of([&](std::size_t i) { return state.u_at(j, static_cast<std::int64_t>(i)); }));
  }
  profile.values.push_back(1.0);
  return profile;
}

Profile v_on_horizontal_centre_line(const Problem& problem, const FlowState& state) {
  require_flow_of(problem, state);
  const Interpolation middle = interpolation(faces(problem.rows, problem.height), 0.5 * problem.height, 4);
  Profile profile{centres_and_walls(problem.columns, 1.0), {0.0}};
  for (std::int64_t i = 0; i < problem.columns; ++i) {
    profile.values.push_back(middle.of([&](std::size_t j) { return state.v_at(static_cast<std::int64_t>(j), i); }));
  }
  profile.values.push_back(0.0);
  return profile;
}

void write_centre_lines(const std::filesystem::path& path, const Problem& problem, const FlowState& state) {
  std::string text = "profile,coordinate,value,ghia,difference\n";
  const auto add = [&](const char* name, const Profile& profile) {
    for (std::size_t k = 0; k < profile.values.size(); ++k) {
      fmt::format_to(std::back_inserter(text), "{},{},{},,\n", name, profile.coordinates[k], profile.values[k]);
    }
  };
  add("u", u_on_vertical_centre_line(problem, state));
  add("v", v_on_horizontal_centre_line(problem, state));
  for (const GhiaComparison& point : ghia_comparison(problem, state)) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", point.profile, point.coordinate, point.value,
                   point.ghia, point.difference());
  }
  write_text_file(path, text);
}

}  // namespace steelyard::cavity
