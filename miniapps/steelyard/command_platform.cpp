#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>

#include "miniapps/steelyard/command.hpp"
#include "models/communication/platform.hpp"
#include "models/communication/simgrid_platform.hpp"

namespace steelyard::tool {
namespace {

struct PlatformOptions {
  std::filesystem::path platform;
  models::SimgridCluster cluster;
};

}  // namespace

void add_platform_command(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<PlatformOptions>();
  CLI::App* command = parser.add_subcommand(
      "platform", "Print measured channels as a platform of SimGrid, to run programs under SMPI on nodes not there");
  command->add_option("FILE", options->platform, "Measured channels (*.platform.json)")->required();
  constexpr std::int64_t most = 1 << 20;
  add_number(*command, "--nodes", options->cluster.nodes, "Nodes of the cluster", 1, most)->capture_default_str();
  add_number(*command, "--cores", options->cluster.cores, "Cores of a node", 1, most)->capture_default_str();
  command->add_option("--speed", options->cluster.flops_per_s, "Flop/s of a core, by which SimGrid counts computation")
      ->check(CLI::Range(1.0, 1e18))
      ->type_name("F")
      ->capture_default_str();
  command->callback([options, &chosen] {
    chosen = print_from_root([options] {
      return models::simgrid_platform(models::read_platform_file(options->platform), options->cluster);
    });
  });
}

}  // namespace steelyard::tool
