#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/base/new_file.hpp"

namespace steelyard {

/// Where the points of a field with two dimensions lie: row i and column j at (origin[0] + j spacing[0],
/// origin[1] + i spacing[1]), so the first row is at the bottom of a plot.
struct VtiGrid {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::array<double, 2> spacing = {1.0, 1.0};
  std::array<double, 2> origin = {0.0, 0.0};
};

/// A field on a regular grid as VTK image data (`.vti`), which ParaView and VisIt read: one value a point, as raw
/// appended data behind a 64-bit length. It is written in parts, the first row first, and appears under its own name
/// only when it is whole. Unless finish() is reached, nothing is left behind. Source: VTK File Formats, "XML File
/// Formats", ImageData and AppendedData. `Element` is float or double.
template <class Element>
class VtiFile {
 public:
  /// Opens the file under a temporary name; makes missing folders.
  /// @param name what the values are called, such as "u"
  /// @throws InvalidArgument for an empty name, an empty grid or one of more than 2^63 bytes, a spacing that is not
  /// positive and finite, an origin that is not finite; RuntimeFailure when the file cannot be made
  VtiFile(const std::filesystem::path& path, std::string_view name, const VtiGrid& grid);

  /// The next rows, any number of them, one after the other without gaps.
  /// @throws InvalidArgument unless they are whole rows and the grid has room for them; RuntimeFailure when they cannot
  /// be written
  void write_rows(std::span<const Element> values);
  /// Renames to the final name; the last call.
  /// @throws InvalidArgument when rows are missing, RuntimeFailure when the file cannot be written
  void finish();

 private:
  VtiGrid grid_;
  NewFile file_;
  std::int64_t written_ = 0;
};

}  // namespace steelyard
