#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace steelyard {

/// Where the points of a field with two dimensions lie: row i and column j at (origin[0] + j spacing[0],
/// origin[1] + i spacing[1]), so the first row is at the bottom of a plot.
struct VtiGrid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::array<double, 2> spacing = {1.0, 1.0};
  std::array<double, 2> origin = {0.0, 0.0};
};

/// One of the fields on a grid.
template <class Element>
struct VtiArray {
  std::string name;                 ///< such as "u"
  std::int64_t components;          ///< values a point; VTK has its vectors with 3
  std::span<const Element> values;  ///< of all points, row after row; all components of a point together
};

/// Writes fields on a regular grid as VTK image data (`.vti`), which ParaView and VisIt read: values of points, float
/// or double, as raw appended data. Viewers show the first scalar and the first vector first. Source: VTK File Formats,
/// "XML File Formats", ImageData and AppendedData.
/// @throws InvalidArgument for no array, one without a name or without a value for each component of each point, a grid
/// without points, a spacing that is not positive and finite or an origin that is not finite; RuntimeFailure when the
/// file cannot be written
template <class Element>
void write_vti_file(const std::filesystem::path& path, const VtiGrid& grid,
                    const std::vector<VtiArray<Element>>& arrays);

}  // namespace steelyard
