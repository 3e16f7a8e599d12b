#include "core/base/text_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/base/errors.hpp"

namespace steelyard {

std::string read_text_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw FileFormatError(path.string(), "", "is a folder (expected a file)");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileFormatError(path.string(), "", fmt::format("cannot be opened: {}", std::strerror(errno)));
  // Chunks, because a read that fails inside `stream << file.rdbuf()` looks like the end of the file.
  std::string text;
  std::array<char, 1 << 16> chunk;
  while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) throw FileFormatError(path.string(), "", "cannot be read to its end");
  return text;
}

void require_writable(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  while (!std::filesystem::exists(folder, ignored) && folder != folder.root_path()) folder = folder.parent_path();
  if (!std::filesystem::is_directory(folder, ignored) || ::access(folder.c_str(), W_OK) != 0) {
    throw RuntimeFailure(fmt::format("{}: cannot be written: {} is not a folder that this user may write to",
                                     path.string(), folder.string()));
  }
  if (std::filesystem::is_directory(path, ignored)) {
    throw RuntimeFailure(fmt::format("{}: cannot be written: is a folder", path.string()));
  }
}

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  return path.parent_path() / fmt::format(".{}.{}.part", path.filename().string(), ::getpid());
}

void write_text_file(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) {
    throw RuntimeFailure(fmt::format("{}: folder cannot be made: {}", path.parent_path().string(), error.message()));
  }
  const std::filesystem::path part = temporary_name(path);
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) std::filesystem::rename(part, path, error);
  if (!file || error) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw RuntimeFailure(fmt::format("{}: cannot be written: {}", path.string(),
                                     error ? error.message() : std::string(std::strerror(errno))));
  }
}

}  // namespace steelyard
