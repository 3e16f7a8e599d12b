#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "comm/calibration.hpp"
#include "comm/collective.hpp"
#include "comm/device_copies.hpp"
#include "core/base/build_info.hpp"
#include "core/base/errors.hpp"
#include "core/base/progress.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"
#include "core/runtime.hpp"
#include "core/spaces.hpp"
#include "core/timing.hpp"
#include "miniapps/steelyard/calibrate_report.hpp"
#include "miniapps/steelyard/command.hpp"
#include "models/communication/platform_file.hpp"

namespace steelyard::tool {
namespace {

struct CalibrateOptions {
  CalibrationDepth depth;
  int rounds = 15;
  bool quick = false;
  int concurrency = 0;
  std::filesystem::path base;
  std::filesystem::path output;
};

/// A platform with this run's nodes, and the channels of the base where there is one.
models::Platform start_platform(const Session& session, const CalibrateOptions& options,
                                const std::vector<NodeFacts>& facts) {
  models::Platform platform;
  collectively(session.comm(), [&] {
    if (!options.base.empty()) platform = models::read_platform_file(options.base);
  });
  platform.commit = build_info().commit + (build_info().dirty ? " (dirty)" : "");
  platform.mpi = Session::mpi_version();
  platform.nodes.clear();
  for (std::size_t node = 0; node < facts.size(); ++node) {
    platform.nodes.push_back({session.nodes().hosts[node], facts[node].kind, facts[node].cores});
  }
  return platform;
}

/// add_channel(); times that make no channel are nobody's wrong argument.
int fit(models::Platform& platform, const ChannelPlan& plan, const models::ChannelTimes& times) {
  try {
    return add_channel(platform, plan, times);
  } catch (const InvalidArgument& error) {
    throw RuntimeFailure(
        fmt::format("{}: no channel fits what was measured: {} (longer messages, --to, or more "
                    "rounds, --rounds, may help)",
                    plan.channel.name, error.what()));
  }
}

/// Hockney's channels for copies between host and device, measured on rank 0.
std::string add_copies(const Session& session, const CalibrateOptions& options, models::Platform& platform) {
  std::string text;
  if constexpr (companion_is_device) {
    RankUnits units = session.plan_units({});
    std::optional<Runtime> runtime;
    collectively(session.comm(), [&] { runtime.emplace(session.machine(), units); });
    on_root(session.comm(), [&] {
      const std::vector<int> sizes = calibration_sizes(options.depth);
      for (const CopyTimes& copies : time_device_copies(sizes, options.rounds)) {
        models::Channel channel;
        channel.name = copies.name;
        channel.scope = models::Channel::Scope::device;
        channel.hockney = models::fit_piecewise_hockney(copies.times).segments;
        text += copies_text(put_channel(platform, std::move(channel)), copies.times);
      }
    });
  }
  return text;
}

ExitCode calibrate(Session& session, CalibrateOptions options) {
  if (options.quick) {
    options.rounds = 3;
    options.depth.time_s = 0.003;
  }
  const std::vector<NodeFacts> facts = gather_node_facts(session);
  CalibrationPlan plan;
  collectively(session.comm(), [&] {
    calibration_sizes(options.depth);
    plan = plan_calibration(session.nodes(), facts, options.concurrency);
  });
  models::Platform platform = start_platform(session, options, facts);
  on_root(session.comm(), [&] {
    if (!options.output.empty()) require_writable(options.output);
  });
  session.print(calibrate_header(session.nodes(), facts, plan, options.depth, options.rounds));
  const double start_s = now_s();
  std::vector<MeasuredChannel> measured;
  {
    ChannelMeasurement measurement(session.comm(), plan.channels, options.depth);
    Progress progress("measuring channels", options.rounds, session.is_root());
    for (int round = 0; round < options.rounds; ++round) {
      measurement.round();
      progress.advance();
    }
    measured = measurement.result();
  }
  std::string text;
  collectively(session.comm(), [&] {
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const int id = fit(platform, plan.channels[i], measured[i].times);
      text += channel_text(platform.channel(id), measured[i]);
    }
  });
  text += add_copies(session, options, platform);
  session.print(text);
  session.print(fmt::format("\ntook       {}\n", format_seconds(now_s() - start_s)));
  if (!options.output.empty()) {
    on_root(session.comm(), [&] { models::write_platform_file(options.output, platform); });
    session.print(fmt::format("platform   {}\n", options.output.string()));
  }
  return ExitCode::good;
}

}  // namespace

void add_calibrate_command(CLI::App& parser, Action& chosen) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = parser.add_subcommand(
      "calibrate", "Measure the communication channels between the ranks of this mpirun (Hockney, LogGP, tau-Lop)");
  command->add_option("--output", options->output, "Platform file to write (*.platform.json)")->type_name("FILE");
  command->add_option("--base", options->base, "Platform file whose other channels are kept")->type_name("FILE");
  const CLI::Range bytes(1, 1 << 30);
  command->add_option("--from", options->depth.smallest_bytes, "Smallest message")
      ->check(bytes)
      ->type_name("BYTES")
      ->capture_default_str();
  command->add_option("--to", options->depth.largest_bytes, "Largest message")
      ->check(bytes)
      ->type_name("BYTES")
      ->capture_default_str();
  command
      ->add_option("--concurrency", options->concurrency,
                   "Most transmissions at once (default: as many as there are ranks with cores of their own)")
      ->check(CLI::Range(2, 1 << 20))
      ->type_name("N");
  CLI::Option* rounds =
      command
          ->add_option("--rounds", options->rounds, "Times that everything is gone through, against a drifting machine")
          ->check(CLI::Range(1, 1000))
          ->type_name("N")
          ->capture_default_str();
  command
      ->add_option("--footprint", options->depth.footprint_bytes,
                   "Memory that every rank goes through between messages, such as 64MiB, as the kernel of an app does "
                   "(default: none, so that caches keep the messages)")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  command->add_flag("--quick", options->quick, "Three short rounds")->excludes(rounds);
  command->callback(
      [options, &chosen] { chosen = [options](Session& session) { return calibrate(session, *options); }; });
}

}  // namespace steelyard::tool
