#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/vti_file.hpp"
#include "tests/base/full_disk.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/base/vti_parts.hpp"

namespace steelyard::test_vti_file {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using tests::failure_on_full_disk;
using tests::numbers;
using tests::parse_vti;
using tests::TemporaryFolder;
using tests::VtiParts;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Element>
std::vector<Element> random_values(std::int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Element> values(static_cast<std::size_t>(count));
  for (Element& value : values) value = static_cast<Element>(normal(random));
  return values;
}

template <class Element>
void write_field(const std::filesystem::path& path, const VtiGrid& grid, std::span<const Element> values,
                 const std::string& name = "u") {
  VtiFile<Element> file(path, name, grid);
  file.write_rows(values);
  file.finish();
}

template <class Element>
std::string bytes_of(const std::vector<Element>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Element)};
}

}  // namespace

TEMPLATE_TEST_CASE("fields of any shape have their values bit for bit behind their length", "", double, float) {
  const TemporaryFolder folder;
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {1, 17}, {17, 1}, {3, 5}, {64, 64}, {1000, 7}, {2, 100000}}) {
    INFO(rows << " x " << columns);
    const auto values = random_values<TestType>(rows * columns, 7);
    write_field<TestType>(folder / "a.vti", {rows, columns}, values);
    const VtiParts parsed = parse_vti(folder.read("a.vti"));
    const bool same = parsed.arrays[0].data == bytes_of(values);
    REQUIRE(same);
    REQUIRE(parsed.behind == "\n  </AppendedData>\n</VTKFile>\n");
    REQUIRE(parsed.open == std::vector<std::string>{"VTKFile", "AppendedData"});
    const std::string extent = "0 " + std::to_string(columns - 1) + " 0 " + std::to_string(rows - 1) + " 0 0";
    REQUIRE(parsed.attributes.at("ImageData.WholeExtent") == extent);
    REQUIRE(parsed.attributes.at("Piece.Extent") == extent);
    REQUIRE(parsed.attributes.at("DataArray.type") == (sizeof(TestType) == 8 ? "Float64" : "Float32"));
    REQUIRE(folder.entries() == 1);
  }
}

TEST_CASE("the file says what it is: image data, little endian, 64-bit lengths, one raw appended array of points") {
  const TemporaryFolder folder;
  write_field<double>(folder / "a.vti", {2, 3}, random_values<double>(6, 1));
  const auto attributes = parse_vti(folder.read("a.vti")).attributes;
  CHECK(attributes.at("VTKFile.type") == "ImageData");
  CHECK(attributes.at("VTKFile.version") == "1.0");
  CHECK(attributes.at("VTKFile.byte_order") == "LittleEndian");
  CHECK(attributes.at("VTKFile.header_type") == "UInt64");
  CHECK(attributes.at("AppendedData.encoding") == "raw");
  CHECK(attributes.at("DataArray.format") == "appended");
  CHECK(attributes.at("DataArray.offset") == "0");
  CHECK(attributes.at("DataArray.Name") == "u");
  CHECK(attributes.at("PointData.Scalars") == "u");
}

TEST_CASE("spacing and origin are read back exactly, first along rows and then across them") {
  const TemporaryFolder folder;
  const VtiGrid grid{2, 2, {1.0 / 3.0, 1e-300}, {-0.1, 12345678.9}};
  write_field<double>(folder / "a.vti", grid, random_values<double>(4, 1));
  const auto attributes = parse_vti(folder.read("a.vti")).attributes;
  CHECK(numbers(attributes.at("ImageData.Spacing")) == std::vector<double>{1.0 / 3.0, 1e-300, 1.0});
  CHECK(numbers(attributes.at("ImageData.Origin")) == std::vector<double>{-0.1, 12345678.9, 0.0});
}

TEST_CASE("values that are not ordinary numbers keep their bits") {
  const TemporaryFolder folder;
  const std::vector<double> odd = {infinity, -0.0, std::numeric_limits<double>::denorm_min(), not_a_number};
  write_field<double>(folder / "a.vti", {2, 2}, odd);
  CHECK(parse_vti(folder.read("a.vti")).arrays[0].data == bytes_of(odd));
}

TEST_CASE("a name of any characters cannot break the file") {
  const TemporaryFolder folder;
  write_field<double>(folder / "a.vti", {1, 1}, std::vector<double>{1.0}, "a<b & \"c\"");
  const auto attributes = parse_vti(folder.read("a.vti")).attributes;
  CHECK(attributes.at("DataArray.Name") == "a&lt;b &amp; &quot;c&quot;");
  CHECK(attributes.at("PointData.Scalars") == attributes.at("DataArray.Name"));
}

