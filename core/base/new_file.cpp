#include "core/base/new_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/errors.hpp"

namespace steelyard {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& reason) {
  throw RuntimeFailure(fmt::format("{}: cannot be written: {}", path.string(), reason));
}

}  // namespace

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  return path.parent_path() / fmt::format(".{}.{}.part", path.filename().string(), ::getpid());
}

Destination::Destination(const std::filesystem::path& name) : path(name) {
  std::error_code error;
  const std::filesystem::file_status behind = std::filesystem::status(path, error);
  is_special = std::filesystem::exists(behind) && !std::filesystem::is_regular_file(behind) &&
               !std::filesystem::is_directory(behind);
  // Not of what is special: the link /dev/stdout leads to names that no folder has.
  constexpr int most_links = 40;
  for (int i = 0; i < most_links && !is_special && std::filesystem::is_symlink(path, error); ++i) {
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  }
  part = is_special ? path : temporary_name(path);
}

NewFile::NewFile(std::filesystem::path path) : path_(std::move(path)), destination_(path_) {
  std::error_code error;
  const std::filesystem::path folder = destination_.path.parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) throw RuntimeFailure(fmt::format("{}: folder cannot be made: {}", folder.string(), error.message()));
  stream_.open(destination_.part, std::ios::binary | std::ios::trunc);
  if (!stream_) fail(path_, std::strerror(errno));
}

NewFile::~NewFile() {
  if (is_finished_ || destination_.is_special) return;
  stream_.close();
  std::error_code ignored;
  std::filesystem::remove(destination_.part, ignored);
}

void NewFile::write(std::string_view bytes) {
  if (is_finished_) throw InvalidArgument(fmt::format("{}: written to after it was finished", path_.string()));
  stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream_) fail(path_, std::strerror(errno));
}

void NewFile::finish() {
  if (is_finished_) throw InvalidArgument(fmt::format("{}: finished twice", path_.string()));
  stream_.close();
  if (!stream_) fail(path_, std::strerror(errno));
  std::error_code error;
  if (!destination_.is_special) std::filesystem::rename(destination_.part, destination_.path, error);
  if (error) fail(path_, error.message());
  is_finished_ = true;
}

}  // namespace steelyard
