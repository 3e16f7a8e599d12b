#include "core/base/text_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/base/errors.hpp"
#include "core/base/new_file.hpp"

namespace steelyard {

std::string excerpt(const std::string& text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return text;
  const auto continues_character = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; };
  std::size_t end = longest;
  while (end > 0 && continues_character(text[end])) --end;
  return fmt::format("{}… ({} bytes)", text.substr(0, end), text.size());
}

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
  const Destination destination(path);
  if (destination.is_special) {
    if (::access(path.c_str(), W_OK) == 0) return;
    throw RuntimeFailure(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  }
  std::filesystem::path folder = std::filesystem::absolute(destination.path).parent_path();
  while (!std::filesystem::exists(folder, ignored) && folder != folder.root_path()) folder = folder.parent_path();
  if (!std::filesystem::is_directory(folder, ignored) || ::access(folder.c_str(), W_OK) != 0) {
    throw RuntimeFailure(fmt::format("{}: cannot be written: {} is not a folder that this user may write to",
                                     path.string(), folder.string()));
  }
  if (std::filesystem::is_directory(path, ignored)) {
    throw RuntimeFailure(fmt::format("{}: cannot be written: is a folder", path.string()));
  }
}

void write_text_file(const std::filesystem::path& path, const std::string& text) {
  NewFile file(path);
  file.write(text);
  file.finish();
}

}  // namespace steelyard
