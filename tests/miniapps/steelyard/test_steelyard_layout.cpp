// The commands that look at the machine: units and layout; what the shell hands over; Fermi's layouts.
#include <fmt/format.h>

#include <map>
#include <set>
#include <thread>

#include "core/unit_plan.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_steelyard_layout {
namespace {

/// A line of the shell, in which `$0` is the program.
Outcome run_in_shell(const std::string& line, const std::filesystem::path& program = steelyard_tool) {
  const TemporaryFolder folder;
  return run(1, "/bin/sh", {"-c", line, program.string()}, folder.path());
}

CoreList cores_in_layout(const Outcome& outcome) {
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  return parse_layout(outcome.out, "printed").entries.at(0).cores.value();
}

/// A row of 001, table 1: nodes of 12 and of 8 cores, processes with 6 to 2 cores, and on GPUs.
struct Row {
  int nodes_of_12, nodes_of_8;
  std::array<int, 5> cores;
  int gpus;
};

const std::vector<Row> table_1{
    {1, 0, {2, 0, 0, 0, 0}, 0},   {2, 0, {3, 1, 0, 0, 0}, 1},    {2, 1, {3, 1, 2, 0, 0}, 1},
    {3, 1, {4, 1, 3, 0, 0}, 3},   {3, 2, {4, 1, 4, 1, 0}, 4},    {3, 3, {4, 1, 5, 1, 1}, 6},
    {4, 3, {6, 1, 5, 1, 1}, 6},   {8, 0, {11, 3, 2, 0, 0}, 7},   {9, 0, {12, 3, 3, 0, 0}, 9},
    {9, 1, {12, 3, 5, 0, 0}, 9},  {9, 2, {12, 3, 6, 1, 0}, 10},  {9, 3, {12, 3, 7, 1, 1}, 12},
    {9, 4, {12, 3, 9, 1, 1}, 12}, {9, 5, {12, 3, 10, 2, 1}, 13}, {9, 6, {12, 3, 11, 2, 2}, 15},
    {9, 7, {12, 3, 13, 2, 2}, 15}};

}  // namespace

TEST_CASE("steelyard units names the units of every rank once, in the layout that is written") {
  const int ranks = GENERATE(1, 2, 3);
  const TemporaryFolder folder;
  const auto printed = [&](const std::string& line) { return good_tool(folder, line, ranks).out; };
  const std::vector<std::string> before = table_rows(printed("units --slowdown rank0=3"));
  const std::string text = printed("layout --slowdown rank0=3");
  CHECK(folder.entries() == 0);
  printed("layout --slowdown rank0=3 --output here.layout");
  CHECK(folder.read("here.layout") == text);
  const std::vector<std::string> after = table_rows(printed("units --layout here.layout"));
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::size_t from = after[i].find("layout");
    REQUIRE(from != std::string::npos);
    // Rank, node, unit, space, cores and slowdown are the same.
    CHECK(after[i].substr(0, from) == before[i].substr(0, from));
  }
  const std::string host = printed("units --units host");
  CHECK(static_cast<int>(table_rows(host).size()) == ranks);
  for (int rank = 0; rank < ranks; ++rank) CHECK(lines_that_start(host, std::to_string(rank) + " ") == 1);
}

TEST_CASE("A layout like another one has its units and slowdowns, rank by rank, on the hosts and cores here") {
  const TemporaryFolder folder;
  folder.write("other.layout",
               "# Two nodes that are not here\n"
               "fat-0  0 0-5   host        slowdown=8.5\n"
               "fat-0  1 6     device      device=1,slowdown=1\n"
               "thin-0 0 0-30  host+device slowdown=2,host_slowdown=1.5\n");
  good_tool(folder, "layout --like other.layout --output here.layout", 3);
  const Layout layout = read_layout(folder / "here.layout");
  const Layout here = parse_layout(good_tool(folder, "layout", 3).out, "here");
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
}

TEST_CASE("Help and version are printed once, and where standard output cannot be written end with 3 and one line") {
  const TemporaryFolder folder;
  CHECK(lines_that_start(good_tool(folder, "--version", 3).out, "steelyard ") == 1);
  CHECK(lines_that_start(good_tool(folder, "--help", 3).out, "  measure ") == 1);
  for (const std::string line : {"--version", "--help", "partition --list", "layout"}) {
    INFO(line);
    const Outcome outcome = run_in_shell("\"$0\" " + line + " > /dev/full");
    CHECK(outcome.status == 3);
    REQUIRE(outcome.told_by("steelyard").size() == 1);
    CHECK(contains(outcome.err, "standard output"));
  }
  CHECK(run_in_shell("\"$0\" --help > /dev/full", built("jacobi")).status == 3);
  CHECK(run_in_shell("\"$0\" --nonsense > /dev/full").status == 2);
}

