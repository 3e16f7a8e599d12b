#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/plot/colour_map.hpp"
#include "core/base/plot/png_file.hpp"
#include "tests/base/full_disk.hpp"
#include "tests/base/read_png.hpp"
#include "tests/base/rgb_text.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::test_png_file {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using tests::failure_on_full_disk;
using tests::Picture;
using tests::read_png;
using tests::TemporaryFolder;

namespace {

std::vector<Rgb> random_pixels(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Rgb> pixels(static_cast<std::size_t>(count));
  for (Rgb& pixel : pixels) {
    const auto bits = random();
    pixel = {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8),
             static_cast<std::uint8_t>(bits >> 16)};
  }
  return pixels;
}

void write_png(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
               std::span<const Rgb> pixels) {
  PngFile file(path, rows, columns);
  file.write_rows(pixels);
  file.finish();
}

}  // namespace

TEST_CASE("pictures of any shape are read back pixel by pixel") {
  const TemporaryFolder folder;
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1},
                                                                                        {1, 2},
                                                                                        {2, 1},
                                                                                        {3, 5},
                                                                                        {17, 16},
                                                                                        {64, 64},
                                                                                        {1, 100000},
                                                                                        {100000, 1},
                                                                                        {2, 1500000},
                                                                                        {1100000, 1},
                                                                                        {333, 1001}}) {
    INFO(rows << " x " << columns);
    const auto pixels = random_pixels(rows * columns, 7);
    write_png(folder / "a.png", rows, columns, pixels);
    const Picture back = read_png(folder / "a.png");
    REQUIRE(back.rows == rows);
    REQUIRE(back.columns == columns);
    REQUIRE(back.bits == 8);
    REQUIRE(back.colour_type == PNG_COLOR_TYPE_RGB);
    REQUIRE(back.srgb);
    const bool same = back.pixels == pixels;  // no message of millions of pixels
    REQUIRE(same);
    REQUIRE(folder.entries() == 1);
  }
}

TEST_CASE("the first row is at the top and red is the first channel") {
  const TemporaryFolder folder;
  const std::vector<Rgb> pixels = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {1, 2, 3}};
  write_png(folder / "a.png", 2, 2, pixels);
  CHECK(read_png(folder / "a.png").pixels == pixels);
}

TEST_CASE("rows handed over in any portions make the same file") {
  const TemporaryFolder folder;
  constexpr std::int64_t rows = 101, columns = 37;
  const auto pixels = random_pixels(rows * columns, 3);
  write_png(folder / "whole.png", rows, columns, pixels);
  std::mt19937 random(4);
  for (int round = 0; round < 5; ++round) {
    PngFile file(folder / "parts.png", rows, columns);
    for (std::int64_t first = 0; first < rows;) {
      const auto count = std::min<std::int64_t>(rows - first, std::uniform_int_distribution<int>(0, 8)(random));
      file.write_rows(std::span(pixels).subspan(static_cast<std::size_t>(first * columns),
                                                static_cast<std::size_t>(count * columns)));
      first += count;
    }
    file.write_rows({});
    file.finish();
    REQUIRE(folder.read("parts.png") == folder.read("whole.png"));
  }
}

TEST_CASE("a field in colours takes less than half of its bytes") {
  const TemporaryFolder folder;
  constexpr std::int64_t rows = 300, columns = 400;
  std::vector<Rgb> pixels;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      pixels.push_back(diverging_colour(std::sin(0.03 * double(i)) * std::cos(0.02 * double(j))));
    }
  }
  write_png(folder / "a.png", rows, columns, pixels);
  CHECK(read_png(folder / "a.png").pixels == pixels);
  CHECK(std::filesystem::file_size(folder / "a.png") < pixels.size() * sizeof(Rgb) / 2);
}

