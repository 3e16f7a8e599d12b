#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

namespace steelyard::tests {

/// A device node like /dev/null under another name. @return whether this user may make one
inline bool make_null_device(const std::filesystem::path& path) {
  if (::mknod(path.c_str(), S_IFCHR | 0666, ::makedev(1, 3)) != 0) return false;
  const int file = ::open(path.c_str(), O_WRONLY);  // refused on file systems that are mounted without devices
  if (file >= 0) ::close(file);
  return file >= 0;
}

/// A pipe with a name, both ends of which are open: opening it does not wait for another process.
class NamedPipe {
 public:
  explicit NamedPipe(const std::filesystem::path& path) {
    ::mkfifo(path.c_str(), 0600);
    file_ = ::open(path.c_str(), O_RDWR | O_NONBLOCK);
  }
  ~NamedPipe() { ::close(file_); }
  NamedPipe(const NamedPipe&) = delete;
  NamedPipe& operator=(const NamedPipe&) = delete;

  /// What was written to it, at most 64 KiB.
  std::string read() const {
    std::array<char, 1 << 16> bytes{};
    const ssize_t count = ::read(file_, bytes.data(), bytes.size());
    return {bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }

 private:
  int file_ = -1;
};

}  // namespace steelyard::tests
