#include "core/base/vti_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/base/errors.hpp"
#include "core/base/plot/xml_text.hpp"

namespace steelyard {
namespace {

/// The grid, where these arrays on it can be written. Checked before the file is made.
template <class Element>
const VtiGrid& usable(const std::filesystem::path& path, const std::vector<VtiArray>& arrays, const VtiGrid& grid) {
  const auto fail = [&](const std::string& problem) {
    throw InvalidArgument(fmt::format("{}: {}", path.string(), problem));
  };
  if (arrays.empty()) fail("no values");
  auto most = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(Element) * arrays.size());
  for (const VtiArray& array : arrays) {
    if (array.name.empty()) fail("values without a name");
    if (array.components < 1) fail(fmt::format("{} components of {} (expected >= 1)", array.components, array.name));
  }
  // Room for the widest array in place of each.
  most /= std::max_element(arrays.begin(), arrays.end(), [](const VtiArray& a, const VtiArray& b) {
            return a.components < b.components;
          })->components;
  if (grid.rows < 1 || grid.columns < 1 || grid.rows > most / grid.columns) {
    fail(fmt::format("grid of {} x {} points (expected sizes >= 1, less than 2^63 bytes)", grid.rows, grid.columns));
  }
  for (const double spacing : grid.spacing) {
    if (!(spacing > 0.0) || !std::isfinite(spacing)) fail(fmt::format("spacing {} (expected > 0)", spacing));
  }
  for (const double origin : grid.origin) {
    if (!std::isfinite(origin)) fail(fmt::format("origin {} (expected a finite number)", origin));
  }
  return grid;
}

/// Arrays that viewers show first: the first array of one component and the first of three.
std::string shown_first(const std::vector<VtiArray>& arrays) {
  std::string attributes;
  const auto add = [&](const char* attribute, std::int64_t components) {
    const auto found = std::find_if(arrays.begin(), arrays.end(),
                                    [&](const VtiArray& array) { return array.components == components; });
    if (found != arrays.end()) attributes += fmt::format(" {}=\"{}\"", attribute, xml_text(found->name));
  };
  add("Scalars", 1);
  add("Vectors", 3);
  return attributes;
}

template <class Element>
std::uint64_t array_bytes(const VtiArray& array, const VtiGrid& grid) {
  return sizeof(Element) * static_cast<std::uint64_t>(array.components * grid.rows * grid.columns);
}

template <class Element>
std::string_view bytes_of(std::span<const Element> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

template <class Element>
VtiFile<Element>::VtiFile(const std::filesystem::path& path, std::vector<VtiArray> arrays, const VtiGrid& grid)
    : arrays_(std::move(arrays)), grid_(usable<Element>(path, arrays_, grid)), file_(path) {
  const std::string extent = fmt::format("0 {} 0 {} 0 0", grid.columns - 1, grid.rows - 1);
  const bool little = std::endian::native == std::endian::little;
  std::string described;
  std::uint64_t offset = 0;
  for (const VtiArray& array : arrays_) {
    described +=
        fmt::format("        <DataArray type=\"Float{}\" Name=\"{}\"{} format=\"appended\" offset=\"{}\"/>\n",
                    8 * sizeof(Element), xml_text(array.name),
                    array.components == 1 ? "" : fmt::format(" NumberOfComponents=\"{}\"", array.components), offset);
    offset += sizeof(std::uint64_t) + array_bytes<Element>(array, grid);
  }
  file_.write(
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
                  little ? "LittleEndian" : "BigEndian", extent, grid.origin[0], grid.origin[1], grid.spacing[0],
                  grid.spacing[1], extent, shown_first(arrays_), described));
}

template <class Element>
VtiFile<Element>::VtiFile(const std::filesystem::path& path, std::string_view name, const VtiGrid& grid)
    : VtiFile(path, {VtiArray{std::string(name)}}, grid) {}

template <class Element>
void VtiFile<Element>::write_rows(std::span<const Element> values) {
  if (values.empty()) return;
  if (written_ == grid_.rows && array_ + 1 < arrays_.size()) {
    ++array_;
    written_ = 0;
  }
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t width = grid_.columns * arrays_[array_].components;
  if (count % width != 0 || count / width > grid_.rows - written_) {
    throw InvalidArgument(
        fmt::format("{}: {} values behind {} rows of {} (expected whole rows of the {} x {} points{})",
                    file_.path().string(), count, written_, arrays_[array_].name, grid_.rows, grid_.columns,
                    width == grid_.columns ? "" : ", all components of each"));
  }
  if (written_ == 0) {
    const std::array<std::uint64_t, 1> length = {array_bytes<Element>(arrays_[array_], grid_)};
    file_.write(bytes_of(std::span<const std::uint64_t>(length)));
  }
  file_.write(bytes_of(values));
  written_ += count / width;
}

template <class Element>
void VtiFile<Element>::finish() {
  if (written_ < grid_.rows || array_ + 1 < arrays_.size()) {
    throw InvalidArgument(fmt::format("{}: finished after {} rows (expected {}) of {}, array {} of {}",
                                      file_.path().string(), written_, grid_.rows, arrays_[array_].name, array_ + 1,
                                      arrays_.size()));
  }
  file_.write("\n  </AppendedData>\n</VTKFile>\n");
  file_.finish();
}

template class VtiFile<float>;
template class VtiFile<double>;

}  // namespace steelyard
