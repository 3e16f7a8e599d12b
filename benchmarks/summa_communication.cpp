// Communication of summa as the paper measures it, with a barrier before every iteration (001, section 5.4), beside
// what the models make of a calibration that takes turns with it (001, figures 12 and 14, table 2). Run it with mpirun.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "comm/collective.hpp"
#include "comm/measurement/channel_measurement.hpp"
#include "core/base/errors.hpp"
#include "core/base/progress.hpp"
#include "core/base/run_record.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/gemm/random_matrix.hpp"
#include "miniapps/summa/multiplication.hpp"
#include "miniapps/summa/plan.hpp"
#include "models/communication/cost_models.hpp"
#include "models/communication/platform.hpp"
#include "partition/rectangles/column.hpp"

namespace {

using namespace steelyard;

struct Options {
  std::vector<std::int64_t> blocks{128, 256};
  std::int64_t block = 32;
  int rounds = 3;
  double time_s = 0.01;
  std::size_t footprint_bytes = std::size_t{1} << 28;
  std::filesystem::path base;
  std::filesystem::path result;
};

/// A matrix cut into rectangles, what its communication took, and what the models say.
struct Case {
  summa::Problem problem;
  std::string name;
  std::vector<partition::Rectangle> rectangles;
  std::vector<double> rounds_s;
  std::map<std::string, double> predicted_s;

