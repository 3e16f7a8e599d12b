#pragma once

#include <filesystem>
#include <string>

namespace steelyard {

/// The whole file as text. @throws FileFormatError when it cannot be opened or read
std::string read_text_file(const std::filesystem::path& path);

/// Writes to a temporary name beside `path` and renames, so that a reader never sees half a file; makes missing
/// folders.
/// @throws RuntimeFailure when the folder or the file cannot be written; nothing is left behind then
void write_text_file(const std::filesystem::path& path, const std::string& text);

/// Asks, before hours of work, whether `path` could be written at their end; makes nothing.
/// @throws RuntimeFailure when its folder, or the nearest one above that is there, is no folder or not writable
void require_writable(const std::filesystem::path& path);

}  // namespace steelyard
