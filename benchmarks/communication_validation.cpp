// How far predictions of communication are off on this machine: channels are calibrated and patterns run in turns, and
// what tau-Lop (aligned and following events), HLogGP, Hockney and mlog_nP make of the calibration stands beside what
// was measured. Run it with mpirun; ranks that share cores are reported apart.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>

#include "comm/collective.hpp"
#include "comm/measurement/channel_measurement.hpp"
#include "comm/measurement/message_exchange.hpp"
#include "comm/session.hpp"
#include "core/base/errors.hpp"
#include "core/base/progress.hpp"
#include "core/base/run_record.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/options.hpp"
#include "models/communication/loggp.hpp"
#include "models/communication/message_pattern.hpp"
#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"
#include "partition/rectangles/column.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace {

using namespace steelyard;

struct Options {
  int rounds = 7;
  double time_s = 0.01;
  bool detail = false;
  std::filesystem::path base;
  std::filesystem::path result;
};

/// A pattern at one message size, its measured times and what the models say.
struct Case {
  models::MessagePattern pattern;
  double bytes = 0.0;
  std::vector<double> rounds_s;
  std::map<std::string, double> predicted_s;

  double measured_s() const { return median(rounds_s); }
};

const std::vector<std::string> model_names{"tau-Lop event", "tau-Lop aligned", "HLogGP", "Hockney", "mlog_nP"};

/// Blocks of a matrix on uneven processes: the first one gets half as much as the last.
std::vector<partition::Rectangle> rectangles(int processes) {
  std::vector<double> areas;
  for (int i = 0; i < processes; ++i) areas.push_back(1.0 + static_cast<double>(i) / std::max(1, processes - 1));
  return partition::column(areas, {32, 32}).rectangles;
}

/// All patterns at a size; of the rectangles' patterns, an edge across the whole matrix is that long.
std::vector<models::MessagePattern> patterns(int processes, double bytes) {
  const std::vector<partition::Rectangle> blocks = rectangles(processes);
  return {models::ring(processes, bytes),
          models::flat_broadcast(processes, bytes),
          models::binomial_broadcast(processes, bytes),
          models::ring_allgather(processes, bytes),
          models::recursive_doubling_allreduce(processes, bytes),
          models::halo_1d(processes, bytes),
          partition::halo_pattern(blocks, bytes / 32.0),
          partition::summa_pattern(blocks, 16, 1, bytes / 32.0)};
}

std::vector<Case> make_cases(int processes) {
  std::vector<Case> cases;
  for (double bytes = 8.0; bytes <= 4.0 * (1 << 20); bytes *= 2.0) {
    // Blocks of less than a byte are none.
    for (models::MessagePattern& pattern : patterns(processes, std::max(bytes, 8.0))) {
      for (models::Phase& phase : pattern.phases) {
        for (models::Message& message : phase.messages) message.bytes = std::max(1.0, std::floor(message.bytes));
      }
      cases.push_back({std::move(pattern), bytes, {}, {}});
    }
  }
  return cases;
}

void measure_round(const Session& session, const Options& options, std::vector<Case>& cases) {
  for (Case& one : cases) {
    const double once_s = median(pattern_s(session.comm(), one.pattern, 3));
    const auto repetitions = static_cast<int>(std::clamp(options.time_s / once_s, 3.0, 2000.0));
    one.rounds_s.push_back(median(pattern_s(session.comm(), one.pattern, repetitions)));
  }
}

void predict(std::vector<Case>& cases, const models::Platform& platform, const Session& session,
             const std::vector<NodeFacts>& facts) {
  std::vector<std::string> kinds;
  for (const NodeFacts& node : facts) kinds.push_back(node.kind);
  const models::Placement placement(platform, session.nodes().node_of_rank, kinds);
  const models::TauLop tau_lop(platform, models::BeyondMeasured::proportional);
  const double infinity = std::numeric_limits<double>::infinity();
  const models::Evaluation evaluation{std::nextafter(tau_lop.overhead_matters_up_to_bytes(), infinity)};
  const auto channel = [&](int from, int to) -> const models::Channel& {
    return platform.channel(placement.channel(from, to).channel);
  };
  for (Case& one : cases) {
    const models::Expression expression = models::expression(one.pattern, placement);
    one.predicted_s["tau-Lop aligned"] =
        models::cost_s(models::aligned_form(expression, tau_lop, evaluation), tau_lop, evaluation);
    one.predicted_s["tau-Lop event"] =
        models::cost_s(models::event_form(expression, tau_lop, evaluation), tau_lop, evaluation);
    one.predicted_s["HLogGP"] = models::serial_cost_s(one.pattern, [&](const models::Message& m) {
      return channel(m.from, m.to).loggp.value_or(models::LogGP{}).time_s(m.bytes);
    });
    one.predicted_s["Hockney"] = models::serial_cost_s(
        one.pattern, [&](const models::Message& m) { return channel(m.from, m.to).time_s(m.bytes); });
    // The overhead and the transfers of each channel's path, by tau-Lop's times of a single one.
    one.predicted_s["mlog_nP"] = models::serial_cost_s(one.pattern, [&](const models::Message& m) {
      return tau_lop.transmission_s(channel(m.from, m.to).id, m.bytes);
    });
  }
}

