#include <catch2/catch_approx.hpp>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "core/base/plot/picture.hpp"
#include "miniapps/cavity/output/flow_analysis.hpp"
#include "miniapps/cavity/output/flow_files.hpp"
#include "tests/base/full_disk.hpp"
#include "tests/base/read_png.hpp"
#include "tests/base/rgb_text.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/base/vti_parts.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/cavity/known_flow.hpp"

namespace steelyard::test_flow_files {

using Catch::Approx;
using namespace steelyard::cavity;
using namespace steelyard::cavity::tests;
using namespace steelyard::tests;

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
    CHECK(numbers(parts.attributes.at("ImageData.WholeExtent")) ==
          std::vector{0.0, columns - 1.0, 0.0, rows - 1.0, 0.0, 0.0});
    CHECK(numbers(parts.attributes.at("ImageData.Spacing")) == std::vector{problem.dx(), problem.dy(), 1.0});
    CHECK(numbers(parts.attributes.at("ImageData.Origin")) == std::vector{0.5 * problem.dx(), 0.5 * problem.dy(), 0.0});
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

TEST_CASE(
    "a picture is 800 pixels along its longer side for any grid and height, dark at rest but for the lid at the top") {
  for (const auto& [rows, columns, height, high, wide] :
       {std::tuple{1, 1, 1.0, 800, 800}, {810, 972, 1.0, 800, 800}, {40, 20, 2.0, 800, 400}, {2, 2, 1e-6, 1, 800}}) {
    const Problem problem = cavity_of(rows, columns, height);
    const Picture picture = picture_of(problem, FlowState::at_rest(problem));
    CHECK(picture.rows == high + PictureLegend::rows);
    CHECK(picture.columns == wide);
  }
  const Problem problem = cavity_of(10, 10);
  const Picture picture = picture_of(problem, FlowState::at_rest(problem));
  for (const std::int64_t row : {799, 400, 41}) CHECK(pixel(picture, row, 400) == speed_colour(0.0));
  // From the lid to the upper row's centres, 40 pixels below it.
  for (const std::int64_t row : {0, 20}) {
    const double speed = 1.0 - (static_cast<double>(row) + 0.5) / 40.0;
    CHECK(distance(pixel(picture, row, 400), speed_colour(speed)) <= 1);
  }
  for (double speed = 0.0; speed <= 1.0; speed += 0.01) CHECK(distance(line_colour, speed_colour(speed)) > 80);
}

TEST_CASE("colours are those of the speed, lines are where the streamfunction has Ghia's values") {
  constexpr double scale = 0.105, pixel_size = 1.0 / 800.0;
  const Problem problem = cavity_of(200, 160);
  const auto psi = [](double x, double y) { return -scale * std::pow(std::sin(pi * x) * std::sin(pi * y), 2.0); };
  const Picture picture = picture_of(problem, flow_of(problem, psi));
  // Along a horizontal line beside the middle.
  const double y = 1.0 - 400.5 * pixel_size;
  const auto speed = [&](double x) {
    const double u = -scale * pi * std::pow(std::sin(pi * x), 2.0) * std::sin(2.0 * pi * y);
    const double v = scale * pi * std::pow(std::sin(pi * y), 2.0) * std::sin(2.0 * pi * x);
    return std::hypot(u, v);
  };
  const auto crosses_line = [&](double from, double to) {
    const double levels[] = {-0.1, -0.09, -0.07, -0.05, -0.03, -0.01};
    return std::ranges::any_of(levels, [&](double level) { return (psi(from, y) < level) != (psi(to, y) < level); });
  };
  int lines = 0;
  for (std::int64_t column = 20; column < 780; ++column) {
    CAPTURE(column);
    const double left = static_cast<double>(column) * pixel_size, right = left + pixel_size;
    const Rgb ground = speed_colour(speed(0.5 * (left + right)));
    const int off = distance(pixel(picture, 400, column), ground);
    if (crosses_line(left, right)) {
      // A line is two thirds of a pixel wide and may be shared by neighbours.
      ++lines;
      CHECK(4 * off > distance(line_colour, ground));
    } else if (!crosses_line(left - pixel_size, right + pixel_size)) {
      CHECK(off <= 2);
    }
  }
  CHECK(lines == 12);
}

TEST_CASE("files on a disk without room are told with file and reason, and a file that was there stays as it was") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(50, 50);
  const FlowState state = random_flow(problem, 2);
  for (const auto write : {write_centre_lines, write_flow_picture, write_flow_vti}) {
    for (const int files : {0, 1}) {
      if (files > 0) folder.write("a", "an older file");
      const std::string failure =
          failure_on_full_disk<RuntimeFailure>(200, [&] { write(folder / "a", problem, state); });
      CHECK_THAT(failure, ContainsSubstring((folder / "a").string() + ": cannot be written"));
      CHECK(folder.entries() == files);
      if (files > 0) CHECK(folder.read("a") == "an older file");
    }
    std::filesystem::remove(folder / "a");
  }
}

}  // namespace steelyard::test_flow_files