TEST_CASE("A program uses the cores that it is bound to, and fewer threads where the shell's variables say so") {
  if (std::thread::hardware_concurrency() < 2) SKIP("this machine has one core");
  const std::string layout = " \"$0\" layout --units host";
  const Outcome bound = run_in_shell("taskset -c 1" + layout);
  if (bound.status != 127) {
    CHECK(cores_in_layout(bound).size() == 1);
    CHECK(cores_in_layout(bound) != cores_in_layout(run_in_shell(layout)));
  }
  for (const std::string variable : {"OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"}) {
    const Outcome one = run_in_shell(variable + "=1" + layout);
    CHECK(cores_in_layout(one).size() == 1);
    CHECK(one.err.empty());
    const Outcome many = run_in_shell(variable + "=9999" + layout);
    CHECK(many.status == 0);
    REQUIRE(many.told_by("steelyard").size() == 1);
    CHECK(contains(many.err, variable + " asks for 9999 threads"));
    const Outcome wrong = run_in_shell(variable + "=few" + layout);
    CHECK(wrong.status == 2);
    CHECK(contains(wrong.err, variable + " is \"few\""));
    const std::string steps = "=1 \"$0\" --size 16 --steps 1 --units host --partition dynamic";
    const Outcome kokkos = run_in_shell(variable + steps, built("jacobi"));
    CHECK(kokkos.status == 0);
    CHECK(kokkos.err.empty());
  }
  // OpenMP binds its first thread by these; a program that is restarted for its BLAS must not keep to that core.
  CHECK(cores_in_layout(run_in_shell("OMP_PROC_BIND=spread OMP_PLACES=threads" + layout)) ==
        cores_in_layout(run_in_shell(layout)));
  // Kokkos' own options.
  CHECK(cores_in_layout(run_in_shell(layout + " --kokkos-num-threads=1")).size() == 1);
  const std::string run = "\"$0\" --size 16 --steps 1 --units host --partition even --kokkos-";
  CHECK(contains(run_in_shell(run + "print-configuration", built("jacobi")).out, "Kokkos Version"));
  const Outcome unknown = run_in_shell(run + "nonsense=1", built("jacobi"));
  CHECK(unknown.status == 2);
  CHECK(contains(unknown.err, "--kokkos-nonsense=1 (expected "));
}

TEST_CASE("Fermi's layouts have the processes of table 1 (001), each unit on cores of its own") {
  for (std::size_t number = 1; number <= table_1.size(); ++number) {
    INFO("M" << number);
    const Row& row = table_1[number - 1];
    const Outcome written =
        run_in_shell(fmt::format("python3 -B \"$0\" M{}", number), built("../tests/miniapps/fermi.py"));
    const Layout layout = parse_layout(written.out, "fermi.py");
    std::map<std::string, std::set<int>> cores_of_host;
    std::set<std::pair<std::string, std::string>> devices;
    std::array<int, 5> processes{};
    for (const LayoutEntry& entry : layout.entries) {
      const CoreList cores = entry.cores.value();
      for (const int core : cores) CHECK(cores_of_host[entry.host_name].insert(core).second);
      if (entry.units == UnitChoice::device) {
        CHECK(cores.size() == 1);
        CHECK(devices.emplace(entry.host_name, entry.suboptions.at("device")).second);
        CHECK(unit_slowdowns(entry).companion == 1.0);
        continue;
      }
      REQUIRE((cores.size() >= 2 && cores.size() <= 6));
      ++processes[6 - cores.size()];
      const bool has_12 = entry.host_name.starts_with("e5649");
      const double gflops = static_cast<double>(cores.size()) * (has_12 ? 2.53 : 2.27) * 4.0;
      CHECK_THAT(unit_slowdowns(entry).host, WithinRel(515.0 / gflops, 1e-4));
      const int socket = has_12 ? 6 : 4;
      CHECK(cores.front() / socket == cores.back() / socket);
    }
    CHECK(processes == row.cores);
    CHECK(devices.size() == static_cast<std::size_t>(row.gpus));
    std::map<std::size_t, int> nodes;  // by their cores
    for (const auto& [host, cores] : cores_of_host) ++nodes[cores.size()];
    CHECK((nodes[12] == row.nodes_of_12 && nodes[8] == row.nodes_of_8));
  }
}

}  // namespace steelyard::tests::test_steelyard_layout
