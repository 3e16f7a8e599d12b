#include "core/base/vti_file.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/errors.hpp"
#include "core/base/xml_text.hpp"

namespace steelyard {
namespace {

/// The grid, where it can be written. Checked before the file is made.
template <class Element>
const VtiGrid& usable(const std::filesystem::path& path, std::string_view name, const VtiGrid& grid) {
  const auto fail = [&](const std::string& problem) {
    throw InvalidArgument(fmt::format("{}: {}", path.string(), problem));
  };
  if (name.empty()) fail("values without a name");
  constexpr auto most = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(Element));
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

template <class Element>
std::string_view bytes_of(std::span<const Element> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

template <class Element>
VtiFile<Element>::VtiFile(const std::filesystem::path& path, std::string_view name, const VtiGrid& grid)
    : grid_(usable<Element>(path, name, grid)), file_(path) {
  const std::string extent = fmt::format("0 {} 0 {} 0 0", grid.columns - 1, grid.rows - 1);
  const std::string array_name = xml_text(name);
  const bool little = std::endian::native == std::endian::little;
  file_.write(
      fmt::format("<?xml version=\"1.0\"?>\n"
                  "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\">\n"
                  "  <ImageData WholeExtent=\"{}\" Origin=\"{} {} 0\" Spacing=\"{} {} 1\">\n"
                  "    <Piece Extent=\"{}\">\n"
                  "      <PointData Scalars=\"{}\">\n"
                  "        <DataArray type=\"Float{}\" Name=\"{}\" format=\"appended\" offset=\"0\"/>\n"
                  "      </PointData>\n"
                  "    </Piece>\n"
                  "  </ImageData>\n"
                  "  <AppendedData encoding=\"raw\">\n"
                  "_",
                  little ? "LittleEndian" : "BigEndian", extent, grid.origin[0], grid.origin[1], grid.spacing[0],
                  grid.spacing[1], extent, array_name, 8 * sizeof(Element), array_name));
  const std::array<std::uint64_t, 1> length = {sizeof(Element) * static_cast<std::uint64_t>(grid.rows * grid.columns)};
  file_.write(bytes_of(std::span<const std::uint64_t>(length)));
}

template <class Element>
void VtiFile<Element>::write_rows(std::span<const Element> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (count % grid_.columns != 0 || count / grid_.columns > grid_.rows - written_) {
    throw InvalidArgument(fmt::format("{}: {} values behind {} rows (expected whole rows of the {} x {} points)",
                                      file_.path().string(), count, written_, grid_.rows, grid_.columns));
  }
  file_.write(bytes_of(values));
  written_ += count / grid_.columns;
}

template <class Element>
void VtiFile<Element>::finish() {
  if (written_ < grid_.rows) {
    throw InvalidArgument(
        fmt::format("{}: finished after {} rows (expected {})", file_.path().string(), written_, grid_.rows));
  }
  file_.write("\n  </AppendedData>\n</VTKFile>\n");
  file_.finish();
}

template class VtiFile<float>;
template class VtiFile<double>;

}  // namespace steelyard
