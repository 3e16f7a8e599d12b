#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "comm/collective.hpp"
#include "comm/measurement/calibration.hpp"
#include "miniapps/app/frame.hpp"
#include "models/communication/platform_file.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/miniapps/app/collective_error.hpp"
#include "tests/miniapps/app/shared_folder.hpp"

namespace steelyard::test_channels {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::tests;
using models::Platform;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What came of asking for a platform.
struct Obtained {
  std::optional<Platform> platform;
  RunRecord record;
  std::string printed;
};

Obtained obtain(const RunOptions& options, const MessageFacts& message = {1e3, 1e5, 0.0}) {
  Obtained obtained;
  const TemporaryFolder folder;
  std::fflush(stdout);
  const int kept = ::dup(STDOUT_FILENO);
  const int file = ::open((folder / "stdout").c_str(), O_CREAT | O_WRONLY, 0600);
  ::dup2(file, STDOUT_FILENO);
  const auto restore = [&] {
    std::fflush(stdout);
    ::dup2(kept, STDOUT_FILENO);
    ::close(kept);
    ::close(file);
  };
  try {
    obtained.platform = obtain_platform(session(), options, message, obtained.record);
  } catch (...) {
    restore();
    throw;
  }
  restore();
  obtained.printed = folder.read("stdout");
  return obtained;
}

/// Whether some node has fewer cores than ranks.
bool is_crowded() {
  const std::vector<NodeFacts> facts = gather_node_facts(session());
  const std::vector<int>& nodes = session().nodes().node_of_rank;
  for (std::size_t node = 0; node < facts.size(); ++node) {
    if (std::count(nodes.begin(), nodes.end(), static_cast<int>(node)) > facts[node].cores) return true;
  }
  return false;
}

Platform platform_of_a_file() {
  Platform platform;
  models::Channel memory, network;
  memory.name = "as in the file";
  memory.path = {0};
  memory.hockney = {{infinity, {1e-6, 2e9}}};
  network = memory;
  network.id = 1;
  network.scope = models::Channel::Scope::network;
  network.path = {1};
  network.hockney = {{infinity, {5e-5, 1e8}}};
  platform.channels = {memory, network};
  return platform;
}

/// All seconds that a platform knows of.
std::vector<double> seconds_of(const Platform& platform) {
  std::vector<double> seconds;
  for (const models::Channel& channel : platform.channels) {
    for (const double bytes : {0.0, 1.0, 1e3, 1e5, 1e7}) seconds.push_back(channel.time_s(bytes));
  }
  return seconds;
}

}  // namespace

TEST_CASE("a single rank has no channels: nothing is measured, printed or kept") {
  if (session().size() > 1) return;
  for (const double footprint_bytes : {0.0, 1e7}) {
    const Obtained obtained = obtain({}, {1e3, 1e6, footprint_bytes});
    CHECK_FALSE(obtained.platform.has_value());
    CHECK(obtained.printed.empty());
    CHECK(obtained.record.figures.empty());
  }
}

TEST_CASE("channels are those of the file where there is one, for any number of ranks, and nothing is measured") {
  const SharedFolder folder;
  const auto path = folder / "some.platform.json";
  const Platform written = platform_of_a_file();
  on_root(session().comm(), [&] { models::write_platform_file(path, written); });
  RunOptions options;
  options.platform = path;
  const Obtained obtained = obtain(options);
  CHECK(obtained.printed.empty());
  CHECK(obtained.record.figures.empty());
  CHECK(obtained.platform.has_value());
  if (!obtained.platform) return;
  CHECK(obtained.platform->channels.size() == 2);
  CHECK(obtained.platform->channel(0).name == "as in the file");
  CHECK(seconds_of(*obtained.platform) == seconds_of(written));
  const models::Placement placement = place_ranks(session(), *obtained.platform);
  CHECK(placement.processes() == session().size());
  for (int rank = 1; rank < session().size(); ++rank) CHECK_NOTHROW(placement.channel(0, rank));
}

TEST_CASE("a file that is missing or none is everyone's error, with its name") {
  const SharedFolder folder;
  const auto bad = folder / "bad.platform.json";
  on_root(session().comm(), [&] { models::write_platform_file(folder / "good.platform.json", platform_of_a_file()); });
  on_root(session().comm(), [&] { std::filesystem::copy_file(folder / "good.platform.json", bad); });
  on_root(session().comm(), [&] { std::filesystem::resize_file(bad, 20); });
  for (const auto& path : {folder / "missing.platform.json", bad}) {
    RunOptions options;
    options.platform = path;
    const std::optional<CollectiveError> error = collective_error([&] { obtain(options); });
    CHECK(error.has_value());
    if (!error) continue;
    CHECK(error->code() == ExitCode::wrong_input);
    CHECK_THAT(error->what(), ContainsSubstring(path.filename().string()));
  }
}

TEST_CASE("more ranks than cores say so and predict nothing") {
  if (session().size() < 2 || !is_crowded()) return;
  const Obtained obtained = obtain({});
  CHECK_FALSE(obtained.platform.has_value());
  CHECK(obtained.record.figures.empty());
  if (session().is_root()) {
    CHECK_THAT(obtained.printed,
               ContainsSubstring("communication is not predicted") &&
                   ContainsSubstring("for " + std::to_string(session().nodes().ranks_on_node) + " ranks"));
  } else {
    CHECK(obtained.printed.empty());
  }
}

TEST_CASE("ranks with cores of their own have channels with positive times, the same on all of them") {
  if (session().size() < 2 || is_crowded()) return;
  for (const MessageFacts& message : {MessageFacts{1e3, 1e3, 0.0}, MessageFacts{5e4, 2e5, 1e6}}) {
    Obtained obtained;
    // What a busy machine measures may look like nothing that a channel does, but not every time.
    CHECK(eventually([&] {
      obtained = obtain({}, message);
      return obtained.platform.has_value();
    }));
    if (!obtained.platform) continue;
    const std::vector<double> seconds = seconds_of(*obtained.platform);
    CAPTURE(seconds, message.largest_bytes, message.footprint_bytes);
    CHECK_FALSE(seconds.empty());
    CHECK(std::all_of(seconds.begin(), seconds.end(), [](double time_s) { return time_s > 0.0; }));
    CHECK(same_on_all_ranks(seconds));
    CHECK(obtained.record.figures.count("channel_time_s") == 1);
    CHECK(obtained.record.figures["channel_time_s"] > 0.0);
    CHECK(same_on_all_ranks({obtained.record.figures["channel_time_s"]}));
    CHECK((obtained.printed.rfind("channels measured in ", 0) == 0) == session().is_root());
    const models::Placement placement = place_ranks(session(), *obtained.platform);
    CHECK(placement.processes() == session().size());
    for (int rank = 1; rank < session().size(); ++rank) CHECK_NOTHROW(placement.channel(0, rank));
  }
}

}  // namespace steelyard::test_channels
