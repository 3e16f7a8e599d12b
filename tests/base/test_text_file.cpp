#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "core/base/npy.hpp"
#include "core/base/text_file.hpp"
#include "tests/base/full_disk.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_text_file {

using tests::failure_on_full_disk;
using tests::TemporaryFolder;

namespace {

/// A device node like /dev/null under another name. @return whether this user may make one
bool make_null_device(const std::filesystem::path& path) {
  if (::mknod(path.c_str(), S_IFCHR | 0666, ::makedev(1, 3)) != 0) return false;
  const int file = ::open(path.c_str(), O_WRONLY);  // refused on file systems that are mounted without devices
  if (file >= 0) ::close(file);
  return file >= 0;
}

}  // namespace

TEST_CASE("bytes are read back as they were written, at once or in pieces, in folders that are made") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a" / "b" / "file";
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int> byte(0, 255);
  for (const std::size_t size : {0U, 1U, 2U, 100U, 65535U, 65536U, 65537U, 300000U, 7U}) {
    std::string text(size, '\0');
    for (char& letter : text) letter = static_cast<char>(byte(random));
    write_text_file(path, text);
    REQUIRE(folder.read("a/b/file") == text);
    NewFile file(path);
    for (std::size_t at = 0, count = 0; at < size; at += count) {
      count = std::min<std::size_t>(random() % 300, size - at);
      file.write(text.substr(at, count));
    }
    file.finish();
    REQUIRE(read_text_file(path) == text);
    REQUIRE(folder.entries() == 3);
  }
}

TEST_CASE("a file has its name only when it is finished, and what had the name before stays until then") {
  const TemporaryFolder folder;
  folder.write("file", "before");
  { const NewFile untouched(folder / "file"); }
  {
    NewFile half(folder / "file");
    half.write(std::string(100000, 'x'));
  }
  CHECK(folder.read("file") == "before");
  CHECK(folder.entries() == 1);
  std::ifstream reader(folder / "file");
  NewFile file(folder / "file");
  file.write("after");
  CHECK(folder.read("file") == "before");
  file.finish();
  std::string seen;
  reader >> seen;
  CHECK(seen == "before");
  CHECK(folder.read("file") == "after");
  CHECK_THROWS_AS(file.write("more"), InvalidArgument);
  CHECK_THROWS_AS(file.finish(), InvalidArgument);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file is refused with its path where none can be, by who asks before as well, and leaves nothing") {
  const TemporaryFolder folder;
  folder.write("file", "text");
  std::filesystem::create_directories(folder.path() / "taken" / "inner");
  for (const std::filesystem::path& path :
       {folder.path() / "file" / "below", folder / "taken", folder / std::string(300, 'x'),
        folder.path() / std::string(300, 'x') / "file", folder.path() / "new" / ""}) {
    CAPTURE(path);
    CHECK_THROWS_AS(require_writable(path), RuntimeFailure);
    if (path.filename().empty()) continue;
    CHECK_THROWS_MATCHES(write_text_file(path, "x"), RuntimeFailure,
                         MessageMatches(ContainsSubstring((folder / "").string())));
  }
  CHECK_NOTHROW(require_writable(folder.path() / "new" / "deeper" / "file"));
  CHECK_NOTHROW(require_writable(folder / "file"));
  CHECK(folder.entries() == 3);
  CHECK(folder.read("file") == "text");
}

TEST_CASE("a symbolic link stays and what it leads to, over links and folders, gets the bytes") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "there");
  folder.write("there/old", "before");
  std::filesystem::create_symlink("there/old", folder / "to_old");
  std::filesystem::create_symlink("to_old", folder / "to_link");
  std::filesystem::create_symlink(folder / "there" / "new", folder / "to_new");
  std::filesystem::create_symlink("loop", folder / "loop");
  for (const char* link : {"to_link", "to_new"}) {
    write_text_file(folder / link, "after");
    CHECK(std::filesystem::is_symlink(folder / link));
  }
  CHECK(std::filesystem::is_symlink(folder / "to_old"));
  CHECK(folder.read("there/old") == "after");
  CHECK(folder.read("there/new") == "after");
  NpyMatrixFile::create<double>(folder / "to_link", 1, 2).finish();
  CHECK(read_npy_header(folder / "there/old").shape == std::vector<std::int64_t>{1, 2});
  CHECK(folder.entries() == 7);
}

TEST_CASE("a pipe or a device is written to, whole or in part, and stays what it is, and nothing is left beside it") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const int pipe = ::open((folder / "pipe").c_str(), O_RDWR | O_NONBLOCK);  // both ends: writers need not wait
  { NewFile(folder / "pipe").write("part, "); }
  write_text_file(folder / "pipe", "whole");
  std::string bytes(100, '\0');
  const ssize_t count = ::read(pipe, bytes.data(), bytes.size());
  ::close(pipe);
  CHECK(bytes.substr(0, static_cast<std::size_t>(std::max<ssize_t>(count, 0))) == "part, whole");
  CHECK(std::filesystem::is_fifo(folder / "pipe"));
  CHECK(folder.entries() == 1);
  if (!make_null_device(folder / "null")) SKIP("this user may make no device");
  std::filesystem::create_symlink("null", folder / "link");
  for (const char* name : {"null", "link"}) {
    { NewFile(folder / name).write("part"); }
    write_text_file(folder / name, "whole");
    const auto array = NpyMatrixFile::create<double>(folder / name, 1, 2);
    array.write_block<double>(0, 0, 2, std::vector<double>{1.0, 2.0});
    array.finish();
    array.discard();
  }
  CHECK(std::filesystem::is_character_file(folder / "null"));
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(folder.entries() == 3);
}

TEST_CASE("a disk without room is told with the file and the reason, soon, and nothing is left on it") {
  const TemporaryFolder folder;
  folder.write("file", "before");
  for (const std::size_t size : {5000U, 100U * 1000U, 10U * 1000U * 1000U}) {
    std::size_t at = 0;
    const std::string failure = failure_on_full_disk<RuntimeFailure>(4096, [&] {
      NewFile file(folder / "file");
      for (; at < size; at += 1000) file.write(std::string(1000, 'x'));
      file.finish();
    });
    CHECK_THAT(failure, ContainsSubstring((folder / "file").string() + ": cannot be written: File too large"));
    CHECK(at <= 100000);
    CHECK(folder.read("file") == "before");
    CHECK(folder.entries() == 1);
  }
}

TEST_CASE(
    "all that comes through a pipe is read; what is no readable file is refused with its name and not waited for") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const std::string text(200000, 'x');
  std::thread writer([&] { std::ofstream(folder / "pipe") << text; });
  const std::string read = read_text_file(folder / "pipe");
  writer.join();
  CHECK(read == text);
  std::vector<std::pair<std::filesystem::path, const char*>> cases = {
      {folder / "missing", "No such file"}, {folder.path(), "is a folder"}, {folder / "pipe", "nothing writes"}};
  // Opens, but reading address 0 fails.
  if (std::filesystem::exists("/proc/self/mem")) cases.emplace_back("/proc/self/mem", "cannot be read");
  for (const auto& [path, problem] : cases) {
    CHECK_THROWS_MATCHES(read_text_file(path), FileFormatError,
                         MessageMatches(ContainsSubstring(path.string()) && ContainsSubstring(problem)));
  }
}

}  // namespace steelyard::test_text_file
