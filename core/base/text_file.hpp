#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace steelyard {

/// Where the bytes of a file go that is to be called `path`: behind symbolic links, which stay as they are.
struct Destination {
  explicit Destination(const std::filesystem::path& path);
  /// Renames the part to `path`. @throws RuntimeFailure
  void publish() const;
  /// Removes the part, if there is one.
  void discard() const noexcept;

  std::filesystem::path path;
  bool is_special;             ///< a device or a pipe: it is written to, never replaced
  std::filesystem::path part;  ///< what is written, in the same folder and named differently for every process; `path`
                               ///< itself where that is special
};

/// A file that is written piece after piece by one process and appears under its own name only when it is whole. Unless
/// finish() is reached, nothing is left behind, and what had the name before keeps it. A device or a pipe of that name
/// gets the bytes as they come; of a symbolic link the target is replaced.
class NewFile {
 public:
  /// Opens the file under its temporary name; makes missing folders. @throws RuntimeFailure
  explicit NewFile(std::filesystem::path path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// @throws RuntimeFailure when these bytes, or earlier ones, cannot be written; InvalidArgument after finish()
  void write(std::string_view bytes);
  /// Renames to the final name; the last call. @throws RuntimeFailure; InvalidArgument the second time
  void finish();

 private:
  std::filesystem::path path_;
  Destination destination_;
  bool is_finished_ = false;
  std::ofstream stream_;
};

/// Excerpt of a text for a message: its first 60 bytes or, where a character would be cut, somewhat fewer.
std::string excerpt(const std::string& text);

/// The whole file as text; of a pipe, all that is written to it. @throws FileFormatError when it cannot be read
std::string read_text_file(const std::filesystem::path& path);

/// A file whose bytes are read in any order. @param kind what the file is expected to be, for messages
/// @throws FileFormatError for a folder, a device or a pipe, and when it cannot be opened
std::ifstream open_binary_file(const std::filesystem::path& path, const char* kind);

/// Writes a whole file through NewFile. @throws RuntimeFailure when the folder or the file cannot be written
void write_text_file(const std::filesystem::path& path, const std::string& text);

/// Asks, before hours of work, whether `path` could be written at their end; makes nothing.
/// @throws RuntimeFailure when its folder, or the nearest one above that is there, is no folder or not writable
void require_writable(const std::filesystem::path& path);

}  // namespace steelyard