TEMPLATE_TEST_CASE("values handed over in any portions make the same file", "", double, float) {
  const TemporaryFolder folder;
  constexpr std::int64_t rows = 101, columns = 13;
  const auto values = random_values<TestType>(rows * columns, 3);
  write_field<TestType>(folder / "whole.vti", {rows, columns}, values);
  std::mt19937 random(4);
  for (int round = 0; round < 5; ++round) {
    VtiFile<TestType> file(folder / "parts.vti", "u", {rows, columns});
    for (std::int64_t first = 0; first < rows;) {
      const auto count = std::min<std::int64_t>(rows - first, std::uniform_int_distribution<int>(0, 8)(random));
      file.write_rows(std::span(values).subspan(static_cast<std::size_t>(first * columns),
                                                static_cast<std::size_t>(count * columns)));
      first += count;
    }
    file.write_rows({});
    file.finish();
    REQUIRE(folder.read("parts.vti") == folder.read("whole.vti"));
  }
}

TEST_CASE("several fields lie one behind the other, each behind its length, vectors point by point") {
  const TemporaryFolder folder;
  const auto velocity = random_values<double>(60, 1);
  const auto pressure = random_values<double>(20, 2);
  const auto pairs = random_values<double>(40, 3);
  VtiFile<double> file(folder / "a.vti", {{"w", 3}, {"p"}, {"two", 2}}, {5, 4});
  file.write_rows(std::span(velocity).first(24));
  CHECK_THROWS_MATCHES(file.write_rows(std::span(velocity).subspan(24, 4)), InvalidArgument,
                       MessageMatches(ContainsSubstring("4 values behind 2 rows of w") &&
                                      ContainsSubstring("5 x 4 points, all components of each")));
  file.write_rows(std::span(velocity).subspan(24));
  CHECK_THROWS_MATCHES(file.finish(), InvalidArgument, MessageMatches(ContainsSubstring("of w, array 1 of 3")));
  file.write_rows(pressure);
  file.write_rows(pairs);
  CHECK_THROWS_AS(file.write_rows(pressure), InvalidArgument);
  file.finish();
  const VtiParts parsed = parse_vti(folder.read("a.vti"));
  CHECK(parsed.attributes.at("PointData.Scalars") == "p");
  CHECK(parsed.attributes.at("PointData.Vectors") == "w");
  REQUIRE(parsed.arrays.size() == 3);
  CHECK(parsed.arrays[0].attributes.at("Name") == "w");
  CHECK(parsed.arrays[0].attributes.at("NumberOfComponents") == "3");
  CHECK(parsed.arrays[1].attributes.count("NumberOfComponents") == 0);
  CHECK(parsed.arrays[2].attributes.at("NumberOfComponents") == "2");
  CHECK(parsed.arrays[0].data == bytes_of(velocity));
  CHECK(parsed.arrays[1].data == bytes_of(pressure));
  CHECK(parsed.arrays[2].data == bytes_of(pairs));
  CHECK(parsed.behind == "\n  </AppendedData>\n</VTKFile>\n");
}

TEST_CASE("a file without fields, or with one without components, is refused before it is made") {
  const TemporaryFolder folder;
  CHECK_THROWS_MATCHES(VtiFile<double>(folder / "a.vti", std::vector<VtiArray>{}, {2, 2}), InvalidArgument,
                       MessageMatches(ContainsSubstring("a.vti: no values")));
  CHECK_THROWS_MATCHES(VtiFile<double>(folder / "a.vti", {{"u", 0}}, {2, 2}), InvalidArgument,
                       MessageMatches(ContainsSubstring("0 components of u")));
  CHECK_THROWS_AS(VtiFile<double>(folder / "a.vti", {{"u", std::int64_t{1} << 31}}, {1 << 20, 1 << 20}),
                  InvalidArgument);
  CHECK(folder.entries() == 0);
}

