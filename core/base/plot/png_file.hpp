#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "core/base/plot/colour_map.hpp"

namespace steelyard {

/// Writes a picture of 8 bits a channel in PNG format (ISO/IEC 15948), marked as sRGB, through NewFile.
/// @param pixels row after row from the top down, without gaps
/// @throws InvalidArgument unless they are whole rows, at least one; RuntimeFailure when the file cannot be written
void write_png_file(const std::filesystem::path& path, std::int64_t columns, std::span<const Rgb> pixels);

}  // namespace steelyard
