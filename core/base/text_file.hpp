#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace steelyard {

/// Excerpt of a text for a message: its first 60 bytes or, where a character would be cut, somewhat fewer.
std::string excerpt(const std::string& text);

/// The whole file as text; of a pipe, all that is written to it. @throws FileFormatError when it cannot be opened or
/// read
std::string read_text_file(const std::filesystem::path& path);

/// A file whose bytes are read in any order. @param kind what the file is expected to be, for messages
/// @throws FileFormatError for a folder, a device or a pipe, which would keep readers waiting, and when it cannot be
/// opened
std::ifstream open_binary_file(const std::filesystem::path& path, const char* kind);

/// Writes to a temporary name beside `path` and renames, so that a reader never sees half a file; makes missing
/// folders. Links, devices and pipes as by NewFile.
/// @throws RuntimeFailure when the folder or the file cannot be written; nothing is left behind then
void write_text_file(const std::filesystem::path& path, const std::string& text);

/// Asks, before hours of work, whether `path` could be written at their end; makes nothing.
/// @throws RuntimeFailure when its folder, or the nearest one above that is there, is no folder or not writable
void require_writable(const std::filesystem::path& path);

}  // namespace steelyard
