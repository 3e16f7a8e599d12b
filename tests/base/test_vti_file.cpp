#include <span>

#include "core/base/vti_file.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/base/vti_parts.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_vti_file {

using tests::numbers;
using tests::parse_vti;
using tests::TemporaryFolder;
using tests::VtiParts;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Element>
std::vector<Element> random_values(std::int64_t count, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<Element> values(static_cast<std::size_t>(count));
  for (Element& value : values) value = static_cast<Element>(normal(random));
  return values;
}

template <class Element>
std::string bytes_of(const std::vector<Element>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Element)};
}

}  // namespace

TEMPLATE_TEST_CASE("fields have their values bit for bit behind their lengths", "", double, float) {
  const TemporaryFolder folder;
  std::mt19937_64 random(7);
  const std::vector<std::vector<std::pair<std::string, std::int64_t>>> all_arrays = {
      {{"u", 1}}, {{"a<b & \"c\"", 1}}, {{"w", 3}, {"p", 1}, {"two", 2}}, {{"p", 1}, {"q", 1}}};
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {1, 17}, {17, 1}, {3, 5}, {101, 13}, {2, 100000}}) {
    for (const auto& described : all_arrays) {
      INFO(rows << " x " << columns << ", " << described.size() << " arrays");
      std::vector<std::vector<TestType>> values;
      std::vector<VtiArray<TestType>> arrays;
      values.reserve(described.size());
      for (const auto& [name, components] : described) {
        values.push_back(random_values<TestType>(rows * columns * components, random));
        arrays.push_back({name, components, values.back()});
      }
      write_vti_file(folder / "a.vti", {rows, columns}, arrays);
      const VtiParts parsed = parse_vti(folder.read("a.vti"));
      REQUIRE(parsed.behind == "\n  </AppendedData>\n</VTKFile>\n");
      REQUIRE(parsed.open == std::vector<std::string>{"VTKFile", "AppendedData"});
      REQUIRE(parsed.arrays.size() == arrays.size());
      for (std::size_t k = 0; k < arrays.size(); ++k) {
        const bool same = parsed.arrays[k].data == bytes_of(values[k]);
        REQUIRE(same);
        const auto& attributes = parsed.arrays[k].attributes;
        const std::string components = std::to_string(arrays[k].components);
        REQUIRE(attributes.at("type") == (sizeof(TestType) == 8 ? "Float64" : "Float32"));
        REQUIRE(attributes.at("format") == "appended");
        if (arrays[k].components == 1) REQUIRE(attributes.count("NumberOfComponents") == 0);
        if (arrays[k].components > 1) REQUIRE(attributes.at("NumberOfComponents") == components);
      }
      const std::string extent = "0 " + std::to_string(columns - 1) + " 0 " + std::to_string(rows - 1) + " 0 0";
      REQUIRE(parsed.attributes.at("ImageData.WholeExtent") == extent);
      REQUIRE(parsed.attributes.at("Piece.Extent") == extent);
      REQUIRE(folder.entries() == 1);
    }
  }
}

TEST_CASE("a file says what it is, which arrays are shown first, and where its points lie") {
  const TemporaryFolder folder;
  const std::vector<double> odd = {infinity, -0.0, std::numeric_limits<double>::denorm_min(), not_a_number};
  write_vti_file<double>(folder / "a.vti", {1, 4, {1.0 / 3.0, 1e-300}, {-0.1, 12345678.9}},
                         {{"a<b & \"c\"", 1, odd}, {"v", 3, std::vector<double>(12)}});
  const VtiParts parsed = parse_vti(folder.read("a.vti"));
  const auto& attributes = parsed.attributes;
  CHECK(parsed.arrays[0].data == bytes_of(odd));
  CHECK(attributes.at("VTKFile.type") == "ImageData");
  CHECK(attributes.at("VTKFile.version") == "1.0");
  CHECK(attributes.at("VTKFile.byte_order") == "LittleEndian");
  CHECK(attributes.at("VTKFile.header_type") == "UInt64");
  CHECK(attributes.at("AppendedData.encoding") == "raw");
  CHECK(attributes.at("DataArray.Name") == "a&lt;b &amp; &quot;c&quot;");
  CHECK(attributes.at("PointData.Scalars") == attributes.at("DataArray.Name"));
  CHECK(attributes.at("PointData.Vectors") == "v");
  CHECK(numbers(attributes.at("ImageData.Spacing")) == std::vector<double>{1.0 / 3.0, 1e-300, 1.0});
  CHECK(numbers(attributes.at("ImageData.Origin")) == std::vector<double>{-0.1, 12345678.9, 0.0});
}

TEST_CASE("grids and arrays that VTK cannot show are refused with their values before anything is made") {
  const TemporaryFolder folder;
  constexpr std::int64_t huge = std::int64_t{1} << 31;
  const std::vector<double> four(4);
  const struct {
    std::vector<VtiArray<double>> arrays;
    VtiGrid grid;
    std::string words;
  } cases[] = {{{}, {2, 2}, "no values"},
               {{{"u", 0, {}}}, {2, 2}, "0 components of 2 x 2"},
               {{{"w", 3, four}}, {2, 2}, "4 values of w"},
               {{{"u", 1, four}, {"v", 1, {}}}, {2, 2}, "0 values of v"},
               {{{"", 1, four}}, {2, 2}, "without a name"},
               {{{"u", 1, {}}}, {0, 3}, "0 x 3"},
               {{{"u", 1, {}}}, {3, 0}, "3 x 0"},
               {{{"u", 1, four}}, {-2, -2}, "-2 x -2"},
               {{{"u", 1, four}}, {huge, huge}, std::to_string(huge)},
               {{{"u", 1, four}}, {2, 2, {0.0, 1.0}}, "spacing 0"},
               {{{"u", 1, four}}, {2, 2, {1.0, -1.5}}, "spacing -1.5"},
               {{{"u", 1, four}}, {2, 2, {infinity, 1.0}}, "spacing inf"},
               {{{"u", 1, four}}, {2, 2, {1.0, not_a_number}}, "spacing nan"},
               {{{"u", 1, four}}, {2, 2, {1.0, 1.0}, {0.0, infinity}}, "origin inf"},
               {{{"u", 1, four}}, {2, 2, {1.0, 1.0}, {not_a_number, 0.0}}, "origin nan"}};
  for (const auto& [arrays, grid, words] : cases) {
    CHECK_THROWS_MATCHES(write_vti_file(folder / "a.vti", grid, arrays), InvalidArgument,
                         MessageMatches(ContainsSubstring("a.vti: ") && ContainsSubstring(words)));
  }
  CHECK(folder.entries() == 0);
}

}  // namespace steelyard::test_vti_file
