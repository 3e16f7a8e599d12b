#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/text_file.hpp"

namespace steelyard {

/// Header of a NumPy `.npy` file (format versions 1 to 3): describes the array behind it.
struct NpyHeader {
  std::string element;              ///< NumPy type string: `<f8`, `<f4`, `<c16` or `<c8`
  std::vector<std::int64_t> shape;  ///< C order: the last index runs fastest
  std::int64_t data_offset = 0;     ///< byte at which the elements start
};

/// NumPy's type string for an element type of the suite.
template <class Element>
constexpr const char* npy_element() {
  constexpr bool is_complex = !std::is_floating_point_v<Element>;
  if constexpr (is_complex) return sizeof(Element) == 16 ? "<c16" : "<c8";
  return sizeof(Element) == 8 ? "<f8" : "<f4";
}

/// Reads and checks a header: known element type, C order, as many bytes behind it as the shape asks for.
/// @throws FileFormatError
NpyHeader read_npy_header(const std::filesystem::path& path);

/// read_npy_header() for a matrix of `Element`. @throws FileFormatError also for other elements or not two indices
template <class Element>
NpyHeader read_npy_matrix_header(const std::filesystem::path& path);

/// Reads a block of a matrix into `block`, row after row without gaps. Any number of processes may read at once.
/// @throws InvalidArgument unless `block` has rows x columns elements; FileFormatError unless it is inside the matrix
template <class Element>
void read_npy_block(const std::filesystem::path& path, const NpyHeader& header, std::int64_t first_row,
                    std::int64_t first_column, std::int64_t rows, std::int64_t columns, std::span<Element> block);

/// An array file that is written in parts, by one process or by several through a shared file system, and appears
/// under its own name only when it is whole: one process calls create(), then all write their parts, then one calls
/// finish(). Symbolic links and devices are treated as by NewFile; pipes are refused.
class NpyMatrixFile {
 public:
  /// Makes the file at its full length under a temporary name.
  /// @throws InvalidArgument for a negative size, RuntimeFailure when it cannot be made
  template <class Element>
  static NpyMatrixFile create(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns);
  /// Opens in another process what create() made. `part` and `data_offset` come from the process that made it.
  NpyMatrixFile(const std::filesystem::path& path, const std::filesystem::path& part, std::int64_t data_offset,
                std::int64_t rows, std::int64_t columns);

  /// Writes a block of elements that lie row after row without gaps: as many rows of `columns` elements as `block` has.
  /// @throws InvalidArgument for one that is not inside the matrix, RuntimeFailure when it cannot be written
  template <class Element>
  void write_block(std::int64_t first_row, std::int64_t first_column, std::int64_t columns,
                   std::span<const Element> block) const;
  /// Adds bytes behind the array, where NumPy does not look. @throws RuntimeFailure when they cannot be written
  void append(const std::string& bytes) const;
  /// Renames to the final name. @throws RuntimeFailure
  void finish() const { destination_.publish(); }
  /// Removes the temporary file, for a run that failed.
  void discard() const noexcept { destination_.discard(); }

  const std::filesystem::path& part() const { return destination_.part; }
  std::int64_t data_offset() const { return data_offset_; }

 private:
  Destination destination_;
  std::int64_t data_offset_;
  std::int64_t rows_, columns_;
};

}  // namespace steelyard
