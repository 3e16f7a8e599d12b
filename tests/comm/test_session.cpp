#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <optional>
#include <set>
#include <string>

#include "comm/collective.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_session {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::tests;

namespace {

std::optional<CollectiveError> error_of_plan(const RunOptions& options) {
  try {
    session().plan_units(options);
  } catch (const CollectiveError& error) {
    return error;
  }
  return std::nullopt;
}

RunOptions with_host_units() {
  RunOptions options;
  options.units = UnitChoice::host;
  return options;
}

/// A line for each rank of this node up to `last`, each on the machine's first core.
std::string layout_text(int last, const std::string& suboptions) {
  const Machine& machine = session().machine();
  std::string text;
  for (int rank = 0; rank <= last; ++rank) {
    text += machine.host_name() + " " + std::to_string(rank) + " " + std::to_string(machine.cores().front()) +
            " host slowdown=" + std::to_string(rank + 1) + suboptions + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a session knows its rank and size, and one rank is the root") {
  int rank = -1, size = -1;
  MPI_Comm_rank(session().comm(), &rank);
  MPI_Comm_size(session().comm(), &size);
  CHECK(session().rank() == rank);
  CHECK(session().size() == size);
  CHECK(session().is_root() == (rank == 0));
  CHECK(all_sum(session().comm(), session().is_root() ? 1.0 : 0.0) == 1.0);
}

TEST_CASE("a session keeps the command line, the program first") {
  CHECK_FALSE(session().arguments().empty());
  if (!session().arguments().empty()) CHECK_THAT(session().arguments()[0], ContainsSubstring("test_comm"));
}

TEST_CASE("the MPI library is named in a few words on one line") {
  const std::string version = Session::mpi_version();
  CHECK(version.find_first_of("0123456789") != std::string::npos);
  CHECK(version.find_first_of(",\n") == std::string::npos);
  char all[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(all, &length);
  CHECK(std::string(all).rfind(version, 0) == 0);
}

TEST_CASE("only the root prints") {
  const TemporaryFolder folder;
  std::fflush(stdout);
  const int kept = ::dup(STDOUT_FILENO);
  const int file = ::open((folder / "stdout").c_str(), O_CREAT | O_WRONLY, 0600);
  ::dup2(file, STDOUT_FILENO);
  session().print("one line\n");
  std::fflush(stdout);
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  ::close(file);
  CHECK(folder.read("stdout") == (session().is_root() ? "one line\n" : ""));
}

TEST_CASE("ranks plan disjoint shares of all cores, or say that they share them") {
  const RankUnits units = session().plan_units(with_host_units());
  CHECK(units.host.has_value());
  CHECK_FALSE(units.companion.has_value());
  if (!units.host || session().nodes().count() > 1) return;
  const CoreList cores = session().machine().cores();
  const bool enough = session().size() <= static_cast<int>(cores.size());
  CHECK(units.oversubscribed == !enough);
  std::set<int> covered;
  std::size_t threads = 0;
  for (const std::string& text : all_gather_text(session().comm(), format_cores(units.host->cores))) {
    for (const int core : parse_cores(text)) {
      covered.insert(core);
      ++threads;
    }
  }
  CHECK(covered == std::set<int>(cores.begin(), cores.end()));
  CHECK((threads == cores.size()) == enough);
}

TEST_CASE("a slowdown of one rank is that rank's alone") {
  RunOptions options = with_host_units();
  const int last = session().size() - 1;
  options.slowdown = {"host=2", "rank" + std::to_string(last) + "=3"};
  const RankUnits units = session().plan_units(options);
  CHECK(units.host->slowdown == (session().rank() == last ? 6.0 : 2.0));
}

TEST_CASE("a slowdown of a rank that is not there is everyone's error") {
  RunOptions options = with_host_units();
  options.slowdown = {"rank" + std::to_string(session().size()) + "=3"};
  const auto error = error_of_plan(options);
  CHECK(error.has_value());
  if (!error) return;
  CHECK(error->code() == ExitCode::wrong_input);
  CHECK_THAT(error->what(), ContainsSubstring("rank " + std::to_string(session().size())) &&
                                ContainsSubstring("below " + std::to_string(session().size())));
}

TEST_CASE("each rank follows its line of the layout") {
  const TemporaryFolder folder;
  RunOptions options;
  options.layout = folder.write("good.layout", layout_text(session().size() - 1, ",threads=1"));
  const RankUnits units = session().plan_units(options);
  CHECK(units.cores_from == "layout");
  CHECK(units.count() == 1);
  CHECK(units.host->cores == CoreList{session().machine().cores().front()});
  CHECK(units.host->slowdown == session().nodes().rank_on_node + 1.0);
  CHECK(units.oversubscribed == (session().nodes().ranks_on_node > 1));
}

TEST_CASE("a layout without a line for some rank is everyone's error, told by the lowest such rank") {
  if (session().nodes().count() > 1) SKIP("ranks on several nodes");
  const TemporaryFolder folder;
  for (int last = 0; last < session().size(); ++last) {
    RunOptions options;
    options.layout = folder.write("short.layout", layout_text(last, ""));
    const auto error = error_of_plan(options);
    CHECK(error.has_value() == (last + 1 < session().size()));
    if (!error) continue;
    CHECK(error->teller() == last + 1);
    CHECK(error->code() == ExitCode::wrong_input);
    CHECK_THAT(error->what(),
               ContainsSubstring("short.layout") && ContainsSubstring("rank " + std::to_string(last + 1)));
  }
}

TEST_CASE("a layout that cannot be read, on whichever ranks, is everyone's error") {
  const TemporaryFolder folder;
  const auto good = folder.write("good.layout", layout_text(session().size() - 1, ""));
  const int last = session().size() - 1;
  RunOptions options;
  options.layout = session().rank() == last ? folder / "missing.layout" : good;
  const auto missing = error_of_plan(options);
  CHECK(missing.has_value());
  if (missing) {
    CHECK(missing->teller() == last);
    CHECK(missing->code() == ExitCode::wrong_input);
    CHECK_THAT(missing->what(), ContainsSubstring("missing.layout"));
  }
  options.layout = folder.write("bad.layout", "one two three\n");
  const auto bad = error_of_plan(options);
  CHECK(bad.has_value());
  if (bad) CHECK_THAT(bad->what(), ContainsSubstring("bad.layout: line 1"));
}

}  // namespace steelyard::test_session
