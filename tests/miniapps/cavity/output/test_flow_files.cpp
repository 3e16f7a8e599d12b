#include <catch2/catch_approx.hpp>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "core/base/plot/colour_map.hpp"
#include "miniapps/cavity/output/flow_analysis.hpp"
#include "miniapps/cavity/output/flow_files.hpp"
#include "tests/base/full_disk.hpp"
#include "tests/base/read_png.hpp"
#include "tests/base/rgb_text.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/base/vti_parts.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/cavity/output/known_flow.hpp"

namespace steelyard::test_flow_files {

using Catch::Approx;
using namespace steelyard::cavity;
using steelyard::cavity::tests::cavity_of;
using steelyard::cavity::tests::flow_of;
using steelyard::cavity::tests::random_flow;
using steelyard::tests::failure_on_full_disk;
using steelyard::tests::numbers;
using steelyard::tests::parse_vti;
using steelyard::tests::Picture;
using steelyard::tests::read_png;
using steelyard::tests::TemporaryFolder;
using steelyard::tests::VtiParts;

namespace {

constexpr double pi = 3.14159265358979323846;

std::vector<double> doubles(const std::string& bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

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

}  // namespace

TEST_CASE("image data has the means of velocity and streamfunction at each cell's centre, and the pressure") {
  const TemporaryFolder folder;
  for (const auto& [rows, columns, height] : {std::tuple{6, 4, 3.0}, {9, 7, 1.5}, {1, 1, 1.0}}) {
    const Problem problem = cavity_of(rows, columns, height);
    const FlowState state = random_flow(problem, 3);
    write_flow_vti(folder / "a.vti", problem, state);
    const VtiParts parts = parse_vti(folder.read("a.vti"));
    CHECK(parts.attributes.at("ImageData.WholeExtent") ==
          "0 " + std::to_string(columns - 1) + " 0 " + std::to_string(rows - 1) + " 0 0");
    CHECK(numbers(parts.attributes.at("ImageData.Spacing")) == std::vector{problem.dx(), problem.dy(), 1.0});
    CHECK(numbers(parts.attributes.at("ImageData.Origin")) == std::vector{0.5 * problem.dx(), 0.5 * problem.dy(), 0.0});
    CHECK(parts.attributes.at("PointData.Vectors") == "velocity");
    CHECK(parts.attributes.at("PointData.Scalars") == "pressure");
    REQUIRE(parts.arrays.size() == 3);
    for (const auto& [index, name] : {std::pair{0U, "velocity"}, {1U, "pressure"}, {2U, "streamfunction"}}) {
      CHECK(parts.arrays[index].attributes.at("Name") == name);
    }
    const std::vector<double> velocity = doubles(parts.arrays[0].data), at_centres = doubles(parts.arrays[2].data);
    CHECK(doubles(parts.arrays[1].data) == state.p);
    REQUIRE(velocity.size() == 3 * state.p.size());
    REQUIRE(at_centres.size() == state.p.size());
    const Streamfunction psi = streamfunction(problem, state);
    for (std::int64_t j = 0; j < rows; ++j) {
      for (std::int64_t i = 0; i < columns; ++i) {
        const std::size_t at = state.index(j, i);
        CHECK(velocity[3 * at] == Approx(0.5 * (state.u_at(j, i) + state.u_at(j, i + 1))));
        CHECK(velocity[3 * at + 1] == Approx(0.5 * (state.v_at(j, i) + state.v_at(j + 1, i))));
        CHECK(velocity[3 * at + 2] == 0.0);
        const double corners = psi.at(j, i) + psi.at(j, i + 1) + psi.at(j + 1, i) + psi.at(j + 1, i + 1);
        CHECK(at_centres[at] == Approx(0.25 * corners).margin(1e-15));
      }
    }
  }
}

TEST_CASE("a picture is 800 pixels along its longer side for any grid and height, and its legend is below") {
  for (const auto& [rows, columns, height, high, wide] :
       std::vector<std::tuple<std::int64_t, std::int64_t, double, std::int64_t, std::int64_t>>{
           {1, 1, 1.0, 800, 800},
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

TEST_CASE("at rest all is dark but for the lid, which is at the top, and white lines are seen on every ground") {
  const Problem problem = cavity_of(10, 10);
  const Picture picture = picture_of(problem, FlowState::at_rest(problem));
  for (const std::int64_t row : {799, 400, 41}) CHECK(pixel(picture, row, 400) == speed_colour(0.0));
  // Half a pixel below the lid; the upper row's centres are 40 pixels below it.
  CHECK(distance(pixel(picture, 0, 400), speed_colour(1.0 - 0.5 / 40.0)) <= 1);
  CHECK(distance(pixel(picture, 20, 400), speed_colour(1.0 - 20.5 / 40.0)) <= 1);
  for (double speed = 0.0; speed <= 1.0; speed += 0.01) CHECK(distance(line_colour, speed_colour(speed)) > 80);
}

TEST_CASE("colours are those of the speed, lines are where the streamfunction has Ghia's values") {
  constexpr double scale = 0.105;
  const Problem problem = cavity_of(200, 160);
  const auto psi = [](double x, double y) { return -scale * std::pow(std::sin(pi * x) * std::sin(pi * y), 2.0); };
  const Picture picture = picture_of(problem, flow_of(problem, psi));
  const double y = 1.0 - 400.5 / 800.0;
  const auto speed = [&](double x) {
    const double u = -scale * pi * std::pow(std::sin(pi * x), 2.0) * std::sin(2.0 * pi * y);
    const double v = scale * pi * std::pow(std::sin(pi * y), 2.0) * std::sin(2.0 * pi * x);
    return std::hypot(u, v);
  };
  const auto ground = [&](std::int64_t column) {
    return speed_colour(speed((static_cast<double>(column) + 0.5) / 800.0));
  };
  const std::vector<double> levels = {-0.1, -0.09, -0.07, -0.05, -0.03, -0.01, -1e-4};
  // Along the horizontal line through the middle, psi = -scale sin^2(pi x).
  for (const double level : levels) {
    if (level == -1e-4) continue;
    const double x = std::asin(std::sqrt(-level / scale)) / pi;
    for (const double at : {x, 1.0 - x}) {
      // A line is two thirds of a pixel wide and may be shared by neighbours.
      const auto column = static_cast<std::int64_t>(800.0 * at);
      double covered = 0.0;
      for (std::int64_t c = column - 1; c <= column + 1; ++c) {
        covered += static_cast<double>(distance(pixel(picture, 400, c), ground(c))) /
                   static_cast<double>(distance(line_colour, ground(c)));
      }
      INFO("level " << level << ", column " << column);
      CHECK(covered > 0.6);
      CHECK(covered < 0.75);
    }
  }
  int grounds = 0;
  for (std::int64_t c = 8; c < 792; ++c) {
    const double x = (static_cast<double>(c) + 0.5) / 800.0;
    const double slope = std::abs(scale * pi * std::sin(2.0 * pi * x)) + 1e-3;
    const bool near_line = std::any_of(levels.begin(), levels.end(),
                                       [&](double level) { return std::abs(psi(x, y) - level) < 3.0 / 800.0 * slope; });
    if (near_line) continue;
    INFO("column " << c);
    CHECK(distance(pixel(picture, 400, c), ground(c)) <= 2);
    ++grounds;
  }
  CHECK(grounds > 600);
}

TEST_CASE("weak vortices in corners have lines of their own, but not below what continuity leaves open") {
  const Problem problem = cavity_of(100, 100);
  // A vortex of 2e-6 that turns the other way in the lower right tenth.
  FlowState state = flow_of(problem, [](double x, double y) {
    return x > 0.9 && y < 0.1 ? 2e-6 * std::pow(std::sin(10.0 * pi * x) * std::sin(10.0 * pi * y), 2.0) : 0.0;
  });
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

TEST_CASE("files on a disk without room are told with file and reason, and a file that was there stays as it was") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(50, 50);
  const FlowState state = random_flow(problem, 2);
  for (const auto write : {write_centre_lines, write_flow_picture, write_flow_vti, write_checkpoint}) {
    for (const std::string& before : {std::string(), std::string("an older file")}) {
      if (!before.empty()) folder.write("a", before);
      const std::string failure =
          failure_on_full_disk<RuntimeFailure>(200, [&] { write(folder / "a", problem, state); });
      CHECK_THAT(failure, ContainsSubstring((folder / "a").string() + ": cannot be written"));
      CHECK(folder.entries() == (before.empty() ? 0 : 1));
      if (!before.empty()) CHECK(folder.read("a") == before);
    }
    std::filesystem::remove(folder / "a");
  }
}

}  // namespace steelyard::test_flow_files
