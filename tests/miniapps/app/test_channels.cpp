#include <optional>

#include "comm/collective.hpp"
#include "comm/measurement/channel_measurement.hpp"
#include "miniapps/app/frame.hpp"
#include "models/communication/platform.hpp"
#include "tests/catch.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/miniapps/app/collective_error.hpp"
#include "tests/miniapps/app/shared_folder.hpp"

namespace steelyard::test_channels {

using namespace steelyard::tests;
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
  for (const models::Channel& channel : platform.channels) {
    for (const double bytes : {0.0, 1.0, 1e3, 1e5, 1e7}) seconds.push_back(channel.time_s(bytes));
  }
  return seconds;
}

void check_placement(const models::Placement& placement) {
  CHECK(placement.processes() == session().size());
  for (int rank = 1; rank < session().size(); ++rank) CHECK_NOTHROW(placement.channel(0, rank));
}

}  // namespace

TEST_CASE("channels are those of the file where there is one, or everyone's error; nothing is measured then") {
  const SharedFolder folder;
  const auto path = folder / "some.platform.json", bad = folder / "bad.platform.json";
  Platform written;
  for (const int id : {0, 1}) {
    models::Channel channel;
    channel.id = id;
    channel.path = {id};
    if (id == 1) channel.scope = models::Channel::Scope::network;
    channel.hockney = {{std::numeric_limits<double>::infinity(), {1e-6 * (1 + id), 2e9}}};
    written.channels.push_back(channel);
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

TEST_CASE("a single rank has no channels, and of more ranks than cores none are measured") {
  if (session().size() > 1 && !is_crowded()) return;
  const RunOptions options;
  Frame frame(session(), options, started_units(), "test");
  const std::optional<Channels> channels = frame.channels({1e3, 1e6, 1e7});
  CHECK(channels.has_value() == (session().size() == 1));
  if (channels) CHECK(channels->platform.channels.empty());
  CHECK_FALSE(frame.record().figures.contains("channel_time_s"));
}

TEST_CASE("ranks with cores of their own have channels with positive times, the same on all of them") {
  if (session().size() < 2 || is_crowded()) return;
  for (const MessageFacts& message : {MessageFacts{1e3, 1e3, 0.0}, MessageFacts{5e4, 2e5, 1e6}}) {
    const RunOptions options;
    Frame frame(session(), options, started_units(), "test");
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

}  // namespace steelyard::test_channels
