#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

namespace steelyard {

/// The name under which `path` is written before it is renamed: in the same folder, different for every process.
std::filesystem::path temporary_name(const std::filesystem::path& path);

/// Where the bytes of a file go that is to be called `path`: behind symbolic links, which stay as they are.
struct Destination {
  explicit Destination(const std::filesystem::path& path);

  std::filesystem::path path;
  bool is_special;             ///< a device or a pipe: it is written to, never replaced
  std::filesystem::path part;  ///< what is written and then renamed to `path`; `path` itself where that is special
};

/// A file that is written piece after piece by one process and appears under its own name only when it is whole, so
/// that a reader never sees half of it. Unless finish() is reached, nothing is left behind, and what had the name
/// before keeps it. A device or a pipe of that name gets the bytes as they come, and a symbolic link stays: its target
/// is replaced.
class NewFile {
 public:
  /// Opens the file under its temporary name; makes missing folders. @throws RuntimeFailure
  explicit NewFile(std::filesystem::path path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// @throws RuntimeFailure when the bytes cannot be written; pieces are buffered, so this can come late.
  /// InvalidArgument after finish()
  void write(std::string_view bytes);
  /// Renames to the final name; the last call. @throws RuntimeFailure; InvalidArgument the second time
  void finish();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Destination destination_;
  bool is_finished_ = false;
  std::ofstream stream_;
};

}  // namespace steelyard
