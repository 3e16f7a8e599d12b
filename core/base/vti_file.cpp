#include "core/base/vti_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "core/base/errors.hpp"
#include "core/base/plot/xml_text.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {
namespace {

/// Checked before the file is made.
template <class Element>
void require_usable(const std::filesystem::path& path, const VtiGrid& grid,
                    const std::vector<VtiArray<Element>>& arrays) {
  const auto fail = [&](const std::string& problem) {
    throw InvalidArgument(fmt::format("{}: {}", path.string(), problem));
  };
  if (grid.rows < 1 || grid.columns < 1) {
    fail(fmt::format("grid of {} x {} points (expected sizes >= 1)", grid.rows, grid.columns));
  }
  for (const double spacing : grid.spacing) {
    if (!(spacing > 0.0) || !std::isfinite(spacing)) fail(fmt::format("spacing {} (expected > 0)", spacing));
  }
  for (const double origin : grid.origin) {
    if (!std::isfinite(origin)) fail(fmt::format("origin {} (expected a finite number)", origin));
  }
  if (arrays.empty()) fail("no values");
  for (const VtiArray<Element>& array : arrays) {
    if (array.name.empty()) fail("values without a name");
    const auto expected = static_cast<std::uint64_t>(grid.rows) * static_cast<std::uint64_t>(grid.columns) *
                          static_cast<std::uint64_t>(array.components);
    if (array.components < 1 || array.values.size() != expected) {
      fail(fmt::format("{} values of {} (expected {} components of {} x {} points)", array.values.size(), array.name,
                       array.components, grid.rows, grid.columns));
    }
  }
}

/// Arrays that viewers show first: the first array of one component and the first of three.
template <class Element>
std::string shown_first(const std::vector<VtiArray<Element>>& arrays) {
  std::string attributes;
  for (const auto& [attribute, components] : {std::pair{"Scalars", 1}, {"Vectors", 3}}) {
    const auto found = std::find_if(arrays.begin(), arrays.end(),
                                    [count = components](const auto& array) { return array.components == count; });
    if (found != arrays.end()) attributes += fmt::format(" {}=\"{}\"", attribute, xml_text(found->name));
  }
  return attributes;
}

}  // namespace

template <class Element>
void write_vti_file(const std::filesystem::path& path, const VtiGrid& grid,
                    const std::vector<VtiArray<Element>>& arrays) {
  require_usable(path, grid, arrays);
  std::string described;
  std::uint64_t offset = 0;
  for (const VtiArray<Element>& array : arrays) {
    described +=
        fmt::format("        <DataArray type=\"Float{}\" Name=\"{}\"{} format=\"appended\" offset=\"{}\"/>\n",
                    8 * sizeof(Element), xml_text(array.name),
                    array.components == 1 ? "" : fmt::format(" NumberOfComponents=\"{}\"", array.components), offset);
    offset += sizeof(std::uint64_t) + array.values.size_bytes();
  }
  const std::string extent = fmt::format("0 {} 0 {} 0 0", grid.columns - 1, grid.rows - 1);
  NewFile file(path);
  file.write(
      fmt::format("<?xml version=\"1.0\"?>\n"
                  "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\">\n"
                  "  <ImageData WholeExtent=\"{}\" Origin=\"{} {} 0\" Spacing=\"{} {} 1\">\n"
                  "    <Piece Extent=\"{}\">\n"
                  "      <PointData{}>\n"
                  "{}"
                  "      </PointData>\n"
                  "    </Piece>\n"
                  "  </ImageData>\n"
                  "  <AppendedData encoding=\"raw\">\n"
                  "_",
                  std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian", extent, grid.origin[0],
                  grid.origin[1], grid.spacing[0], grid.spacing[1], extent, shown_first(arrays), described));
  for (const VtiArray<Element>& array : arrays) {
    const std::uint64_t length = array.values.size_bytes();
    file.write({reinterpret_cast<const char*>(&length), sizeof length});
    file.write({reinterpret_cast<const char*>(array.values.data()), array.values.size_bytes()});
  }
  file.write("\n  </AppendedData>\n</VTKFile>\n");
  file.finish();
}

template void write_vti_file(const std::filesystem::path&, const VtiGrid&, const std::vector<VtiArray<float>>&);
template void write_vti_file(const std::filesystem::path&, const VtiGrid&, const std::vector<VtiArray<double>>&);

}  // namespace steelyard
