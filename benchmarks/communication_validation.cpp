// How far predictions of communication are off on this machine: channels are calibrated and patterns run in turns, and
// what tau-Lop (aligned and following events), HLogGP, Hockney and mlog_nP make of the calibration stands beside what
// was measured. Run it with mpirun; ranks that share cores are reported apart.

#include <cmath>
#include <limits>

#include "benchmarks/communication_cases.hpp"
#include "comm/measurement/message_exchange.hpp"
#include "models/communication/message_pattern.hpp"
#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"
#include "partition/rectangles/column.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace {

using namespace steelyard;

/// A pattern at one message size.
struct Case : CommunicationCase {
  models::MessagePattern pattern;
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
      const std::string name = pattern.name;
      cases.push_back({{{name, fmt::format("{:.0f}", bytes)}, name, {{"bytes", bytes}}, {{"pattern", name}}}, pattern});
    }
  }
  return cases;
}

void measure_patterns(const Session& session, double time_s, std::vector<Case>& cases) {
  for (Case& one : cases) {
    const double once_s = median(pattern_s(session.comm(), one.pattern, 3));
    const auto repetitions = static_cast<int>(std::clamp(time_s / once_s, 3.0, 2000.0));
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

ExitCode validate(Session& session, const CommunicationOptions& options, bool detail) {
  std::vector<Case> cases = make_cases(session.size());
  const CalibratedPlatform calibrated = calibrate_in_turns(session, options, [&](const auto& calibrate) {
    calibrate();
    measure_patterns(session, options.depth.time_s, cases);
  });
  const std::vector<NodeFacts> facts = gather_node_facts(session);
  collectively(session.comm(), [&] { predict(cases, calibrated.platform, session, facts); });
  // Patterns whose blocks are smaller than a byte send no messages.
  std::erase_if(cases, [](const Case& one) { return !(one.predicted_s.at("Hockney") > 0.0); });
  session.print(calibrated.text + "\n\n");
  if (detail) session.print(case_table(cases, {"pattern", "bytes"}, model_names) + "\n");
  session.print(error_table(cases, model_names));
  write_cases(session, "communication-validation", options, "time_s", cases);
  return ExitCode::good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Predictions of communication beside measurements, with their mean proportional error",
                  "steelyard-communication-validation");
  add_standard_options(parser);
  CommunicationOptions options;
  options.rounds = 7;
  bool detail = false;
  options.add_to(parser);
  parser.add_flag("--detail", detail, "A row for every pattern and size");
  return run_program(argc, argv, parser, [&](Session& session) { return validate(session, options, detail); });
}
