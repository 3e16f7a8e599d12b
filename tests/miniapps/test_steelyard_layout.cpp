// The commands that look at the machine: layout and units; and the tool as a whole.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests {
namespace {

/// Lines of the table of units, cell by cell in text.
std::vector<std::string> unit_lines(const std::string& out) {
  std::vector<std::string> lines;
  bool inside = false;
  for (const std::string& line : lines_of(out)) {
    if (inside) lines.push_back(line);
    inside = inside || line.rfind("---", 0) == 0;
  }
  return lines;
}

int lines_of_rank(const std::vector<std::string>& lines, int rank) {
  return static_cast<int>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.rfind(std::to_string(rank) + " ", 0) == 0;
  }));
}

TEST_CASE("steelyard units names the units of every rank once") {
  const int ranks = GENERATE(1, 2, 3);
  const TemporaryFolder folder;
  const Outcome outcome = run(ranks, steelyard_tool, {"units"}, folder.path());
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(outcome.told_by("steelyard").empty());
  CHECK(outcome.out.find("kokkos ") == outcome.out.rfind("kokkos "));
  const std::vector<std::string> lines = unit_lines(outcome.out);
  for (int rank = 0; rank < ranks; ++rank) CHECK(lines_of_rank(lines, rank) >= 1);
  CHECK(folder.entries() == 0);

  const Outcome host = run(ranks, steelyard_tool, {"units", "--units", "host"}, folder.path());
  for (int rank = 0; rank < ranks; ++rank) CHECK(lines_of_rank(unit_lines(host.out), rank) == 1);
  CHECK(host.out.find(" device ") == std::string::npos);
}

TEST_CASE("A layout that steelyard writes is what steelyard units follows") {
  const int ranks = GENERATE(1, 2, 3);
  const TemporaryFolder folder;
  const Outcome plain = run(ranks, steelyard_tool, {"units", "--slowdown", "rank0=3"}, folder.path());
  REQUIRE(run(ranks, steelyard_tool, {"layout", "--slowdown", "rank0=3", "--output", "here.layout"}, folder.path())
              .status == 0);
  const Outcome followed = run(ranks, steelyard_tool, {"units", "--layout", "here.layout"}, folder.path());
  INFO(plain.out << folder.read("here.layout") << followed.out << followed.err);
  REQUIRE(followed.status == 0);
  const std::vector<std::string> before = unit_lines(plain.out);
  const std::vector<std::string> after = unit_lines(followed.out);
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::size_t from = after[i].find("layout");
    REQUIRE(from != std::string::npos);
    // Rank, node, unit, space, cores and slowdown are the same.
    CHECK(after[i].substr(0, from) == before[i].substr(0, from));
  }
}

TEST_CASE("A layout is printed once without a file to write it to") {
  const TemporaryFolder folder;
  const Outcome printed = run(3, steelyard_tool, {"layout", "--units", "host"}, folder.path());
  REQUIRE(printed.status == 0);
  CHECK(folder.entries() == 0);
  const std::vector<std::string> lines = lines_of(printed.out);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].rfind("#hostname", 0) == 0);
  folder.write("pasted.layout", printed.out);
  CHECK(run(3, steelyard_tool, {"units", "--layout", "pasted.layout"}, folder.path()).status == 0);
}

TEST_CASE("A layout that cannot be written ends with exit code 3 and one line") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  folder.write("file", "");
  const Outcome outcome = run(ranks, steelyard_tool, {"layout", "--output", "file/below"}, folder.path());
  CHECK(outcome.status == 3);
  CHECK(outcome.told_by("steelyard").size() == 1);
  CHECK(folder.entries() == 1);
}

TEST_CASE("Commands and options that the tool does not have are refused by name") {
  const TemporaryFolder folder;
  const std::string broken = folder.write("broken.layout", "here 0 0\n");
  expect_refused(steelyard_tool, {{{}, "command is required"},
                                  {{"weigh"}, "weigh"},
                                  {{"units", "--all"}, "--all"},
                                  {{"units", "--units", "gpu"}, "gpu"},
                                  {{"units", "--slowdown", "host=0.5"}, "0.5"},
                                  {{"units", "--layout", folder / "missing"}, "missing"},
                                  {{"units", "--layout", broken}, "broken.layout: line 1"},
                                  {{"layout", "--slowdown", "rank9=2"}, "rank 9"}});
}

TEST_CASE("The tool's help and version are printed once and end well") {
  const TemporaryFolder folder;
  for (const int ranks : {1, 3}) {
    const Outcome version = run(ranks, steelyard_tool, {"--version"}, folder.path());
    CHECK(version.status == 0);
    CHECK(version.out.rfind("steelyard ", 0) == 0);
    CHECK(lines_of(version.out).size() == 1);
    const Outcome help = run(ranks, steelyard_tool, {"--help"}, folder.path());
    CHECK(help.status == 0);
    for (const char* command : {"  units ", "  layout ", "  partition "}) {
      CHECK(help.out.find(command) != std::string::npos);
      CHECK(help.out.find(command) == help.out.rfind(command));
    }
  }
  const Outcome partition = run(1, steelyard_tool, {"partition", "--help"}, folder.path());
  CHECK(partition.status == 0);
  CHECK(partition.out.find("--algorithm") != std::string::npos);
}

}  // namespace
}  // namespace steelyard::tests
