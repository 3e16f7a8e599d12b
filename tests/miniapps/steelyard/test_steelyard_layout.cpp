// The commands that look at the machine: layout and units; and the tool as a whole.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "core/unit_plan.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_steelyard_layout {
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
  const Outcome outcome = good_run(ranks, steelyard_tool, {"units"}, folder.path());
  INFO(outcome.out << outcome.err);
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
  const Outcome followed = good_run(ranks, steelyard_tool, {"units", "--layout", "here.layout"}, folder.path());
  INFO(plain.out << folder.read("here.layout") << followed.out << followed.err);
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
  const Outcome printed = good_run(3, steelyard_tool, {"layout", "--units", "host"}, folder.path());
  CHECK(folder.entries() == 0);
  const std::vector<std::string> lines = lines_of(printed.out);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].rfind("#hostname", 0) == 0);
  folder.write("pasted.layout", printed.out);
  CHECK(run(3, steelyard_tool, {"units", "--layout", "pasted.layout"}, folder.path()).status == 0);
}

TEST_CASE("A layout like another one has its units and slowdowns, rank by rank, on the hosts and cores here") {
  const TemporaryFolder folder;
  const std::string other = folder.write("other.layout",
                                         "# Two nodes that are not here\n"
                                         "fat-0  0 0-5   host        slowdown=8.5\n"
                                         "fat-0  1 6     device      device=1,slowdown=1\n"
                                         "thin-0 0 0-30  host+device slowdown=2,host_slowdown=1.5\n");
  const Outcome like =
      good_run(3, steelyard_tool, {"layout", "--like", other, "--output", "here.layout"}, folder.path());
  INFO(like.err);
  const Layout layout = read_layout(folder / "here.layout");
  const Layout here = parse_layout(run(3, steelyard_tool, {"layout"}, folder.path()).out, "here");
  REQUIRE(layout.entries.size() == 3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CHECK(layout.entries[rank].host_name == here.entries[rank].host_name);
    CHECK(layout.entries[rank].rank_on_node == here.entries[rank].rank_on_node);
  }
  CHECK(layout.entries[0].units == UnitChoice::host);
  CHECK(layout.entries[1].units == UnitChoice::device);
  CHECK(layout.entries[2].units == UnitChoice::host_and_device);
  CHECK(unit_slowdowns(layout.entries[0]).host == 8.5);
  CHECK(unit_slowdowns(layout.entries[1]).companion == 1.0);
  CHECK(unit_slowdowns(layout.entries[2]).host == 3.0);
  CHECK(unit_slowdowns(layout.entries[2]).companion == 2.0);
  // It is followed here.
  const Outcome units = run(3, steelyard_tool, {"units", "--layout", "here.layout"}, folder.path());
  CHECK(units.status == 0);
  CHECK(lines_of_rank(unit_lines(units.out), 2) == 2);
}

TEST_CASE("A layout like one for another number of ranks is refused, and one with a line that nobody understands") {
  const TemporaryFolder folder;
  const std::string two = folder.write("two.layout", "a 0 all host slowdown=2\na 1 all host\n");
  expect_refused(steelyard_tool, {{{"layout", "--like", two}, "two.layout has 2 lines for"},
                                  {{"layout", "--like", folder / "missing"}, "missing"},
                                  {{"layout", "--like", two, "--units", "host"}, "--like"}});
  const std::string wrong = folder.write("wrong.layout", "a 0 all host slowness=2\n");
  expect_refused(steelyard_tool, {{{"layout", "--like", wrong}, "slowness"}}, {}, {1});
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
}  // namespace steelyard::tests::test_steelyard_layout
