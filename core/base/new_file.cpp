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

NewFile::NewFile(std::filesystem::path path) : path_(std::move(path)), part_(temporary_name(path_)) {
  std::error_code error;
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), error);
  if (error) {
    throw RuntimeFailure(fmt::format("{}: folder cannot be made: {}", path_.parent_path().string(), error.message()));
  }
  stream_.open(part_, std::ios::binary | std::ios::trunc);
  if (!stream_) fail(path_, std::strerror(errno));
}

NewFile::~NewFile() {
  if (part_.empty()) return;
  stream_.close();
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

void NewFile::write(std::string_view bytes) {
  if (part_.empty()) throw InvalidArgument(fmt::format("{}: written to after it was finished", path_.string()));
  stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream_) fail(path_, std::strerror(errno));
}

void NewFile::finish() {
  if (part_.empty()) throw InvalidArgument(fmt::format("{}: finished twice", path_.string()));
  stream_.close();
  if (!stream_) fail(path_, std::strerror(errno));
  std::error_code error;
  std::filesystem::rename(part_, path_, error);
  if (error) fail(path_, error.message());
  part_.clear();
}

}  // namespace steelyard
