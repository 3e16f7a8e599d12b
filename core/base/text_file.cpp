#include "core/base/text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "core/base/errors.hpp"

namespace steelyard {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& reason) {
  throw RuntimeFailure(fmt::format("{}: cannot be written: {}", path.string(), reason));
}

/// A file that is open for reading, without waiting for the other end of a pipe.
struct OpenFile {
  explicit OpenFile(const std::filesystem::path& path)
      : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor >= 0) return;
    throw FileFormatError(path.string(), "", fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  ~OpenFile() { ::close(descriptor); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor;
};

}  // namespace

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
  part = is_special ? path : path.parent_path() / fmt::format(".{}.{}.part", path.filename().string(), ::getpid());
}

void Destination::publish() const {
  std::error_code error;
  if (!is_special) std::filesystem::rename(part, path, error);
  if (error) fail(path, error.message());
}

void Destination::discard() const noexcept {
  std::error_code ignored;
  if (!is_special) std::filesystem::remove(part, ignored);
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
  stream_.close();
  if (!is_finished_) destination_.discard();
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
  destination_.publish();
  is_finished_ = true;
}

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
  const bool is_pipe = std::filesystem::is_fifo(path, ignored);
  const OpenFile file(path);
  std::string text;
  std::array<char, 1 << 16> chunk;
  while (true) {
    const ssize_t count = ::read(file.descriptor, chunk.data(), chunk.size());
    if (count > 0) text.append(chunk.data(), static_cast<std::size_t>(count));
    if (count > 0 || (count < 0 && errno == EINTR)) continue;
    const bool has_writer = count < 0 && errno == EAGAIN;
    if (count < 0 && !has_writer) throw FileFormatError(path.string(), "", "cannot be read to its end");
    if (!has_writer && (!is_pipe || !text.empty())) return text;
    constexpr int most_ms = 5000, for_ever = -1;
    pollfd wait{file.descriptor, POLLIN, 0};
    if (::poll(&wait, 1, has_writer ? for_ever : most_ms) == 0) {
      throw FileFormatError(path.string(), "", "nothing writes to this pipe (expected a file)");
    }
    if (!has_writer && (wait.revents & POLLIN) == 0) return text;
  }
}

std::ifstream open_binary_file(const std::filesystem::path& path, const char* kind) {
  const auto fail = [&](const std::string& problem) { throw FileFormatError(path.string(), "", problem); };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail(fmt::format("is a folder (expected a {})", kind));
  if (std::filesystem::is_other(path, ignored)) fail(fmt::format("is a pipe or a device (expected a {})", kind));
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(fmt::format("cannot be opened: {}", std::strerror(errno)));
  return file;
}

void require_writable(const std::filesystem::path& path) {
  std::error_code ignored;
  const Destination destination(path);
  for (const std::filesystem::path& name : destination.part) {
    if (name.string().size() > NAME_MAX) fail(excerpt(path.string()), "a name is too long");
  }
  if (destination.is_special) {
    if (::access(path.c_str(), W_OK) != 0) fail(path, std::strerror(errno));
    return;
  }
  std::filesystem::path folder = std::filesystem::absolute(destination.path).parent_path();
  while (!std::filesystem::exists(folder, ignored) && folder != folder.root_path()) folder = folder.parent_path();
  if (!std::filesystem::is_directory(folder, ignored) || ::access(folder.c_str(), W_OK) != 0) {
    fail(path, folder.string() + " is not a folder that this user may write to");
  }
  if (std::filesystem::is_directory(path, ignored) || path.filename().empty()) fail(path, "is a folder");
}

void write_text_file(const std::filesystem::path& path, const std::string& text) {
  NewFile file(path);
  file.write(text);
  file.finish();
}

}  // namespace steelyard
