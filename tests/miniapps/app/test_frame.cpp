#include <numeric>
#include <optional>

#include "comm/measurement/channel_measurement.hpp"
#include "core/base/npy.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/outputs.hpp"
#include "models/communication/platform.hpp"
#include "tests/catch.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/synthetic_kernel.hpp"
#include "tests/miniapps/app/collective_error.hpp"
#include "tests/miniapps/app/shared_folder.hpp"

namespace steelyard::test_frame {

using namespace steelyard::tests;
using models::Channel;
using models::Platform;

namespace {

/// Whether some node has fewer cores than ranks.
bool is_crowded() {
  const std::vector<NodeFacts> facts = gather_node_facts(session());
  const std::vector<int>& nodes = session().nodes().node_of_rank;
  for (std::size_t node = 0; node < facts.size(); ++node) {
    if (std::count(nodes.begin(), nodes.end(), static_cast<int>(node)) > facts[node].cores) return true;
  }
  return false;
}

/// All seconds that a platform knows of.
std::vector<double> seconds_of(const Platform& platform) {
  std::vector<double> seconds;
  for (const Channel& channel : platform.channels) {
    for (const double bytes : {0.0, 1.0, 1e3, 1e5, 1e7}) seconds.push_back(channel.time_s(bytes));
  }
  return seconds;
}

void check_placement(const models::Placement& placement) {
  CHECK(placement.processes() == session().size());
  for (int rank = 1; rank < session().size(); ++rank) CHECK_NOTHROW(placement.channel(0, rank));
}

}  // namespace

TEST_CASE("a region takes as long as its slowest rank, says the same everywhere and does not count who comes late") {
  const auto fail = [] { throw RuntimeFailure("no"); };
  CHECK_THROWS_AS(timed_region(session(), "steelyard::test::failing", fail), RuntimeFailure);
  rest(session().is_root() ? 0.3 : 0.0);
  int runs = 0;
  const double start_s = now_s();
  const double seconds = timed_region(session(), "steelyard::test::region", [&] {
    rest(1e-3 * (session().rank() + 1));
    ++runs;
  });
  CHECK(runs == 1);
  CHECK(seconds >= 1e-3 * session().size());
  // Rank 0 was the last to come, so nobody's region began before this.
  if (session().is_root()) CHECK(seconds <= now_s() - start_s + 1e-2);
  CHECK(same_on_all_ranks({seconds}));
}

TEST_CASE("the shares of all ranks are what was said of the slots, and nothing for units that a rank does not drive") {
  // Ranks drive all units that there are, a host unit and a companion, in turns.
  RankUnits units = started_units();
  if (session().rank() % 3 == 1) units.companion.reset();
  if (session().rank() % 3 == 2 && units.companion) units.host.reset();
  const RunOptions options;
  Frame frame(session(), options, units, "test");
  std::vector<std::int64_t> slices;
  for (std::size_t i = 0; i < frame.slots().size(); ++i) slices.push_back(7 + 3 * static_cast<std::int64_t>(i));
  const UnitSizes mine = frame.own_share(slices);
  CHECK((mine.host > 0) == units.host.has_value());
  CHECK((mine.companion > 0) == units.companion.has_value());
  const std::vector<double> back =
      frame.gather_seconds({static_cast<double>(mine.host), static_cast<double>(mine.companion)});
  CHECK(back == std::vector<double>(slices.begin(), slices.end()));
  const double seconds = frame.start_s();
  CHECK(seconds > 0.0);
  CHECK(same_on_all_ranks({seconds}));
}

TEST_CASE("a dynamic run starts evenly, and its slices go where their own seconds ask for, the same on all ranks") {
  RunOptions options;
  options.partition = "dynamic";
  Frame frame(session(), options, started_units(), "test");
  Plan plan = frame.even_plan(1000);
  const auto [least, most] = std::minmax_element(plan.distribution.begin(), plan.distribution.end());
  CHECK(*most - *least <= 1);
  StepBalancer balancer = frame.balancer(plan.distribution);
  CHECK(balancer.units() == plan.distribution);
  // Units of rank 0 are three times as slow as all others.
  const double unit_s = session().is_root() ? 3e-6 : 1e-6;
  int changes = 0;
  for (int step = 0; step < 50; ++step) {
    const UnitSizes mine = frame.own_share(balancer.units());
    const UnitSeconds seconds{unit_s * static_cast<double>(mine.host), unit_s * static_cast<double>(mine.companion)};
    changes += balancer.record(seconds, 50.0 - step) ? 1 : 0;
  }
  Outcome outcome;
  balancer.sum_up(outcome, plan);
  CHECK(outcome.figures.at("repartitions") == changes);
  CHECK(std::accumulate(plan.distribution.begin(), plan.distribution.end(), std::int64_t{0}) == 1000);
  CHECK(same_on_all_ranks(std::vector<double>(plan.distribution.begin(), plan.distribution.end())));
  CHECK((changes > 0) == (session().size() > 1));
  for (std::size_t i = 0; i < frame.slots().size() && session().size() > 1; ++i) {
    const auto expected = static_cast<double>(plan.distribution.back()) / (frame.slots()[i].rank == 0 ? 3.0 : 1.0);
    CHECK(std::abs(static_cast<double>(plan.distribution[i]) - expected) <= 0.05 * expected + 1.0);
  }
}

TEST_CASE("a check is as wrong as its worst rank and repetition, on every rank, and what is no number is wrong") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double worst : {3e-3, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    for (int rank = 0; rank < session().size(); ++rank) {
      for (int failing = 0; failing < 3; ++failing) {
        CheckResult check, generous;
        for (int repetition = 0; repetition < 3; ++repetition) {
          const double error = session().rank() == rank && repetition == failing ? worst : 1e-3;
          add_check(session(), check, {error, 2e-3, "a reference"});
          add_check(session(), generous, {error, 3e-3, "a reference"});
          CHECK(check.passed == (repetition < failing));
          CHECK(exit_code(check) == (check.passed ? ExitCode::good : ExitCode::check_failed));
        }
        CHECK(check.error == (worst == 3e-3 ? worst : infinity));
        CHECK(generous.passed == (worst == 3e-3));
        CHECK(check_line(check).find("FAILED") != std::string::npos);
      }
    }
  }
}

