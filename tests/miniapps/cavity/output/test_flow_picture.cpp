#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/plot/colour_map.hpp"
#include "miniapps/cavity/output/flow_files.hpp"
#include "tests/base/full_disk.hpp"
#include "tests/base/read_png.hpp"
#include "tests/base/rgb_text.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/miniapps/cavity/output/known_flow.hpp"

namespace steelyard::test_flow_picture {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::cavity;
using steelyard::cavity::tests::cavity_of;
using steelyard::cavity::tests::flow_of;
using steelyard::tests::failure_on_full_disk;
using steelyard::tests::Picture;
using steelyard::tests::read_png;
using steelyard::tests::TemporaryFolder;

namespace {

constexpr double pi = 3.14159265358979323846;

Picture picture_of(const Problem& problem, const FlowState& state) {
  const TemporaryFolder folder;
  write_flow_picture(folder / "a.png", problem, state);
  CHECK(folder.entries() == 1);
  return read_png(folder / "a.png");
}

Rgb pixel(const Picture& picture, std::int64_t row, std::int64_t column) {
  return picture.pixels[static_cast<std::size_t>(row * picture.columns + column)];
}

/// Largest difference of a channel.
int distance(const Rgb& a, const Rgb& b) {
  return std::max({std::abs(a.red - b.red), std::abs(a.green - b.green), std::abs(a.blue - b.blue)});
}

/// -scale sin^2 sin^2: 0 on the walls with its slope, -scale in the middle.
double round_vortex(double scale, double x, double y) {
  return -scale * std::pow(std::sin(pi * x) * std::sin(pi * y), 2.0);
}
double speed(double scale, double x, double y) {
  const double u = -scale * pi * std::pow(std::sin(pi * x), 2.0) * std::sin(2.0 * pi * y);
  const double v = scale * pi * std::pow(std::sin(pi * y), 2.0) * std::sin(2.0 * pi * x);
  return std::hypot(u, v);
}

}  // namespace

TEST_CASE("a picture is 800 pixels along its longer side for any grid and height, and its legend is below") {
  for (const auto& [rows, columns, height, high, wide] :
       std::vector<std::tuple<std::int64_t, std::int64_t, double, std::int64_t, std::int64_t>>{
           {1, 1, 1.0, 800, 800},
           {5, 3, 1.0, 800, 800},
           {1000, 1200, 1.0, 800, 800},
           {40, 20, 2.0, 800, 400},
           {20, 40, 0.25, 200, 800},
           {2, 2, 1e-6, 1, 800}}) {
    const Problem problem = cavity_of(rows, columns, height);
    const Picture picture = picture_of(problem, FlowState::at_rest(problem));
    CHECK(picture.rows == high + PictureLegend::rows);
    CHECK(picture.columns == wide);
  }
}

TEST_CASE("at rest all is dark but for the lid, which is at the top") {
  const Problem problem = cavity_of(10, 10);
  const Picture picture = picture_of(problem, FlowState::at_rest(problem));
  CHECK(pixel(picture, 799, 400) == speed_colour(0.0));
  CHECK(pixel(picture, 400, 400) == speed_colour(0.0));
  CHECK(pixel(picture, 41, 400) == speed_colour(0.0));
  // Half a pixel below the lid; the upper row's centres are 40 pixels below it.
  CHECK(distance(pixel(picture, 0, 400), speed_colour(1.0 - 0.5 / 40.0)) <= 1);
  CHECK(distance(pixel(picture, 20, 400), speed_colour(1.0 - 20.5 / 40.0)) <= 1);
}

TEST_CASE("colours are those of the speed, lines are where the streamfunction has Ghia's values") {
  constexpr double scale = 0.105;
  const Problem problem = cavity_of(200, 160);
  const auto psi = [](double x, double y) { return round_vortex(scale, x, y); };
  const Picture picture = picture_of(problem, flow_of(problem, psi));
  // Along the horizontal line through the middle, psi = -scale sin^2(pi x).
  const auto y = 1.0 - 400.5 / 800.0;
  int lines = 0;
  for (const double level : {-0.1, -0.09, -0.07, -0.05, -0.03, -0.01}) {
    const double x = std::asin(std::sqrt(-level / scale)) / pi;
    for (const double at : {x, 1.0 - x}) {
      // A line is two thirds of a pixel wide and may be shared by neighbours.
      const auto column = static_cast<std::int64_t>(800.0 * at);
      double covered = 0.0;
      for (std::int64_t c = column - 1; c <= column + 1; ++c) {
        const double here = speed(scale, (static_cast<double>(c) + 0.5) / 800.0, y);
        covered += static_cast<double>(distance(pixel(picture, 400, c), speed_colour(here))) /
                   static_cast<double>(distance(line_colour, speed_colour(here)));
      }
      INFO("level " << level << ", column " << column);
      CHECK(covered > 0.6);
      CHECK(covered < 0.75);
      ++lines;
    }
  }
  CHECK(lines == 12);
  int grounds = 0;
  const std::vector<double> levels = {-0.1, -0.09, -0.07, -0.05, -0.03, -0.01, -1e-4};
  for (std::int64_t c = 8; c < 792; ++c) {
    const double x = (static_cast<double>(c) + 0.5) / 800.0;
    const double here = psi(x, y);
    const double slope = std::abs(scale * pi * std::sin(2.0 * pi * x)) + 1e-3;
    const bool near_line = std::any_of(levels.begin(), levels.end(),
                                       [&](double level) { return std::abs(here - level) < 3.0 / 800.0 * slope; });
    if (near_line) continue;
    INFO("column " << c);
    CHECK(distance(pixel(picture, 400, c), speed_colour(speed(scale, x, y))) <= 2);
    ++grounds;
  }
  CHECK(grounds > 600);
}

TEST_CASE("lines are seen on every ground, be it as fast as the lid") {
  for (double speed = 0.0; speed <= 1.0; speed += 0.01) CHECK(distance(line_colour, speed_colour(speed)) > 80);
}

TEST_CASE("weak vortices in corners have lines of their own, but not below what continuity leaves open") {
  const Problem problem = cavity_of(100, 100);
  const auto psi = [](double x, double y) {
    // A vortex of 2e-6 that turns the other way in the lower right tenth.
    const double weak =
        x > 0.9 && y < 0.1 ? 2e-6 * std::pow(std::sin(10.0 * pi * x) * std::sin(10.0 * pi * y), 2.0) : 0.0;
    return weak;
  };
  FlowState state = flow_of(problem, psi);
  const auto marked = [&] {
    const Picture picture = picture_of(problem, state);
    int count = 0;
    for (std::int64_t r = 722; r < 798; ++r) {
      for (std::int64_t c = 722; c < 798; ++c) count += distance(pixel(picture, r, c), speed_colour(0.0)) > 60 ? 1 : 0;
    }
    return count;
  };
  // Levels 1e-8, 1e-7 and 1e-6: closed curves of about 280, 250 and 125 pixels.
  CHECK(marked() > 300);
  state.u[state.index(50, 50)] += 1e-3;  // 1e-5 flow through the lid
  CHECK(marked() == 0);
}

TEST_CASE("a picture on a disk without room is told with its file, and nothing is left") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(10, 10);
  const std::string failure = failure_on_full_disk<RuntimeFailure>(
      200, [&] { write_flow_picture(folder / "a.png", problem, FlowState::at_rest(problem)); });
  CHECK_THAT(failure, ContainsSubstring((folder / "a.png").string() + ": cannot be written"));
  CHECK(folder.entries() == 0);
}

}  // namespace steelyard::test_flow_picture