TEST_CASE("a picture has its name only when it is finished, and the file before it stays until then") {
  const TemporaryFolder folder;
  folder.write("a.png", "before");
  {
    PngFile left(folder / "a.png", 2, 2);
    left.write_rows(random_pixels(2, 1));
  }
  CHECK(folder.entries() == 1);
  CHECK(folder.read("a.png") == "before");
  PngFile file(folder / "a.png", 2, 2);
  file.write_rows(random_pixels(4, 1));
  CHECK(folder.read("a.png") == "before");
  file.finish();
  CHECK(read_png(folder / "a.png").pixels == random_pixels(4, 1));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a picture without all of its rows cannot be finished and leaves nothing") {
  const TemporaryFolder folder;
  {
    PngFile file(folder / "a.png", 3, 2);
    CHECK_THROWS_AS(file.finish(), InvalidArgument);
    file.write_rows(random_pixels(4, 1));
    CHECK_THROWS_MATCHES(file.finish(), InvalidArgument,
                         MessageMatches(ContainsSubstring((folder / "a.png").string()) &&
                                        ContainsSubstring("after 2 rows (expected 3)")));
  }
  CHECK(folder.entries() == 0);
}

TEST_CASE("rows that are not whole or too many are refused, and the picture goes on without them") {
  const TemporaryFolder folder;
  const auto pixels = random_pixels(6, 1);
  PngFile file(folder / "a.png", 3, 2);
  CHECK_THROWS_MATCHES(
      file.write_rows(std::span(pixels).first(3)), InvalidArgument,
      MessageMatches(ContainsSubstring("a.png: 3 pixels behind 0 rows") && ContainsSubstring("3 x 2")));
  file.write_rows(std::span(pixels).first(4));
  CHECK_THROWS_AS(file.write_rows(pixels), InvalidArgument);
  file.write_rows(std::span(pixels).last(2));
  CHECK_THROWS_AS(file.write_rows(std::span(pixels).last(2)), InvalidArgument);
  file.finish();
  CHECK_THROWS_AS(file.write_rows(std::span(pixels).last(2)), InvalidArgument);
  CHECK(read_png(folder / "a.png").pixels == pixels);
}

TEST_CASE("sizes that PNG does not have are refused with their values before anything is made") {
  const TemporaryFolder folder;
  constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 1}, {1, 0}, {-1, 5}, {5, -1}, {longest + 1, 1}, {1, longest + 1}}) {
    CHECK_THROWS_MATCHES(PngFile(folder / "a.png", rows, columns), InvalidArgument,
                         MessageMatches(ContainsSubstring((folder / "a.png").string()) &&
                                        ContainsSubstring(std::to_string(rows) + " x " + std::to_string(columns))));
  }
  CHECK(folder.entries() == 0);
}

TEST_CASE("pictures too large for the memory are written row by row") {
  const TemporaryFolder folder;
  const PngFile file(folder / "a.png", std::numeric_limits<std::int32_t>::max(), 1000);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a picture that cannot be made is refused with its name and leaves nothing") {
  const TemporaryFolder folder;
  folder.write("file", "text");
  CHECK_THROWS_MATCHES(PngFile(folder.path() / "file" / "a.png", 2, 2), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "file").string())));
  std::filesystem::create_directories(folder.path() / "taken" / "inner");
  CHECK_THROWS_MATCHES(write_png(folder / "taken", 2, 2, random_pixels(4, 1)), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "taken").string() + ": cannot be written")));
  CHECK(folder.entries() == 3);
}

TEST_CASE("a picture on a disk without room is told with file and reason, and nothing is left") {
  const TemporaryFolder folder;
  for (const std::int64_t rows : {1, 40, 1000}) {
    const auto pixels = random_pixels(rows * 100, 5);
    const std::string failure =
        failure_on_full_disk<RuntimeFailure>(200, [&] { write_png(folder / "a.png", rows, 100, pixels); });
    CHECK_THAT(failure, ContainsSubstring((folder / "a.png").string() + ": cannot be written: File too large"));
    CHECK(folder.entries() == 0);
  }
}

}  // namespace steelyard::test_png_file