TEST_CASE("channels are those of the file where there is one, or everyone's error; nothing is measured then") {
  const SharedFolder folder;
  const auto path = folder / "some.platform.json", bad = folder / "bad.platform.json";
  Platform written;
  for (const int id : {0, 1}) {
    Channel& channel = written.channels.emplace_back();
    channel.id = id;
    channel.path = {id};
    if (id == 1) channel.scope = Channel::Scope::network;
    channel.hockney = {{std::numeric_limits<double>::infinity(), {1e-6 * (1 + id), 2e9}}};
  }
  on_root(session().comm(), [&] {
    models::write_platform_file(path, written);
    std::filesystem::copy_file(path, bad);
    std::filesystem::resize_file(bad, 20);
  });
  RunOptions options;
  options.platform = path;
  Frame frame(session(), options, started_units(), "test");
  const std::optional<Channels> channels = frame.channels({});
  CHECK_FALSE(frame.record().figures.contains("channel_time_s"));
  CHECK(channels.has_value());
  if (channels) {
    CHECK(seconds_of(channels->platform) == seconds_of(written));
    check_placement(channels->placement);
  }
  for (const auto& wrong : {folder / "missing.platform.json", bad}) {
    options.platform = wrong;
    const std::optional<CollectiveError> error = collective_error([&] { frame.channels({}); });
    CHECK(error.has_value());
    if (!error) continue;
    CHECK(error->code() == ExitCode::wrong_input);
    CHECK_THAT(error->what(), ContainsSubstring(wrong.filename().string()));
  }
}

