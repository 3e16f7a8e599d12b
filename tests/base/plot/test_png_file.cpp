#include "core/base/plot/colour_map.hpp"
#include "core/base/plot/png_file.hpp"
#include "tests/base/read_png.hpp"
#include "tests/base/rgb_text.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_png_file {

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

}  // namespace

TEST_CASE("pictures of any shape are read back pixel by pixel") {
  const TemporaryFolder folder;
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {1, 2}, {2, 1}, {3, 5}, {17, 16}, {1, 100000}, {100000, 1}, {333, 1001}}) {
    INFO(rows << " x " << columns);
    const auto pixels = random_pixels(rows * columns, 7);
    write_png_file(folder / "a.png", columns, pixels);
    const Picture back = read_png(folder / "a.png");
    REQUIRE(back.rows == rows);
    REQUIRE(back.columns == columns);
    const bool same = back.pixels == pixels;  // no message of millions of pixels
    REQUIRE(same);
    REQUIRE(folder.entries() == 1);
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
  write_png_file(folder / "a.png", columns, pixels);
  CHECK(std::filesystem::file_size(folder / "a.png") < pixels.size() * sizeof(Rgb) / 2);
}

TEST_CASE("pixels that are no whole rows are refused with their number before anything is made") {
  const TemporaryFolder folder;
  for (const auto& [count, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 1}, {5, 2}, {5, 6}, {5, 0}, {5, -5}}) {
    CHECK_THROWS_MATCHES(write_png_file(folder / "a.png", columns, random_pixels(count, 1)), InvalidArgument,
                         MessageMatches(ContainsSubstring((folder / "a.png").string()) &&
                                        ContainsSubstring(std::to_string(count) + " pixels")));
  }
  CHECK(folder.entries() == 0);
}

namespace {

PictureLegend legend(const std::string& caption) { return {diverging_colour, -1.0, "-2.5", "2.5", caption}; }

bool has(const std::vector<Rgb>& pixels, const Rgb& colour) {
  return std::find(pixels.begin(), pixels.end(), colour) != pixels.end();
}

}  // namespace

TEST_CASE("a legend is as wide as its picture and has the colours of both ends and the middle") {
  for (const std::int64_t columns : {PictureLegend::least_columns, std::int64_t{801}}) {
    const std::vector<Rgb> pixels = legend("step 7").pixels(columns);
    CHECK(std::ssize(pixels) == columns * PictureLegend::rows);
    for (const double value : {-1.0, 1.0}) CHECK(has(pixels, diverging_colour(value)));
  }
}

TEST_CASE("legends differ where their captions do, are cut where there is no room, and missing on narrow pictures") {
  CHECK(legend("step 7").pixels(400) == legend("step 7").pixels(400));
  CHECK(legend("step 7").pixels(400) != legend("step 8").pixels(400));
  CHECK(std::ssize(legend(std::string(1000, 'w')).pixels(400)) == 400 * PictureLegend::rows);
  CHECK(legend("step 7").pixels(PictureLegend::least_columns - 1).empty());
}

}  // namespace steelyard::test_png_file
