// Communication of summa as the paper measures it, with a barrier before every iteration (001, section 5.4), beside
// what the models make of a calibration that takes turns with it (001, figures 12 and 14, table 2). Run it with mpirun.

#include <numeric>
#include <optional>

#include "benchmarks/communication_cases.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/gemm/problem.hpp"
#include "miniapps/summa/multiplication.hpp"
#include "miniapps/summa/plan.hpp"
#include "models/communication/cost_models.hpp"
#include "models/communication/platform.hpp"
#include "partition/rectangles/column.hpp"

namespace {

using namespace steelyard;

struct Options : CommunicationOptions {
  std::vector<std::int64_t> blocks{128, 256};
  std::int64_t block = 32;
};

/// A matrix cut into rectangles.
struct Case : CommunicationCase {
  summa::Problem problem;
  std::vector<partition::Rectangle> rectangles;
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
        const std::string name = fmt::format("1:{:g} in {} column{}", most, columns, columns == 1 ? "" : "s");
        cases.push_back({{{fmt::format("{}", blocks), name},
                          fmt::format("N = {}", blocks),
                          {{"blocks", static_cast<double>(blocks)}, {"block", static_cast<double>(options.block)}},
                          {{"rectangles", name}}},
                         problem,
                         partition::column(areas, problem.extents(), columns).rectangles});
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
    multiplication.emplace(group, one.problem, one.rectangles[rank],
                           PerUnit<std::int64_t>{one.rectangles[rank].rows, 0}, gemm::DeviceUse{}, source);
    multiplication->load_c(source);
  });
  summa::PivotExchange exchange(summa::Communication::paper, session.comm(), one.problem, one.rectangles, MPI_DOUBLE);
  double sum_s = 0.0;
  for (const double iteration_s :
       all_max(session.comm(), multiplication->run(exchange, session.comm()).communication_s)) {
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

ExitCode validate(Session& session, const Options& options) {
  StartedGroup all(session, run_options(UnitChoice::host));
  std::vector<Case> cases = make_cases(options, session.size());
  const CalibratedPlatform calibrated = calibrate_in_turns(session, options, [&](const auto& calibrate) {
    for (Case& one : cases) {
      calibrate();
      one.rounds_s.push_back(communication_s(session, all.group, one));
    }
  });
  const models::Placement placement = place_ranks(session, calibrated.platform);
  collectively(session.comm(), [&] { predict(cases, calibrated.platform, placement); });
  session.print(fmt::format("{}\nblocks of {}\n\n{}\n{}", calibrated.text, options.block,
                            case_table(cases, {"N", "rectangles"}, models::cost_model_names()),
                            error_table(cases, models::cost_model_names())));
  write_cases(session, "summa-communication", options, "communication_s", cases);
  return ExitCode::good;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Communication of summa beside its predictions, with their mean proportional error",
                  "steelyard-summa-communication");
  add_standard_options(parser);
  Options options;
  options.depth.footprint_bytes = std::size_t{1} << 28;
  options.add_to(parser);
  add_number(parser, "--matrices", options.blocks, "Matrix sizes N in blocks", 1, 1 << 16)->capture_default_str();
  add_number(parser, "--block", options.block, "Rows and columns of a block", 1, 1 << 16)->capture_default_str();
  parser
      .add_option("--footprint", options.depth.footprint_bytes,
                  "Memory that every rank goes through between messages of the calibration")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES")
      ->capture_default_str();
  return run_program(argc, argv, parser, [&](Session& session) { return validate(session, options); });
}