TEST_CASE("channels are measured of ranks with cores of their own, the same on all; a single rank has none") {
  const RunOptions options;
  Frame frame(session(), options, started_units(), "test");
  const bool is_alone = session().size() == 1;
  if (is_alone || is_crowded()) {
    const std::optional<Channels> channels = frame.channels({1e3, 1e6, 1e7});
    CHECK(channels.has_value() == is_alone);
    if (channels) CHECK(channels->platform.channels.empty());
    CHECK_FALSE(frame.record().figures.contains("channel_time_s"));
    return;
  }
  for (const MessageFacts& message : {MessageFacts{1e3, 1e3, 0.0}, MessageFacts{5e4, 2e5, 1e6}}) {
    std::optional<Channels> channels;
    // What a busy machine measures may look like nothing that a channel does, but not every time.
    CHECK(eventually([&] {
      channels = frame.channels(message);
      return channels.has_value();
    }));
    if (!channels) continue;
    std::vector<double> seconds = seconds_of(channels->platform);
    CHECK_FALSE(seconds.empty());
    seconds.push_back(frame.record().figures.at("channel_time_s"));
    CAPTURE(seconds, message.largest_bytes, message.footprint_bytes);
    CHECK(std::all_of(seconds.begin(), seconds.end(), [](double time_s) { return time_s > 0.0; }));
    CHECK(same_on_all_ranks(seconds));
    check_placement(channels->placement);
  }
}

TEST_CASE("a rank that fails is everyone's error, and a file that was there stays as it was") {
  const SharedFolder folder;
  const auto write = [&](const char* name, int failing, std::int64_t first_column = 0) {
    write_matrix<double>(session(), folder / name, 8, 3, [&](const BlockSink<double>& sink) {
      const std::vector<double> row{1.0, 2.0, 3.0};
      for (int i = session().rank(); i < 8; i += session().size()) sink(i, 0, 3, row);
      if (session().rank() != failing) return;
      if (first_column > 0) sink(0, first_column, 3, row);
      throw RuntimeFailure("cannot be read back");
    });
  };
  write("good.npy", -1);
  for (int failing = 0; failing < session().size(); ++failing) {
    for (const char* name : {"good.npy", "new.npy"}) {
      for (const std::int64_t first_column : {0, 1}) {
        const auto error = collective_error([&] { write(name, failing, first_column); });
        CHECK(error.has_value());
        if (error) CHECK(error->teller() == failing);
        // A block that is not inside the matrix is refused before anything else is wrong.
        if (error) CHECK((error->code() == ExitCode::wrong_input) == (first_column > 0));
        CHECK(folder.entries() == 1);
        CHECK(read_npy_matrix_header<double>(folder / "good.npy").shape.front() == 8);
      }
    }
  }
  CHECK(collective_error([&] { write("good.npy/below", -1); }).has_value());
  CHECK(folder.entries() == 1);
}

TEST_CASE("the table of units says what each is, gets and takes, and is refused without one of each") {
  RunRecord record;
  record.units = {
      {0, "host", "OpenMP", "0-3", 1.0}, {0, "device", "Serial", "4", 2.5}, {1, "host", "OpenMP", "5", 1.0}};
  record.distribution = {60, 30, 10};
  const std::vector<double> predicted{1e-3, 2e-3, 0.0}, measured{1e-3, 6e-3, 3e-3}, two(2, 1.0);
  const UnitHeadings headings{"blocks", "/step", {{"rectangle", {"7 x 5", "2 x 5", "9 x 1"}}}};
  const std::string table = unit_table(record, headings, predicted, measured);
  for (const char* text : {"2.5 (emulated)", "7 x 5", "30.0 %", "2.00 ms", "6.00 ms", "mu 3.00"}) {
    CHECK_THAT(table, ContainsSubstring(text));
  }
  // The difference from no prediction.
  CHECK_THAT(table, !ContainsSubstring("200.0 %") && !ContainsSubstring("mu inf"));
  CHECK_THROWS_AS(unit_table(record, headings, two), InvalidArgument);
  CHECK_THROWS_AS(unit_table(record, headings, predicted, two), InvalidArgument);
  CHECK_THROWS_AS(unit_table(record, {"rows", "", {{"at", {"(0, 0)"}}}}, predicted), InvalidArgument);
  record.distribution = {0, 0, 0};
  CHECK_THAT(unit_table(record, headings, predicted), !ContainsSubstring("nan") && !ContainsSubstring("measured"));
}

}  // namespace steelyard::test_frame
