// The commands about channels: calibrate, cost and platform.
#include <nlohmann/json.hpp>
#include <thread>

#include "models/communication/cost_models.hpp"
#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/steelyard/predictions.hpp"

namespace steelyard::tests::test_steelyard_channels {
namespace {

using models::Channel;
using models::Platform;
using nlohmann::json;

/// Channels with overheads; a network whose messages also pass through shared memory twice.
std::string write_platform(const TemporaryFolder& folder) {
  Platform platform = test_steelyard_predict::made_up_platform();
  platform.channels[0].path = {0, 0};
  platform.channels[1].path = {0, 1, 0};
  for (Channel& channel : platform.channels) {
    channel.tau_lop->overhead = models::SizeTable({{1.0, 1e-6}}, models::SizeTable::Outside::constant);
  }
  return test_steelyard_predict::write_platform(folder, platform);
}

json cost(const TemporaryFolder& folder, const std::string& expression, const std::string& options) {
  const Words arguments = words("cost --format json --platform " + options) + Words{"--expression", expression};
  return json::parse(good_run(1, steelyard_tool, arguments, folder.path()).out);
}

std::string text_of(const Channel& channel) {
  Platform platform;
  platform.channels.push_back(channel);
  return models::format_platform(platform);
}

}  // namespace

TEST_CASE("steelyard cost solves expressions as the library does, by every evaluation") {
  const TemporaryFolder folder;
  const std::string path = write_platform(folder);
  const Platform platform = models::read_platform_file(path);
  const double bytes = GENERATE(1.0, 100.0, 0.5);
  const models::TauLop model(platform, models::BeyondMeasured::proportional);
  const models::Evaluation evaluation{0.0, bytes};
  for (const std::string text :
       {"T0(7)", "T0(0)||3||T1(0)", "9||T0(1000)+T1(3)", "T0(16)+T0(1000)+T0(16)+T0(1000)",
        "(T0(134)+T1(158)) || (T0(116)+T1(104)) + T1(124) || T1(97) || T1(35)", "(T0(100)+T1(300)) || 2||T1(80)"}) {
    INFO(text << ", " << bytes << " bytes");
    const std::string asked = path + " --beyond-measured proportional --block-bytes " + json(bytes).dump();
    const models::Expression expression = models::parse_expression(text);
    for (const std::string name : {"aligned", "event"}) {
      const models::ReducedForm form = name == "aligned" ? models::aligned_form(expression, model, evaluation)
                                                         : models::event_form(expression, model, evaluation);
      const json printed = cost(folder, text, asked + " --evaluation " + name);
      CHECK(printed.at("reduced") == models::to_string(form));
      CHECK(printed.at("time_s") == models::cost_s(form, model, evaluation));
    }
    const json loggph = cost(folder, text, asked + " --model loggph");
    CHECK(loggph.at("time_s") == models::loggph_cost_s(expression, platform, bytes));
  }
}

TEST_CASE("steelyard platform prints for SimGrid what the library does, on one rank as on two") {
  const int ranks = GENERATE(1, 2);
  const TemporaryFolder folder;
  const std::string path = write_platform(folder);
  CHECK(good_tool(folder, "platform --nodes 3 --cores 4 --speed 2.5e9 " + path, ranks).out ==
        models::simgrid_platform(models::read_platform_file(path), {3, 4, 2.5e9}));
}

TEST_CASE("steelyard calibrate measures the sizes asked for into a platform that cost takes, and keeps a base's others",
          "[alone]") {
  if (std::thread::hardware_concurrency() < 2) SKIP("ranks of a node need cores of their own");
  const TemporaryFolder folder;
  const std::string brief = "calibrate --from 100 --to 262143 --rounds 1";
  // Copies to and from a device, of pinned and of pageable memory.
  constexpr int device_channels = STEELYARD_HAS_DEVICE ? 4 : 0;
  const std::string unwritten = good_tool(folder, brief, 2).out;
  INFO(unwritten);
  CHECK(folder.entries() == 0);
  for (const char* size : {"100 ", "128 ", "131072 ", "262143 "}) {
    CHECK(lines_that_start(unwritten, size) == 1 + device_channels);
  }
  for (const char* size : {"64 ", "262144 "}) CHECK(lines_that_start(unwritten, size) == 0);
  good_tool(folder, "calibrate --quick --output first", 2);
  const Platform first = models::read_platform_file(folder / "first");
  REQUIRE(first.nodes.size() == 1);
  // On any machine, however busy it is.
  CHECK(first.nodes.front().memory_bytes_per_s > 1e8);
  CHECK(first.nodes.front().memory_bytes_per_s < 1e13);
  REQUIRE(first.channels.size() == std::size_t{1 + device_channels});
  const Channel& memory = first.channel(0);
  CHECK((memory.loggp && !memory.hockney.empty()));
  CHECK(cost(folder, "T0(8)||T0(100000)", "first").at("time_s") > 0.0);

  Platform base = first;
  base.channels = {memory, test_steelyard_predict::channel(1, 5e-6, 8e-9),
                   test_steelyard_predict::channel(2, 1e-6, 1e-9)};
  base.channels[2].scope = Channel::Scope::device;
  base.channels[2].name = "a device elsewhere";
  base.nodes.clear();
  models::write_platform_file(folder / "base", base);
  // The base itself may be written to.
  for (const std::string output : {"second", "base"}) {
    good_tool(folder, brief + " --base base --output " + output, 2);
    const Platform second = models::read_platform_file(folder / output);
    CHECK(second.channels.size() == base.channels.size() + device_channels);
    CHECK(text_of(second.channel(1)) == text_of(base.channel(1)));
    CHECK(text_of(second.channel(2)) == text_of(base.channel(2)));
    CHECK(text_of(second.channel(0)) != text_of(memory));
    REQUIRE(second.nodes.size() == 1);
    CHECK(second.nodes.front().host == first.nodes.front().host);
  }
}

}  // namespace steelyard::tests::test_steelyard_channels
