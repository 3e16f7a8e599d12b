#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "comm/collective.hpp"
#include "comm/measurement/bandwidth.hpp"
#include "comm/measurement/calibration.hpp"
#include "core/base/build_info.hpp"
#include "core/base/errors.hpp"
#include "core/base/progress.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"
#include "core/spaces.hpp"
#include "core/timing.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/steelyard/command.hpp"
#include "models/communication/cost_models.hpp"
#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"

namespace steelyard::tool {
namespace {

std::string hockney_text(const models::Channel& channel) {
  std::string text;
  for (const models::HockneySegment& segment : channel.hockney) {
    text += fmt::format("{}{} + {}/s{}", text.empty() ? "" : "; ", format_seconds(segment.hockney.latency_s),
                        format_bytes(segment.hockney.bandwidth_bytes_per_s),
                        std::isinf(segment.up_to_bytes) ? "" : " up to " + format_bytes(segment.up_to_bytes));
  }
  return text;
}

struct CalibrateOptions {
  CalibrationDepth depth;
  int rounds = 15;
  bool quick = false;
  std::filesystem::path base;
  std::filesystem::path output;
};

/// Nodes of the run, their kinds and cores, and what is not measured.
std::string calibrate_header(const Nodes& nodes, const std::vector<NodeFacts>& facts, const CalibrationPlan& plan,
                             const CalibrateOptions& options) {
  const CalibrationDepth& depth = options.depth;
  std::string text;
  for (int node = 0; node < nodes.count(); ++node) {
    const NodeFacts& fact = facts[static_cast<std::size_t>(node)];
    const auto ranks = std::count(nodes.node_of_rank.begin(), nodes.node_of_rank.end(), node);
    text += fmt::format("node       {}: {}; {} on {}\n", nodes.hosts[static_cast<std::size_t>(node)], fact.kind,
                        counted(ranks, "rank"), counted(fact.cores, "core"));
  }
  text += fmt::format("messages   {} to {}", format_bytes(depth.smallest_bytes), format_bytes(depth.largest_bytes));
  if (depth.footprint_bytes > 0) {
    text += fmt::format(" after {} of other memory", format_bytes(static_cast<double>(depth.footprint_bytes)));
  }
  text += fmt::format(", {}\n", counted(options.rounds, "round"));
  for (const std::string& reason : plan.refused) text += fmt::format("refused    {}\n", reason);
  return text;
}

/// A channel: how it was measured and how well, its parameters, and its times by size with what tau-Lop makes of them.
std::string channel_text(const models::Channel& channel, const MeasuredChannel& measured) {
  const models::ChannelTimes& times = measured.times;
  const models::LogGP& loggp = *channel.loggp;
  std::string text = fmt::format(
      "\nchannel {}  {}, path [{}]\n"
      "measured   {}\n"
      "protocol   eager up to {:.0f} bytes; empty message {}, with an answer {}\n"
      "Hockney    {}\n"
      "LogGP      L {}, o_s {}, o_r {}, g {}, 1/G {}/s\n",
      channel.id, channel.name, fmt::join(channel.path, ", "), measured.quality.text(), times.eager_limit_bytes,
      format_seconds(times.empty_s), format_seconds(times.empty_synchronous_s), hockney_text(channel),
      format_seconds(loggp.latency_s), format_seconds(loggp.send_overhead_s), format_seconds(loggp.receive_overhead_s),
      format_seconds(loggp.gap_s), format_bytes(1.0 / loggp.gap_per_byte_s));
  std::vector<TableRow> rows;
  const models::TauLopTables& tau_lop = *channel.tau_lop;
  for (std::size_t i = 0; i < times.one_way.size(); ++i) {
    const auto& [bytes, time_s] = times.one_way[i];
    TableRow row{{"bytes", fmt::format("{:.0f}", bytes)}, {"T(m,1)", format_seconds(time_s)}};
    for (const auto& [tau, ring] : times.rings) {
      row.emplace_back(fmt::format("T(m,{})", tau), format_seconds(ring[i].time_s));
    }
    row.emplace_back("o(m)", format_seconds(tau_lop.overhead.time_s(bytes)));
    row.emplace_back("L(m,1)", format_seconds(tau_lop.transfer.time_s(bytes, 1)));
    for (const auto& [tau, ring] : times.rings) {
      row.emplace_back(fmt::format("L(m,{})", tau), format_seconds(tau_lop.transfer.time_s(bytes, tau)));
    }
    rows.push_back(std::move(row));
  }
  text += table_text(rows);
  const double adjustment = tau_lop.transfer.largest_adjustment();
  if (adjustment > 0.0) {
    text += fmt::format("L(m,1) <= L(m,A) <= A L(m,1) moved measured transfer times by up to {:.1f} %\n",
                        100.0 * adjustment);
  }
  return text;
}

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

/// Adds a channel to the platform. @throws InvalidArgument where its times say nothing, or no model fits them
int fit(models::Platform& platform, const ChannelPlan& plan, const MeasuredChannel& measured) {
  constexpr double most_error = 10.0;  // two rounds that differ by a factor of two have 4
  const double error = measured.quality.typical_error;
  if (std::isfinite(error) && error > most_error) {
    throw InvalidArgument(fmt::format("half of its times are uncertain by {:.0f} % or more", 100.0 * error));
  }
  for (const auto& [concurrency, times] : measured.times.rings) {
    for (const models::MessageTime& message : times) {
      if (message.time_s > 0.0) continue;
      throw InvalidArgument(fmt::format("{} of {} at once took no time", concurrency, format_bytes(message.bytes)));
    }
  }
  return add_channel(platform, plan, measured.times);
}

struct FittedChannels {
  models::Platform platform;
  std::string text;                 ///< about the channels that fit
  std::vector<std::string> failed;  ///< the others, and why
};

FittedChannels fit_channels(const models::Platform& base, const CalibrationPlan& plan,
                            const std::vector<MeasuredChannel>& measured) {
  FittedChannels result{base, {}, {}};
  for (std::size_t i = 0; i < measured.size(); ++i) {
    try {
      const int id = fit(result.platform, plan.channels[i], measured[i]);
      result.text += channel_text(result.platform.channel(id), measured[i]);
    } catch (const InvalidArgument& error) {
      result.failed.push_back(fmt::format("{}: {}", plan.channels[i].channel.name, error.what()));
    }
  }
  return result;
}

/// Adds what the memory of every node gives its ranks' host units together, more of it than caches hold. Collective.
std::string add_memory(const Session& session, const RankUnits& units, models::Platform& platform) {
  constexpr std::int64_t elements = std::int64_t{1} << 23;
  const std::vector<int>& node_of_rank = session.nodes().node_of_rank;
  const Communicator node(session.comm(), node_of_rank[static_cast<std::size_t>(session.rank())]);
  CoExecution co_execution(session.machine(), units);
  const double own = GroupBandwidth(node.get(), co_execution, elements, 0).measure_bytes_per_s();
  const std::vector<double> of_ranks = all_gather(session.comm(), {own});
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
    platform.nodes[static_cast<std::size_t>(node_of_rank[rank])].memory_bytes_per_s = of_ranks[rank];
  }
  std::string text = "\n";
  for (const models::PlatformNode& each : platform.nodes) {
    text += fmt::format("memory     {}: {}/s\n", each.host, format_bytes(each.memory_bytes_per_s));
  }
  return text;
}

/// Hockney's channels for copies between host and device, measured on rank 0, and for messages between devices of ranks
/// 0 and 1. Collective.
std::string add_copies(const Session& session, const CalibrateOptions& options, models::Platform& platform) {
  std::string text;
  if constexpr (companion_is_device) {
    const std::vector<int> sizes = calibration_sizes(options.depth);
    const std::vector<CopyTimes> messages = time_device_messages(session.comm(), sizes, options.rounds);
    on_root(session.comm(), [&] {
      std::vector<CopyTimes> all = time_device_copies(sizes, options.rounds);
      all.insert(all.end(), messages.begin(), messages.end());
      for (const CopyTimes& copies : all) {
        models::Channel channel;
        channel.name = copies.name;
        channel.scope = models::Channel::Scope::device;
        channel.hockney = models::fit_piecewise_hockney(copies.times);
        const int id = put_channel(platform, channel).id;
        text += fmt::format("\nchannel {}  {}\nHockney    {}\n", id, channel.name, hockney_text(channel));
        Table table({"bytes", "time", "bytes/s"});
        for (const auto& [bytes, time_s] : copies.times) {
          table.add_row({fmt::format("{:.0f}", bytes), format_seconds(time_s), format_bytes(bytes / time_s)});
        }
        text += table.text();
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
    plan = plan_calibration(session.nodes(), facts);
  });
  const models::Platform base = start_platform(session, options, facts);
  on_root(session.comm(), [&] {
    if (!options.output.empty()) require_writable(options.output);
  });
  session.print(calibrate_header(session.nodes(), facts, plan, options));
  const double start_s = now_s();
  const OtherWork other_work(session);
  ChannelMeasurement measurement(session.comm(), plan.channels, options.depth);
  FittedChannels fitted;
  for (int attempt = 0; attempt == 0 || (attempt < 4 && !fitted.failed.empty()); ++attempt) {
    Progress progress(attempt == 0 ? "measuring channels" : "measuring further, for no model fits", options.rounds,
                      session.is_root());
    for (int round = 0; round < options.rounds; ++round) {
      measurement.round();
      progress.advance();
    }
    fitted = fit_channels(base, plan, measurement.result());
  }
  models::Platform& platform = fitted.platform;
  const std::string doubt = other_work.doubt(other_work.cores());
  print_doubt(session, doubt);
  if (!doubt.empty()) platform.note = "channels were measured while " + doubt;
  RunOptions with_units;
  if constexpr (!companion_is_device) with_units.units = UnitChoice::host;
  const StartedUnits started(session, with_units);
  session.print(fitted.text);
  session.print(add_memory(session, started.units(), platform) + add_copies(session, options, platform));
  session.print(fmt::format("\ntook       {}\n", format_seconds(now_s() - start_s)));
  if (!options.output.empty() && fitted.failed.size() < plan.channels.size()) {
    on_root(session.comm(), [&] { models::write_platform_file(options.output, platform); });
    session.print(fmt::format("platform   {}\n", options.output.string()));
  }
  if (!fitted.failed.empty()) {
    throw CollectiveError(fmt::format("no channel fits what was measured of {} (not written; more rounds, --rounds, or "
                                      "longer messages, --to, may help)",
                                      fmt::join(fitted.failed, ", ")),
                          ExitCode::failed, 0);
  }
  return ExitCode::good;
}

struct PlatformOptions {
  std::filesystem::path platform;
  models::SimgridCluster cluster;
};

struct CostOptions {
  std::filesystem::path platform;
  std::string expression;
  std::string model = "tau-lop";
  std::string evaluation = "aligned";
  double block_bytes = 1.0;
  std::string beyond = "refuse";
  bool json = false;
};

std::string cost(const CostOptions& options) {
  using namespace models;
  if (!(options.block_bytes > 0.0 && std::isfinite(options.block_bytes))) {
    throw InvalidArgument(fmt::format("--block-bytes {} (expected a finite number > 0)", options.block_bytes));
  }
  const Expression expression = parse_expression(options.expression);
  const Platform platform = read_platform_file(options.platform);
  if (options.model == "loggph") {
    const double time_s = loggph_cost_s(expression, platform, options.block_bytes);
    if (options.json) return nlohmann::ordered_json{{"model", "loggph"}, {"time_s", time_s}}.dump() + "\n";
    return fmt::format("time       {}   (LogGPH)\n", format_seconds(time_s));
  }
  const TauLop model(platform, options.beyond == "refuse" ? BeyondMeasured::refuse : BeyondMeasured::proportional);
  const Evaluation evaluation{0.0, options.block_bytes};
  const ReducedForm form = options.evaluation == "aligned" ? aligned_form(expression, model, evaluation)
                                                           : event_form(expression, model, evaluation);
  const double time_s = cost_s(form, model, evaluation);
  const std::string reduced = to_string(form);
  const nlohmann::ordered_json json{{"evaluation", options.evaluation}, {"reduced", reduced}, {"time_s", time_s}};
  if (options.json) return json.dump() + "\n";
  return fmt::format("reduced    {}   ({})\ntime       {}\n", reduced, options.evaluation, format_seconds(time_s));
}

}  // namespace

void add_calibrate_command(CLI::App& parser, Action& chosen) {
  const auto [command, options] = add_command<CalibrateOptions>(
      parser, "calibrate",
      "Measure the communication channels between the ranks of this mpirun (Hockney, LogGP, tau-Lop), and their "
      "nodes' memory",
      chosen, calibrate);
  add_value(*command, "--output", options->output, "Platform file to write (*.platform.json)", "FILE");
  add_value(*command, "--base", options->base, "Platform file whose other channels are kept", "FILE");
  constexpr int most_bytes = 1 << 30;
  add_number(*command, "--from", options->depth.smallest_bytes, "Smallest message", 1, most_bytes, "BYTES")
      ->capture_default_str();
  add_number(*command, "--to", options->depth.largest_bytes, "Largest message", 1, most_bytes, "BYTES")
      ->capture_default_str();
  CLI::Option* rounds = add_number(*command, "--rounds", options->rounds,
                                   "Times that everything is gone through, against a drifting machine", 1, 1000)
                            ->capture_default_str();
  command
      ->add_option("--footprint", options->depth.footprint_bytes,
                   "Memory that every rank goes through between messages, such as 64MiB, as the kernel of an app does "
                   "(default: none, so that caches keep the messages)")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  command->add_flag("--quick", options->quick, "Three short rounds")->excludes(rounds);
}

void add_platform_command(CLI::App& parser, Action& chosen) {
  const auto [command, options] = add_command<PlatformOptions>(
      parser, "platform",
      "Print measured channels as a platform of SimGrid, to run programs under SMPI on nodes not there", chosen,
      [](const PlatformOptions& given) {
        return models::simgrid_platform(models::read_platform_file(given.platform), given.cluster);
      });
  command->add_option("FILE", options->platform, "Measured channels (*.platform.json)")->required();
  constexpr std::int64_t most = 1 << 20;
  add_number(*command, "--nodes", options->cluster.nodes, "Nodes of the cluster", 1, most)->capture_default_str();
  add_number(*command, "--cores", options->cluster.cores, "Cores of a node", 1, most)->capture_default_str();
  add_value(*command, "--speed", options->cluster.flops_per_s, "Flop/s of a core, by which SimGrid counts computation",
            "F")
      ->check(CLI::Range(1.0, 1e18));
}

void add_cost_command(CLI::App& parser, Action& chosen) {
  const auto [command, options] = add_command<CostOptions>(
      parser, "cost", "Solve a tau-Lop expression on a platform: its reduced form and seconds", chosen, cost);
  add_value(*command, "--platform", options->platform, "Measured channels (*.platform.json)", "FILE")->required();
  add_value(*command, "--expression", options->expression,
            "Transmissions such as '(T0(134)+T1(158)) || 2||T0(116)': channel and size; || binds tighter than +", "E")
      ->required();
  add_choice(*command, "--model", options->model,
             "tau-Lop, or LogGPH, which knows no contention: the longest of concurrent transmissions counts",
             {"tau-lop", "loggph"});
  add_choice(*command, "--evaluation", options->evaluation,
             "Of tau-Lop: channel by channel as in the paper, or following every transmission in time",
             {"aligned", "event"});
  add_value(*command, "--block-bytes", options->block_bytes, "Bytes of a unit of size: of a block, or 1", "B");
  add_choice(*command, "--beyond-measured", options->beyond,
             "More concurrent transfers than were measured: an error, or time in proportion",
             {"refuse", "proportional"});
  add_format_option(*command, options->json);
}

}  // namespace steelyard::tool