  double measured_s() const { return median(rounds_s); }
};

/// Areas from equal ones to one that is `most` times the smallest, in every number of columns.
std::vector<Case> make_cases(const Options& options, int ranks) {
  std::vector<Case> cases;
  for (const std::int64_t blocks : options.blocks) {
    const summa::Problem problem{blocks * options.block, options.block};
    for (const double most : {1.0, 2.0, 4.0}) {
      std::vector<double> areas;
      for (int i = 0; i < ranks; ++i) areas.push_back(1.0 + (most - 1.0) * i / std::max(1, ranks - 1));
      for (int columns = 1; columns <= ranks; ++columns) {
        cases.push_back({problem,
                         fmt::format("1:{:g} in {} column{}", most, columns, columns == 1 ? "" : "s"),
                         partition::column(areas, problem.extents(), columns).rectangles,
                         {},
                         {}});
      }
    }
  }
  return cases;
}

/// One multiplication; C is anything.
double communication_s(const Session& session, UnitGroup& group, const Case& one) {
  const auto rank = static_cast<std::size_t>(session.rank());
  std::optional<summa::Multiplication<double>> multiplication;
  const auto source = [](gemm::MatrixName name, const summa::Tile& tile, std::span<double> elements) {
    gemm::fill_random(gemm::RandomMatrix(1, name), tile.row, tile.column, tile.columns, elements);
  };
  collectively(session.comm(), [&] {
    multiplication.emplace(group, one.problem, one.rectangles[rank], summa::UnitRows{one.rectangles[rank].rows, 0},
                           std::numeric_limits<double>::infinity(), source);
    multiplication->load_c(source);
  });
  summa::PivotExchange exchange(summa::Communication::paper, session.comm(), one.problem, one.rectangles, MPI_DOUBLE);
  double sum_s = 0.0;
  for (const double iteration_s :
       all_max(session.comm(), multiplication->run(exchange, false, session.comm()).communication_s)) {
    sum_s += iteration_s;
  }
  return sum_s;
}

void predict(std::vector<Case>& cases, const models::Platform& platform, const models::Placement& placement) {
  for (Case& one : cases) {
    for (const models::PatternCosts& cost : summa::communication_costs(
             one.problem, one.rectangles, sizeof(double), summa::Communication::paper, platform, placement)) {
      one.predicted_s[cost.model] = std::accumulate(cost.time_s.begin(), cost.time_s.end(), 0.0);
    }
  }
}

std::string detail_table(const std::vector<Case>& cases) {
  std::vector<std::string> headings{"N", "rectangles", "measured", "spread %"};
  for (const std::string& model : models::cost_model_names()) headings.push_back(model);
  Table table(std::move(headings));
  for (const Case& one : cases) {
    std::vector<std::string> row{fmt::format("{}", one.problem.blocks()), one.name, format_seconds(one.measured_s()),
                                 fmt::format("{:.0f}", 100.0 * coefficient_of_variation(one.rounds_s))};
    for (const std::string& model : models::cost_model_names()) {
      const auto found = one.predicted_s.find(model);
      row.push_back(found == one.predicted_s.end() ? "-" : format_seconds(found->second));
    }
    table.add_row(std::move(row));
  }
  return table.text();
}

/// Mean proportional error of every model for every size. Source: 001, table 2.
std::string error_table(const std::vector<Case>& cases, const std::vector<std::int64_t>& blocks) {
  std::vector<std::string> headings{"mean mu"};
  for (const std::string& model : models::cost_model_names()) headings.push_back(model);
  Table table(std::move(headings));
  for (const std::int64_t size : blocks) {
    std::vector<std::string> row{fmt::format("N = {}", size)};
    for (const std::string& model : models::cost_model_names()) {
      std::vector<double> errors;
      for (const Case& one : cases) {
        const auto found = one.predicted_s.find(model);
        if (one.problem.blocks() != size || found == one.predicted_s.end()) continue;
        errors.push_back(proportional_error(one.measured_s(), found->second));
      }
      row.push_back(errors.empty() ? "-" : fmt::format("{:.2f}", mean(errors)));
    }
    table.add_row(std::move(row));
  }
  return table.text();
}

RunRecord record(const Session& session, const std::vector<Case>& cases) {
  RunRecord record;
  record.app = "summa-communication";
  record.argv = session.arguments();
  record.mpi = Session::mpi_version();
  record.hosts = session.nodes().hosts;
  record.params = {{"ranks", session.size()}, {"nodes", session.nodes().count()}};
  for (const Case& one : cases) {
    const auto add = [&](const std::string& metric, double value, const std::string& model) {
      Sample sample;
      sample.params = {{"blocks", static_cast<double>(one.problem.blocks())},
                       {"block", static_cast<double>(one.problem.block)}};
      sample.metric = metric;
      sample.value = value;
      sample.keys = {{"rectangles", one.name}};
      if (!model.empty()) sample.keys["model"] = model;
      record.samples.push_back(std::move(sample));
    };
    for (const double time_s : one.rounds_s) add("communication_s", time_s, "");
    for (const auto& [model, time_s] : one.predicted_s) add("predicted_s", time_s, model);
  }
  return record;
}

ExitCode validate(Session& session, const Options& options) {
  if (session.size() < 2) throw InvalidArgument("1 rank (expected at least two: mpirun -n 2 …)");
  RunOptions run;
  run.units = UnitChoice::host;
  const StartedUnits started(session, run);
  CoExecution co_execution(session.machine(), started.units());
  UnitGroup group(session.comm(), co_execution, started.units(), gather_slots(session, started.units()));
  CalibrationPlan plan;
  const std::vector<NodeFacts> facts = gather_node_facts(session);
  collectively(session.comm(), [&] { plan = plan_calibration(session.nodes(), facts); });
  std::vector<Case> cases = make_cases(options, session.size());
  CalibrationDepth depth;
  depth.time_s = options.time_s;
  depth.footprint_bytes = options.footprint_bytes;
  std::vector<MeasuredChannel> measured;
  {
    ChannelMeasurement measurement(session.comm(), plan.channels, depth);
    Progress progress("calibrating and multiplying", static_cast<std::int64_t>(cases.size()) * options.rounds,
                      session.is_root());
    for (int round = 0; round < options.rounds; ++round) {
      for (Case& one : cases) {
        measurement.round();
        one.rounds_s.push_back(communication_s(session, group, one));
        progress.advance();
      }
    }
    measured = measurement.result();
  }
  models::Platform platform;
  collectively(session.comm(), [&] {
    if (!options.base.empty()) platform = models::read_platform_file(options.base);
    // They stand in for channels that cannot be measured here, whatever nodes they were measured on.
    for (models::Channel& channel : platform.channels) channel.between.clear();
    for (std::size_t i = 0; i < measured.size(); ++i) add_channel(platform, plan.channels[i], measured[i].times);
  });
  const models::Placement placement = place_ranks(session, platform);
  collectively(session.comm(), [&] { predict(cases, platform, placement); });
  std::string heading = fmt::format("{} ranks on {} node{}, blocks of {}", session.size(), session.nodes().count(),
                                    session.nodes().count() == 1 ? "" : "s", options.block);
  for (const std::string& reason : plan.refused) heading += fmt::format("\noversubscribed: {}", reason);
  session.print(heading + "\n\n" + detail_table(cases) + "\n" + error_table(cases, options.blocks));
  if (!options.result.empty()) {
    on_root(session.comm(), [&] { write_run_record(options.result, record(session, cases)); });
  }
  return ExitCode::good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Communication of summa beside its predictions, with their mean proportional error",
                  "steelyard-summa-communication");
  add_standard_options(parser);
  Options options;
  parser.add_option("--matrices", options.blocks, "Matrix sizes N in blocks")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 16))
      ->type_name("N...")
      ->capture_default_str();
  parser.add_option("--block", options.block, "Rows and columns of a block")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 16))
      ->type_name("B")
      ->capture_default_str();
  parser.add_option("--rounds", options.rounds, "Times that everything is gone through, in turns")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  parser.add_option("--time", options.time_s, "Seconds for a message size in a round of the calibration, about")
      ->check(CLI::Range(1e-6, 10.0))
      ->type_name("S")
      ->capture_default_str();
  parser
      .add_option("--footprint", options.footprint_bytes,
                  "Memory that every rank goes through between messages of the calibration")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES")
      ->capture_default_str();
  parser
      .add_option("--base", options.base,
                  "Platform file with channels for which there are too few cores here, such as shared memory")
      ->type_name("FILE");
  parser.add_option("--result", options.result, "Folder for run.json and samples.jsonl")->type_name("DIR");
  return run_program(argc, argv, parser, [&](Session& session) { return validate(session, options); });
}