std::string detail_table(const std::vector<Case>& cases) {
  std::vector<std::string> headings{"pattern", "bytes", "measured", "spread %"};
  for (const std::string& model : model_names) headings.push_back(model);
  Table table(std::move(headings));
  for (const Case& one : cases) {
    if (!(one.predicted_s.at("Hockney") > 0.0)) continue;
    std::vector<std::string> row{one.pattern.name, fmt::format("{:.0f}", one.bytes), format_seconds(one.measured_s()),
                                 fmt::format("{:.0f}", 100.0 * coefficient_of_variation(one.rounds_s))};
    for (const std::string& model : model_names) row.push_back(format_seconds(one.predicted_s.at(model)));
    table.add_row(std::move(row));
  }
  return table.text();
}

/// Mean proportional error of every model for every pattern, and over all.
std::string error_table(const std::vector<Case>& cases) {
  std::vector<std::string> headings{"mean mu"};
  for (const std::string& model : model_names) headings.push_back(model);
  Table table(std::move(headings));
  std::vector<std::string> names;
  for (const Case& one : cases) {
    if (std::find(names.begin(), names.end(), one.pattern.name) == names.end()) names.push_back(one.pattern.name);
  }
  names.emplace_back("all");
  for (const std::string& name : names) {
    std::vector<std::string> row{name};
    for (const std::string& model : model_names) {
      std::vector<double> errors;
      for (const Case& one : cases) {
        if (name != "all" && one.pattern.name != name) continue;
        if (one.predicted_s.at(model) > 0.0) {
          errors.push_back(proportional_error(one.measured_s(), one.predicted_s.at(model)));
        }
      }
      row.push_back(errors.empty() ? "-" : fmt::format("{:.2f}", mean(errors)));
    }
    table.add_row(std::move(row));
  }
  return table.text();
}

RunRecord record(const Session& session, const std::vector<Case>& cases) {
  RunRecord record;
  record.app = "communication-validation";
  record.argv = session.arguments();
  record.mpi = Session::mpi_version();
  record.hosts = session.nodes().hosts;
  record.params = {{"ranks", session.size()}, {"nodes", session.nodes().count()}};
  for (const Case& one : cases) {
    const auto add = [&](const std::string& metric, double value, const std::string& model) {
      Sample sample;
      sample.params = {{"bytes", one.bytes}};
      sample.metric = metric;
      sample.value = value;
      sample.keys = {{"pattern", one.pattern.name}};
      if (!model.empty()) sample.keys["model"] = model;
      record.samples.push_back(std::move(sample));
    };
    for (const double time_s : one.rounds_s) add("time_s", time_s, "");
    for (const auto& [model, time_s] : one.predicted_s) add("predicted_s", time_s, model);
  }
  return record;
}

ExitCode validate(Session& session, const Options& options) {
  if (session.size() < 2) throw InvalidArgument("1 rank (expected at least two: mpirun -n 2 …)");
  const std::vector<NodeFacts> facts = gather_node_facts(session);
  CalibrationPlan plan;
  collectively(session.comm(), [&] { plan = plan_calibration(session.nodes(), facts); });
  std::vector<Case> cases = make_cases(session.size());
  CalibrationDepth depth;
  depth.time_s = options.time_s;
  std::vector<MeasuredChannel> measured;
  {
    ChannelMeasurement measurement(session.comm(), plan.channels, depth);
    Progress progress("calibrating and measuring patterns", options.rounds, session.is_root());
    for (int round = 0; round < options.rounds; ++round) {
      measurement.round();
      measure_round(session, options, cases);
      progress.advance();
    }
    measured = measurement.result();
  }
  models::Platform platform;
  collectively(session.comm(), [&] {
    if (!options.base.empty()) platform = models::read_platform_file(options.base);
    // They stand in for channels that cannot be measured here, whatever nodes they were measured on.
    for (models::Channel& channel : platform.channels) channel.between.clear();
    for (std::size_t i = 0; i < measured.size(); ++i) add_channel(platform, plan.channels[i], measured[i].times);
    predict(cases, platform, session, facts);
  });
  std::string heading = fmt::format("{} ranks on {} node{}", session.size(), session.nodes().count(),
                                    session.nodes().count() == 1 ? "" : "s");
  for (const std::string& reason : plan.refused) heading += fmt::format("\noversubscribed: {}", reason);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    heading += fmt::format("\nchannel    {}: {}", plan.channels[i].channel.name, measured[i].quality.text());
  }
  session.print(heading + "\n\n");
  if (options.detail) session.print(detail_table(cases) + "\n");
  session.print(error_table(cases));
  if (!options.result.empty()) {
    on_root(session.comm(), [&] { write_run_record(options.result, record(session, cases)); });
  }
  return ExitCode::good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Predictions of communication beside measurements, with their mean proportional error",
                  "steelyard-communication-validation");
  add_standard_options(parser);
  Options options;
  parser.add_option("--rounds", options.rounds, "Times that everything is gone through, in turns")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  parser.add_option("--time", options.time_s, "Seconds for a pattern and size in a round, about")
      ->check(CLI::Range(1e-6, 10.0))
      ->type_name("S")
      ->capture_default_str();
  parser
      .add_option("--base", options.base,
                  "Platform file with channels for which there are too few cores here, such as shared memory")
      ->type_name("FILE");
  parser.add_flag("--detail", options.detail, "A row for every pattern and size");
  parser.add_option("--result", options.result, "Folder for run.json and samples.jsonl")->type_name("DIR");
  return run_program(argc, argv, parser, [&](Session& session) { return validate(session, options); });
}
