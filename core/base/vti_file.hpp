#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text_file.hpp"

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
struct VtiArray {
  std::string name;             ///< such as "u"
  std::int64_t components = 1;  ///< values a point; VTK has its vectors with 3
};

/// Fields on a regular grid as VTK image data (`.vti`), which ParaView and VisIt read: values of points, as raw
/// appended data, each array behind its 64-bit length. They are written in parts, one array after the other, the first
/// row first, and the file appears under its own name only when it is whole. Unless finish() is reached, nothing is
/// left behind. Source: VTK File Formats, "XML File Formats", ImageData and AppendedData. `Element` is float or double.
template <class Element>
class VtiFile {
 public:
  /// Opens the file under a temporary name; makes missing folders.
  /// @param arrays what is written, in this order; of several, viewers show the first scalar and the first vector first
  /// @throws InvalidArgument for no array, one without a name or without components, an empty grid or one of more than
  /// 2^63 bytes, a spacing that is not positive and finite, an origin that is not finite; RuntimeFailure when the file
  /// cannot be made
  VtiFile(const std::filesystem::path& path, std::vector<VtiArray> arrays, const VtiGrid& grid);
  /// One value a point. @param name what they are called
  VtiFile(const std::filesystem::path& path, std::string_view name, const VtiGrid& grid);

  /// The next rows of an array, any number of them, one after the other without gaps; all components of a point
  /// together. The next array begins when one is whole, with a call of its own.
  /// @throws InvalidArgument unless they are whole rows and the array has room for them; RuntimeFailure when they
  /// cannot be written
  void write_rows(std::span<const Element> values);
  /// Renames to the final name; the last call.
  /// @throws InvalidArgument when rows are missing, RuntimeFailure when the file cannot be written
  void finish();

 private:
  std::vector<VtiArray> arrays_;
  VtiGrid grid_;
  NewFile file_;
  std::size_t array_ = 0;     ///< being written
  std::int64_t written_ = 0;  ///< rows of it
};

}  // namespace steelyard
