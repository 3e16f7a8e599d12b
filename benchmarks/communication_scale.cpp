// Time of evaluating a prediction, and the prediction, as the number of processes grows: the communication of one
// iteration of SUMMA and of a halo exchange on a column partition of a matrix of blocks.

#include <cmath>
#include <filesystem>
#include <random>

#include "benchmarks/program.hpp"
#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"
#include "partition/rectangles/column.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace {

using namespace steelyard;

struct Options {
  std::vector<int> processes{10, 30, 100, 300, 1000, 3000, 10000};
  std::int64_t blocks = 1024;
  double block_bytes = 32.0 * 32.0 * 8.0;
  int processes_per_node = 64;
  int repetitions = 3;
  std::filesystem::path platform;
};

/// Shared memory of 20 GB/s and a network of 10 GB/s, which concurrent transfers share.
models::Platform round_numbers() {
  const auto channel = [](int id, std::vector<int> path, double overhead_s, double bytes_per_s) {
    models::Channel result;
    result.id = id;
    result.scope = id == 0 ? models::Channel::Scope::node : models::Channel::Scope::network;
    result.path = std::move(path);
    std::vector<models::TransferPoint> transfers;
    for (const int tau : {1, 2, 4, 8, 16}) transfers.push_back({1e6, tau, 1e6 * tau / bytes_per_s});
    result.tau_lop.emplace(
        models::TauLopTables{models::SizeTable({{0.0, overhead_s}}, models::SizeTable::Outside::constant),
                             models::TransferTable(transfers)});
    return result;
  };
  models::Platform platform;
  platform.channels = {channel(0, {0, 0}, 3e-7, 2e10), channel(1, {0, 1, 0}, 2e-6, 1e10)};
  return platform;
}

double median_seconds(const Options& options, const std::function<void()>& work) {
  std::vector<double> times_s;
  for (int i = 0; i < options.repetitions; ++i) times_s.push_back(seconds_of(work));
  return median(times_s);
}

std::vector<int> nodes_of(const Options& options, int processes) {
  std::vector<int> nodes;
  for (int process = 0; process < processes; ++process) nodes.push_back(process / options.processes_per_node);
  return nodes;
}

/// Adds how long the evaluations of a pattern take and what they say.
void add_row(Table& table, const Options& options, const models::Platform& platform,
             const std::function<models::MessagePattern()>& make_pattern) {
  models::MessagePattern pattern;
  models::Expression expression;
  const models::TauLop model(platform, models::BeyondMeasured::proportional);
  const double expression_s = median_seconds(options, [&] {
    pattern = make_pattern();
    expression = models::expression(pattern, models::Placement(platform, nodes_of(options, pattern.processes)));
  });
  std::size_t transmissions = 0;
  for (const models::Phase& phase : pattern.phases) transmissions += phase.messages.size();
  models::ReducedForm aligned, event;
  const double aligned_s = median_seconds(options, [&] { aligned = models::aligned_form(expression, model); });
  const double event_s = median_seconds(options, [&] { event = models::event_form(expression, model); });
  table.add_row({fmt::format("{}", pattern.processes), pattern.name, fmt::format("{}", transmissions),
                 format_seconds(expression_s), format_seconds(aligned_s), format_seconds(event_s),
                 format_seconds(models::cost_s(aligned, model)), format_seconds(models::cost_s(event, model))});
}

Table evaluate(const Options& options) {
  const models::Platform platform =
      options.platform.empty() ? round_numbers() : models::read_platform_file(options.platform);
  Table table(
      {"processes", "pattern", "transmissions", "expression", "aligned", "event", "aligned cost", "event cost"});
  for (const int processes : options.processes) {
    // Speeds between 1 and 4, always the same.
    std::mt19937_64 random(1);
    std::vector<double> areas;
    for (int i = 0; i < processes; ++i) {
      areas.push_back(1.0 + 3.0 * static_cast<double>(random()) / 1.8446744073709552e19);
    }
    const partition::ColumnPartition partition = partition::column(areas, {options.blocks, options.blocks});
    add_row(table, options, platform,
            [&] { return partition::summa_pattern(partition.rectangles, options.blocks / 2, 1, options.block_bytes); });
    add_row(table, options, platform,
            [&] { return partition::halo_pattern(partition.rectangles, std::sqrt(options.block_bytes)); });
  }
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Time and result of tau-Lop's evaluations for SUMMA and a halo exchange, by number of processes",
                  "steelyard-communication-scale");
  const TableResult result(parser, argc, argv);
  add_standard_options(parser);
  Options options;
  add_number(parser, "--processes", options.processes, "Numbers of processes", 1, 1 << 20)->capture_default_str();
  add_number(parser, "--blocks", options.blocks, "Block rows and columns of the matrix", 1, 1 << 20)
      ->capture_default_str();
  add_number(parser, "--processes-per-node", options.processes_per_node, "Processes that share a memory", 1, 1 << 20)
      ->capture_default_str();
  add_number(parser, "--repetitions", options.repetitions, "Of each timing; the median counts", 1, 1 << 20)
      ->capture_default_str();
  parser.add_option("--platform", options.platform, "Measured channels (default: round numbers)")->type_name("FILE");
  return run_program(argc, argv, parser, [&](Session& session) {
    session.print(evaluate(options).text());
    return ExitCode::good;
  });
}
