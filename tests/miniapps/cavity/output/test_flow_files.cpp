#include <sys/stat.h>

#include <catch2/catch_approx.hpp>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
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
using Json = nlohmann::ordered_json;

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

/// Bytes of a checkpoint's fields, in their order there.
std::string bytes_of(const FlowState& state) {
  std::string bytes;
  for (const auto field : {&FlowState::u, &FlowState::v, &FlowState::p, &FlowState::u_before, &FlowState::v_before}) {
    const std::vector<double>& values = state.*field;
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  return bytes;
}

/// What reading a checkpoint says; it must refuse.
std::string refusal(const std::filesystem::path& path, const Problem& problem) {
  try {
    read_checkpoint(path, problem);
  } catch (const FileFormatError& error) {
    CHECK_THAT(error.what(), ContainsSubstring(path.string() + ": "));
    return error.what();
  }
  FAIL("read without complaint");
  return "";
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
       {std::tuple{1, 1, 1.0, 800, 800}, {1000, 1200, 1.0, 800, 800}, {40, 20, 2.0, 800, 400}, {2, 2, 1e-6, 1, 800}}) {
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

TEST_CASE("a checkpoint is read back bit for bit with its time and steps, from where its first line says") {
  const TemporaryFolder folder;
  for (Problem problem : {cavity_of(1, 1), cavity_of(7, 5, 0.1), cavity_of(64, 65, 1.0, 400.0)}) {
    for (const TimeScheme scheme : {TimeScheme::euler, TimeScheme::crank_nicolson}) {
      problem.scheme = scheme;
      problem.time_step = 1.0 / 3.0;
      FlowState state = random_flow(problem, 8);
      state.p.back() = -0.0;
      state.p.front() = std::numeric_limits<double>::denorm_min();
      write_checkpoint(folder / "a", problem, state);
      const Checkpoint back = read_checkpoint(folder / "a", problem);
      CHECK(back.time_step == problem.time_step);
      CHECK(back.state.rows == state.rows);
      CHECK(back.state.columns == state.columns);
      CHECK(back.state.steps == state.steps);
      CHECK(back.state.time == state.time);
      CHECK((bytes_of(back.state) == bytes_of(state)));
      const std::string file = folder.read("a");
      CHECK((file.substr(file.find('\n') + 1) == bytes_of(state)));
      const auto arrays = Json::parse(file.substr(0, file.find('\n'))).at("arrays");
      std::size_t offset = 0;
      for (const char* name : {"u", "v", "p", "u_before", "v_before"}) {
        CHECK(arrays[offset / state.u.size() / 8] == Json{{"name", name}, {"offset", offset}});
        offset += 8 * state.u.size();
      }
    }
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("another cavity or scheme is refused with both values, another time step noted, more correctors allowed") {
  const TemporaryFolder folder;
  Problem problem = cavity_of(8, 6, 0.5, 100.0), scheme = problem;
  write_checkpoint(folder / "a", problem, random_flow(problem, 1));
  scheme.scheme = TimeScheme::crank_nicolson;
  for (const auto& [other, words] : {std::pair{cavity_of(9, 6, 0.5), "rows: is 8 (expected 9)"},
                                     {cavity_of(8, 7, 0.5), "columns: is 6 (expected 7)"},
                                     {cavity_of(6, 8, 0.5), "rows: is 8 (expected 6)"},
                                     {cavity_of(8, 6, 1.0), "height: is 0.5 (expected 1.0)"},
                                     {cavity_of(8, 6, 0.5, 400.0), "reynolds: is 100.0 (expected 400.0)"},
                                     {scheme, "scheme: is "}}) {
    CHECK_THAT(refusal(folder / "a", other), ContainsSubstring(words));
  }
  problem.correctors = 5;
  CHECK(read_checkpoint(folder / "a", problem).note(problem).empty());
  problem.time_step = 0.002;
  const std::string note = read_checkpoint(folder / "a", problem).note(problem);
  CHECK_THAT(note, ContainsSubstring("time steps of 0.01") && ContainsSubstring("goes on with 0.002"));
}

TEST_CASE("checkpoints that are cut off, longer, damaged or of another kind are refused by place") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(3, 2);
  write_checkpoint(folder / "whole", problem, random_flow(problem, 2));
  const std::string whole = folder.read("whole");
  const std::size_t begin = whole.find('\n') + 1;
  const auto expect = [&](const std::string& bytes, const std::string& words) {
    CHECK_THAT(refusal(folder.write("a", bytes), problem), ContainsSubstring(words));
  };
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect(whole.substr(0, size), size < begin ? "line 1: has no end" : "truncated");
  }
  for (std::size_t at = begin; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      expect(damaged, "");
    }
  }
  expect(whole + "x", "241 bytes (expected 240");
  for (const char* other : {"\x93NUMPY\x01\n", "\n", "[1, 2]\n"}) expect(other, "line 1: is something else");
  expect("{}\n", "schema: is missing");
  expect("{\"schema\": \"steelyard.run/1\"}\n", "steelyard.run/1");
  expect(std::string(1 << 20, 'x'), "line 1: has no end");
  const Json header = Json::parse(whole.substr(0, begin));
  const auto expect_of_header = [&](const Json& changed, const std::string& words) {
    expect(changed.dump() + "\n" + whole.substr(begin), words);
  };
  for (const auto& [key, value] : header.items()) {
    Json changed = header;
    changed.erase(key);
    expect_of_header(changed, key + ": is missing");
    changed[key] = nullptr;
    expect_of_header(changed, key + ": is null");
  }
  for (const auto& [pointer, value, words] :
       {std::tuple<const char*, Json, const char*>{"/byte_order", "big", "byte_order: is"},
        {"/element", "float32", "element: is"},
        {"/steps", -1, "steps: is -1"},
        {"/steps", 1.5, "steps: is 1.5"},
        {"/rows", 1e300, "rows: is"},
        {"/arrays/1/name", "w", "arrays: is"},
        {"/arrays/2/offset", 8, "arrays: is"},
        {"/arrays", Json::array(), "arrays: is []"},
        {"/checksum", "0", "checksum: is"},
        {"/time", -1.0, "damaged"},
        {"/steps", 12345, "damaged"},
        {"/time_step", 0.3, "damaged"}}) {
    Json changed = header;
    changed[Json::json_pointer(pointer)] = value;
    expect_of_header(changed, words);
  }
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const char* name : {"none", "", "pipe"}) refusal(folder / name, problem);
}

TEST_CASE("values that are no flow's are not written to a checkpoint, and refused with their place") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(3, 2);
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [field, cell, value, words] :
       {std::tuple{&FlowState::p, 3U, nan, "is nan in row 1, column 1"},
        {&FlowState::u, 5U, -infinity, "is -inf in row 2, column 1"},
        {&FlowState::u, 4U, 0.5, "is 0.5 in row 2, column 0 (expected 0 on the wall)"},
        {&FlowState::v_before, 1U, 0.5, "is 0.5 in row 0, column 1 (expected 0 on the wall)"}}) {
    FlowState wrong = random_flow(problem, 2);
    (wrong.*field)[cell] = value;
    CHECK_THROWS_MATCHES(write_checkpoint(folder / "a", problem, wrong), InvalidArgument,
                         MessageMatches(ContainsSubstring(words)));
    CHECK(folder.entries() == 0);
  }
}

TEST_CASE("files on a disk without room are told with file and reason, and a file that was there stays as it was") {
  const TemporaryFolder folder;
  const Problem problem = cavity_of(50, 50);
  const FlowState state = random_flow(problem, 2);
  for (const auto write : {write_centre_lines, write_flow_picture, write_flow_vti, write_checkpoint}) {
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
