#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "tests/miniapps/app_runs.hpp"

// What programs do with that which the shell hands over: standard output, cores and variables.
namespace steelyard::test_steelyard_shell {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::tests;

namespace {

/// A line of the shell, in which `$0` is the program.
Outcome run_in_shell(const std::string& line, const std::filesystem::path& program) {
  const TemporaryFolder folder;
  return run(1, "/bin/sh", {"-c", line, program.string()}, folder.path());
}

/// The cores of the host unit that `steelyard layout` writes, its third word.
std::string cores_in_layout(const Outcome& outcome) {
  REQUIRE(outcome.status == 0);
  std::istringstream words(lines_of(outcome.out).at(1));
  std::string host, rank, cores;
  words >> host >> rank >> cores;
  return cores;
}

}  // namespace

TEST_CASE("A program whose standard output cannot be written ends with exit code 3 and one line") {
  for (const char* line : {"\"$0\" --version > /dev/full", "\"$0\" --help > /dev/full",
                           "\"$0\" partition --list > /dev/full", "\"$0\" layout > /dev/full"}) {
    INFO(line);
    const Outcome outcome = run_in_shell(line, steelyard_tool);
    CHECK(outcome.status == 3);
    CHECK(outcome.told_by("steelyard").size() == 1);
    CHECK_THAT(outcome.err, ContainsSubstring("standard output"));
  }
  CHECK(run_in_shell("\"$0\" --help > /dev/full", STEELYARD_JACOBI).status == 3);
  CHECK(run_in_shell("\"$0\" --nonsense > /dev/full", steelyard_tool).status == 2);
}

TEST_CASE("The cores that a program is bound to are those that it uses, be it one alone") {
  if (std::thread::hardware_concurrency() < 2) SKIP("this machine has one core");
  const Outcome one = run_in_shell("taskset -c 1 \"$0\" layout --units host", steelyard_tool);
  if (one.status == 127) SKIP("no taskset here");
  const Outcome all = run_in_shell("\"$0\" layout --units host", steelyard_tool);
  CHECK(cores_in_layout(one) != cores_in_layout(all));
  CHECK(cores_in_layout(one).find_first_of("-,") == std::string::npos);
}

TEST_CASE("Fewer threads than cores are used where OMP_NUM_THREADS or KOKKOS_NUM_THREADS says so; more are told of") {
  for (const char* variable : {"OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"}) {
    const std::string set = variable;
    const Outcome one = run_in_shell(set + "=1 \"$0\" layout --units host", steelyard_tool);
    CHECK(cores_in_layout(one).find_first_of("-,") == std::string::npos);
    CHECK(one.err.empty());
    const Outcome many = run_in_shell(set + "=9999 \"$0\" layout --units host", steelyard_tool);
    CHECK(many.status == 0);
    CHECK(many.told_by("steelyard").size() == 1);
    CHECK_THAT(many.err, ContainsSubstring(set + " asks for 9999 threads"));
    const Outcome wrong = run_in_shell(set + "=few \"$0\" layout", steelyard_tool);
    CHECK(wrong.status == 2);
    CHECK_THAT(wrong.err, ContainsSubstring(set + " is \"few\""));
    const std::string short_run =
        " \"$0\" --size 16 --steps 1 --repetitions 1 --warmups 0 --units host --partition dynamic";
    const Outcome kokkos = run_in_shell(set + "=1" + short_run, STEELYARD_JACOBI);
    CHECK(kokkos.status == 0);
    CHECK(kokkos.err.empty());
  }
}

}  // namespace steelyard::test_steelyard_shell
