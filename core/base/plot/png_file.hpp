#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "core/base/plot/colour_map.hpp"

namespace steelyard {

/// A picture of 8 bits a channel in PNG format (ISO/IEC 15948), marked as sRGB, that is written in parts from the top
/// row down and appears under its own name only when it is whole. Unless finish() is reached, nothing is left behind.
/// Needs the memory of a few rows.
class PngFile {
 public:
  /// Opens the file under a temporary name; makes missing folders.
  /// @throws InvalidArgument unless there are 1 to 2^31 - 1 rows and columns, RuntimeFailure when it cannot be made
  PngFile(const std::filesystem::path& path, std::int64_t rows, std::int64_t columns);
  ~PngFile();
  PngFile(const PngFile&) = delete;
  PngFile& operator=(const PngFile&) = delete;

  /// The next rows, any number of them, one after the other without gaps.
  /// @throws InvalidArgument unless they are whole rows and the picture has room for them; RuntimeFailure when they
  /// cannot be written
  void write_rows(std::span<const Rgb> pixels);
  /// Renames to the final name; the last call.
  /// @throws InvalidArgument when rows are missing, RuntimeFailure when the file cannot be written
  void finish();

 private:
  class Encoder;
  std::unique_ptr<Encoder> encoder_;
};

}  // namespace steelyard