TEST_CASE("a field has its name only when it is finished, and the file before it stays until then") {
  const TemporaryFolder folder;
  folder.write("a.vti", "before");
  {
    VtiFile<double> left(folder / "a.vti", "u", {2, 2});
    left.write_rows(random_values<double>(2, 1));
  }
  CHECK(folder.entries() == 1);
  CHECK(folder.read("a.vti") == "before");
  VtiFile<double> file(folder / "a.vti", "u", {2, 2});
  file.write_rows(random_values<double>(4, 1));
  CHECK(folder.read("a.vti") == "before");
  file.finish();
  CHECK(parse_vti(folder.read("a.vti")).arrays[0].data == bytes_of(random_values<double>(4, 1)));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a field without all of its rows cannot be finished and leaves nothing") {
  const TemporaryFolder folder;
  {
    VtiFile<float> file(folder / "a.vti", "u", {3, 2});
    CHECK_THROWS_AS(file.finish(), InvalidArgument);
    file.write_rows(random_values<float>(4, 1));
    CHECK_THROWS_MATCHES(file.finish(), InvalidArgument,
                         MessageMatches(ContainsSubstring((folder / "a.vti").string()) &&
                                        ContainsSubstring("after 2 rows (expected 3)")));
  }
  CHECK(folder.entries() == 0);
}

TEST_CASE("rows of a field that are not whole or too many are refused, and it goes on without them") {
  const TemporaryFolder folder;
  const auto values = random_values<double>(6, 1);
  VtiFile<double> file(folder / "a.vti", "u", {3, 2});
  CHECK_THROWS_MATCHES(
      file.write_rows(std::span(values).first(3)), InvalidArgument,
      MessageMatches(ContainsSubstring("a.vti: 3 values behind 0 rows") && ContainsSubstring("3 x 2")));
  file.write_rows(std::span(values).first(4));
  CHECK_THROWS_AS(file.write_rows(values), InvalidArgument);
  file.write_rows(std::span(values).last(2));
  CHECK_THROWS_AS(file.write_rows(std::span(values).last(2)), InvalidArgument);
  file.finish();
  CHECK(parse_vti(folder.read("a.vti")).arrays[0].data == bytes_of(values));
}

TEST_CASE("grids that VTK cannot show are refused with their values before anything is made") {
  const TemporaryFolder folder;
  const auto refuses = [&](const VtiGrid& grid, const std::string& words, const std::string& name = "u") {
    CHECK_THROWS_MATCHES(VtiFile<double>(folder / "a.vti", name, grid), InvalidArgument,
                         MessageMatches(ContainsSubstring((folder / "a.vti").string()) && ContainsSubstring(words)));
  };
  constexpr std::int64_t huge = std::int64_t{1} << 31;
  refuses({0, 3}, "0 x 3");
  refuses({3, 0}, "3 x 0");
  refuses({-2, -3}, "-2 x -3");
  refuses({huge, huge}, std::to_string(huge));
  refuses({2, 2, {0.0, 1.0}}, "spacing 0");
  refuses({2, 2, {1.0, -1.5}}, "spacing -1.5");
  refuses({2, 2, {infinity, 1.0}}, "spacing inf");
  refuses({2, 2, {1.0, not_a_number}}, "spacing nan");
  refuses({2, 2, {1.0, 1.0}, {0.0, infinity}}, "origin inf");
  refuses({2, 2, {1.0, 1.0}, {not_a_number, 0.0}}, "origin nan");
  refuses({2, 2}, "without a name", "");
  CHECK(folder.entries() == 0);
}

TEST_CASE("a field that cannot be made is refused with its name and leaves nothing") {
  const TemporaryFolder folder;
  folder.write("file", "text");
  CHECK_THROWS_MATCHES(VtiFile<double>(folder.path() / "file" / "a.vti", "u", {2, 2}), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "file").string())));
  std::filesystem::create_directories(folder.path() / "taken" / "inner");
  CHECK_THROWS_MATCHES(write_field<double>(folder / "taken", {2, 2}, random_values<double>(4, 1)), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "taken").string() + ": cannot be written")));
  CHECK(folder.entries() == 3);
}

TEST_CASE("a field on a disk without room is told with file and reason, and nothing is left") {
  const TemporaryFolder folder;
  for (const std::int64_t rows : {1, 40, 10000}) {
    const auto values = random_values<double>(rows * 100, 5);
    const std::string failure = failure_on_full_disk<RuntimeFailure>(1000, [&] {
      write_field<double>(folder / "a.vti", {rows, 100}, values);
    });
    CHECK_THAT(failure, ContainsSubstring((folder / "a.vti").string() + ": cannot be written: File too large"));
    CHECK(folder.entries() == 0);
  }
}

}  // namespace steelyard::test_vti_file
