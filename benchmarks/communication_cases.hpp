#pragma once

// Parts that communication-validation and summa-communication share: cases of communication that are measured in turns
// with a calibration, their predictions from that, tables of both, and what `--result` keeps.

#include <algorithm>
#include <filesystem>
#include <map>

#include "benchmarks/program.hpp"
#include "comm/collective.hpp"
#include "comm/measurement/calibration.hpp"
#include "core/base/progress.hpp"
#include "core/base/run_record.hpp"

namespace steelyard {

/// A message pattern with its measured times and the prediction of each model.
struct CommunicationCase {
  std::vector<std::string> name;         ///< its cells in the table of all cases
  std::string group;                     ///< its line in the table of errors
  std::map<std::string, double> params;  ///< of its samples, and their keys
  std::map<std::string, std::string> keys;
  std::vector<double> rounds_s = {};
  std::map<std::string, double> predicted_s = {};

  double measured_s() const { return median(rounds_s); }
};

struct CommunicationOptions {
  int rounds = 3;
  CalibrationDepth depth;
  std::filesystem::path result;

  void add_to(CLI::App& parser) {
    add_rounds(parser, rounds);
    parser.add_option("--time", depth.time_s, "Seconds for a message size in a round, about")
        ->check(CLI::Range(1e-6, 10.0))
        ->capture_default_str();
    parser.add_option("--result", result, "Folder for run.json and samples.jsonl")->type_name("DIR");
  }
};

/// A calibration, and what was measured in turns with it.
struct CalibratedPlatform {
  models::Platform platform;
  std::string text;  ///< ranks and nodes, and what was measured how
};

/// Measures the channels between the ranks, and in each round whatever else `others` does, which calls its argument
/// once for a round of the calibration. Collective. @throws CollectiveError
inline CalibratedPlatform calibrate_in_turns(
    const Session& session, const CommunicationOptions& options,
    const std::function<void(const std::function<void()>& calibrate)>& others) {
  if (session.size() < 2) throw InvalidArgument("1 rank (expected at least two: mpirun -n 2 …)");
  const std::vector<NodeFacts> facts = gather_node_facts(session);
  CalibrationPlan plan;
  collectively(session.comm(), [&] { plan = plan_calibration(session.nodes(), facts); });
  CalibratedPlatform result;
  result.text = ranks_text(session);
  std::vector<MeasuredChannel> measured;
  {
    ChannelMeasurement measurement(session.comm(), plan.channels, options.depth);
    Progress progress("calibrating and measuring in turns", options.rounds, session.is_root());
    for (int round = 0; round < options.rounds; ++round) {
      others([&] { measurement.round(); });
      progress.advance();
    }
    measured = measurement.result();
  }
  for (const std::string& reason : plan.refused) result.text += fmt::format("\noversubscribed: {}", reason);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    collectively(session.comm(), [&] { add_channel(result.platform, plan.channels[i], measured[i].times); });
    result.text += fmt::format("\nchannel    {}: {}", plan.channels[i].channel.name, measured[i].quality.text());
  }
  return result;
}

/// A row for each case. @param names headings of CommunicationCase::name
template <class Case>
std::string case_table(const std::vector<Case>& cases, std::vector<std::string> headings,
                       const std::vector<std::string>& models) {
  headings.insert(headings.end(), {"measured", "spread %"});
  headings.insert(headings.end(), models.begin(), models.end());
  Table table(std::move(headings));
  for (const Case& one : cases) {
    std::vector<std::string> row = one.name;
    row.push_back(format_seconds(one.measured_s()));
    row.push_back(fmt::format("{:.0f}", 100.0 * coefficient_of_variation(one.rounds_s)));
    for (const std::string& model : models) {
      const auto found = one.predicted_s.find(model);
      row.push_back(found == one.predicted_s.end() ? "-" : format_seconds(found->second));
    }
    table.add_row(std::move(row));
  }
  return table.text();
}

/// Mean proportional error of every model for every group, and over all where there are several. Source: 001, table 2.
template <class Case>
std::string error_table(const std::vector<Case>& cases, const std::vector<std::string>& models) {
  std::vector<std::string> headings{"mean mu"}, groups;
  headings.insert(headings.end(), models.begin(), models.end());
  Table table(std::move(headings));
  for (const Case& one : cases) {
    if (std::find(groups.begin(), groups.end(), one.group) == groups.end()) groups.push_back(one.group);
  }
  if (groups.size() > 1) groups.emplace_back("all");
  for (const std::string& group : groups) {
    std::vector<std::string> row{group};
    for (const std::string& model : models) {
      std::vector<double> errors;
      for (const Case& one : cases) {
        const auto found = one.predicted_s.find(model);
        if (found == one.predicted_s.end() || !(found->second > 0.0)) continue;
        if (group == "all" || group == one.group) errors.push_back(proportional_error(one.measured_s(), found->second));
      }
      row.push_back(errors.empty() ? "-" : fmt::format("{:.2f}", mean(errors)));
    }
    table.add_row(std::move(row));
  }
  return table.text();
}

/// Writes the result, where one is asked for: a sample for every round and every prediction. Collective.
template <class Case>
void write_cases(const Session& session, const std::string& program, const CommunicationOptions& options,
                 const std::string& metric, const std::vector<Case>& cases) {
  if (options.result.empty()) return;
  RunRecord record;
  record.app = program;
  record.argv = session.arguments();
  record.mpi = Session::mpi_version();
  record.hosts = session.nodes().hosts;
  record.params = {{"ranks", session.size()}, {"nodes", session.nodes().count()}};
  for (const Case& one : cases) {
    for (const double time_s : one.rounds_s) record.samples.push_back({one.params, metric, time_s, one.keys});
    for (const auto& [model, time_s] : one.predicted_s) {
      record.samples.push_back({one.params, "predicted_s", time_s, one.keys});
      record.samples.back().keys["model"] = model;
    }
  }
  on_root(session.comm(), [&] { write_run_record(options.result, record); });
}

}  // namespace steelyard
