#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"
#include "tests/base/full_disk.hpp"
#include "tests/base/special_files.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::test_new_file {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using tests::failure_on_full_disk;
using tests::make_null_device;
using tests::NamedPipe;
using tests::TemporaryFolder;

TEST_CASE("the temporary name is in the same folder and differs from the name itself") {
  const std::filesystem::path path = "some/folder/data.json";
  const std::filesystem::path part = temporary_name(path);
  CHECK(part.parent_path() == path.parent_path());
  CHECK(part.filename() != path.filename());
  CHECK(temporary_name(path) == part);
  CHECK(temporary_name("some/folder/other.json") != part);
  CHECK(temporary_name("bare").parent_path().empty());
}

TEST_CASE("pieces stand one after the other, whatever bytes they have") {
  const TemporaryFolder folder;
  std::string expected;
  NewFile file(folder.path() / "a" / "b" / "file");
  for (int i = 0; i < 3000; ++i) {
    const std::string piece(static_cast<std::size_t>(i % 17), static_cast<char>(i));
    file.write(piece);
    expected += piece;
  }
  file.finish();
  CHECK(folder.read("a/b/file") == expected);
  CHECK(folder.entries() == 3);
}

TEST_CASE("a new file has its name only when it is finished, and the file before it stays until then") {
  const TemporaryFolder folder;
  folder.write("file", "before");
  NewFile file(folder / "file");
  file.write("after");
  CHECK(folder.read("file") == "before");
  CHECK(folder.entries() == 2);
  file.finish();
  CHECK(folder.read("file") == "after");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a new file that is not finished leaves nothing and changes nothing") {
  const TemporaryFolder folder;
  folder.write("file", "before");
  { const NewFile untouched(folder / "file"); }
  {
    NewFile half(folder / "file");
    half.write(std::string(100000, 'x'));
  }
  CHECK(folder.read("file") == "before");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a finished file takes nothing more and stays as it is") {
  const TemporaryFolder folder;
  {
    NewFile file(folder / "file");
    file.write("text");
    file.finish();
    CHECK_THROWS_MATCHES(file.write("more"), InvalidArgument,
                         MessageMatches(ContainsSubstring((folder / "file").string())));
    CHECK_THROWS_MATCHES(file.finish(), InvalidArgument, MessageMatches(ContainsSubstring((folder / "file").string())));
  }
  CHECK(folder.read("file") == "text");
}

TEST_CASE("a file where none can be made is refused with its name and leaves nothing") {
  const TemporaryFolder folder;
  folder.write("file", "text");
  CHECK_THROWS_MATCHES(NewFile(folder.path() / "file" / "below"), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "file").string())));
  CHECK_THROWS_MATCHES(NewFile(folder / std::string(300, 'x')), RuntimeFailure,
                       MessageMatches(ContainsSubstring("cannot be written: File name too long")));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a folder's name is not taken and nothing is left beside it") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "taken" / "inner");
  {
    NewFile file(folder / "taken");
    CHECK_THROWS_MATCHES(file.finish(), RuntimeFailure, MessageMatches(ContainsSubstring((folder / "taken").string())));
  }
  CHECK(folder.entries() == 2);
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
    NewFile file(folder / link);
    file.write("after");
    file.finish();
    CHECK(std::filesystem::is_symlink(folder / link));
  }
  CHECK(std::filesystem::is_symlink(folder / "to_old"));
  CHECK(folder.read("there/old") == "after");
  CHECK(folder.read("there/new") == "after");
  CHECK(folder.entries() == 7);
}

TEST_CASE("a device is written to, whole or in part, and stays what it is, and nothing is left beside it") {
  const TemporaryFolder folder;
  if (!make_null_device(folder / "null")) SKIP("this user may make no device");
  std::filesystem::create_symlink("null", folder / "link");
  for (const char* name : {"null", "link"}) {
    { NewFile(folder / name).write("part"); }
    NewFile file(folder / name);
    file.write("whole");
    file.finish();
    CHECK_THROWS_AS(file.write("more"), InvalidArgument);
  }
  CHECK(std::filesystem::is_character_file(folder / "null"));
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(folder.entries() == 2);
}

TEST_CASE("a pipe gets the bytes and stays") {
  const TemporaryFolder folder;
  const NamedPipe pipe(folder / "pipe");
  NewFile file(folder / "pipe");
  file.write("text");
  file.finish();
  CHECK(pipe.read() == "text");
  CHECK(std::filesystem::is_fifo(folder / "pipe"));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a disk without room is told with the file and the reason, and nothing is left on it") {
  const TemporaryFolder folder;
  folder.write("file", "before");
  for (const std::size_t size : {5000U, 100U * 1000U, 10U * 1000U * 1000U}) {
    const std::string failure = failure_on_full_disk<RuntimeFailure>(4096, [&] {
      NewFile file(folder / "file");
      for (std::size_t at = 0; at < size; at += 1000) file.write(std::string(1000, 'x'));
      file.finish();
    });
    CHECK_THAT(failure, ContainsSubstring((folder / "file").string() + ": cannot be written: File too large"));
    CHECK(folder.read("file") == "before");
    CHECK(folder.entries() == 1);
  }
}

TEST_CASE("who writes much learns of a disk without room long before the end") {
  const TemporaryFolder folder;
  int written = 0;
  const std::string failure = failure_on_full_disk<RuntimeFailure>(100000, [&] {
    NewFile file(folder / "file");
    for (; written < 100000; ++written) file.write(std::string(1000, 'x'));
  });
  CHECK_FALSE(failure.empty());
  CHECK(written < 200);
}

}  // namespace steelyard::test_new_file
