// What evaluating a prediction costs, and what it predicts, as the number of processes grows: the communication of one
// iteration of SUMMA and of a halo exchange on a column partition of a matrix of blocks.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <random>

#include "benchmarks/table_result.hpp"
#include "core/base/errors.hpp"
#include "core/base/plot/svg_plot.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"
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
  bool all_iterations = false;
  std::filesystem::path platform;
  std::filesystem::path plots;
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

double seconds(const Options& options, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < options.repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return median(times);
}

/// A number of processes, how long the evaluations take and what they say.
struct Row {
  int processes = 0;
  std::string pattern;
  std::size_t transmissions = 0;
  double expression_s = 0.0;
  double aligned_s = 0.0;
  double event_s = 0.0;
  double aligned_cost_s = 0.0;
  double event_cost_s = 0.0;
};

std::vector<int> nodes_of(const Options& options, int processes) {
  std::vector<int> nodes;
  for (int process = 0; process < processes; ++process) nodes.push_back(process / options.processes_per_node);
  return nodes;
}

Row evaluate(const Options& options, const models::Platform& platform,
             const std::function<models::MessagePattern()>& make_pattern) {
  Row row;
  models::MessagePattern pattern;
  models::Expression expression;
  const models::TauLop model(platform, models::BeyondMeasured::proportional);
  row.expression_s = seconds(options, [&] {
    pattern = make_pattern();
    expression = models::expression(pattern, models::Placement(platform, nodes_of(options, pattern.processes)));
  });
  row.processes = pattern.processes;
  row.pattern = pattern.name;
  for (const models::Phase& phase : pattern.phases) row.transmissions += phase.messages.size();
  models::ReducedForm form;
  row.aligned_s = seconds(options, [&] { form = models::aligned_form(expression, model); });
  row.aligned_cost_s = models::cost_s(form, model);
  row.event_s = seconds(options, [&] { form = models::event_form(expression, model); });
  row.event_cost_s = models::cost_s(form, model);
  return row;
}

/// All iterations, each with its own pattern, once. Source: 001, equation 11.
Row evaluate_summa(const Options& options, const models::Platform& platform,
                   const std::vector<partition::Rectangle>& rectangles) {
  Row row;
  row.processes = static_cast<int>(rectangles.size());
  row.pattern = "SUMMA";
  const models::TauLop model(platform, models::BeyondMeasured::proportional);
  const models::Placement placement(platform, nodes_of(options, row.processes));
  Options once = options;
  once.repetitions = 1;
  for (std::int64_t k = 0; k < options.blocks; ++k) {
    models::Expression expression;
    row.expression_s += seconds(once, [&] {
      const models::MessagePattern pattern = partition::summa_pattern(rectangles, k, 1, options.block_bytes);
      for (const models::Phase& phase : pattern.phases) row.transmissions += phase.messages.size();
      expression = models::expression(pattern, placement);
    });
    row.aligned_s +=
        seconds(once, [&] { row.aligned_cost_s += models::cost_s(models::aligned_form(expression, model), model); });
    row.event_s +=
        seconds(once, [&] { row.event_cost_s += models::cost_s(models::event_form(expression, model), model); });
  }
  return row;
}

std::vector<Row> evaluate_all(const Options& options) {
  const models::Platform platform =
      options.platform.empty() ? round_numbers() : models::read_platform_file(options.platform);
  std::vector<Row> rows;
  for (const int processes : options.processes) {
    // Speeds between 1 and 4, always the same.
    std::mt19937_64 random(1);
    std::vector<double> areas;
    for (int i = 0; i < processes; ++i)
      areas.push_back(1.0 + 3.0 * static_cast<double>(random()) / 1.8446744073709552e19);
    const partition::ColumnPartition partition = partition::column(areas, {options.blocks, options.blocks});
    rows.push_back(evaluate(options, platform, [&] {
      return partition::summa_pattern(partition.rectangles, options.blocks / 2, 1, options.block_bytes);
    }));
    if (options.all_iterations) rows.push_back(evaluate_summa(options, platform, partition.rectangles));
    rows.push_back(evaluate(options, platform, [&] {
      return partition::halo_pattern(partition.rectangles, std::sqrt(options.block_bytes));
    }));
  }
  return rows;
}

std::string table_text(const std::vector<Row>& rows) {
  Table table(
      {"processes", "pattern", "transmissions", "expression", "aligned", "event", "aligned cost", "event cost"});
  for (const Row& row : rows) {
    table.add_row({fmt::format("{}", row.processes), row.pattern, fmt::format("{}", row.transmissions),
                   format_seconds(row.expression_s), format_seconds(row.aligned_s), format_seconds(row.event_s),
                   format_seconds(row.aligned_cost_s), format_seconds(row.event_cost_s)});
  }
  return table.text();
}

void plot(const std::filesystem::path& file, const std::string& y_label, const std::vector<Row>& rows,
          double Row::*aligned, double Row::*event) {
  SvgPlot chart;
  chart.title = "tau-Lop on a column partition";
  chart.x_label = "processes";
  chart.y_label = y_label;
  chart.x_scale = chart.y_scale = SvgPlot::Scale::logarithmic;
  for (const auto& [name, value] : {std::pair{"aligned", aligned}, std::pair{"event", event}}) {
    for (const char* pattern : {"SUMMA iteration", "2D halo exchange"}) {
      SvgPlot::Series series;
      series.name = fmt::format("{}, {}", pattern, name);
      series.line = true;
      for (const Row& row : rows) {
        if (row.pattern != pattern || !(row.*value > 0.0)) continue;
        series.x.push_back(row.processes);
        series.y.push_back(row.*value);
      }
      chart.series.push_back(std::move(series));
    }
  }
  write_text_file(file, chart.text());
}

void run(const Options& options) {
  const std::vector<Row> rows = evaluate_all(options);
  fmt::print("{}", table_text(rows));
  if (options.plots.empty()) return;
  plot(options.plots / "evaluation_time.svg", "seconds of evaluation", rows, &Row::aligned_s, &Row::event_s);
  plot(options.plots / "predicted_cost.svg", "predicted seconds", rows, &Row::aligned_cost_s, &Row::event_cost_s);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Time and result of tau-Lop's evaluations for SUMMA and a halo exchange, by number of processes",
                  "steelyard-communication-scale");
  const steelyard::TableResult result(parser, argc, argv);
  Options options;
  const CLI::Range positive(1, 1 << 20);
  parser.add_option("--processes", options.processes, "Numbers of processes")->check(positive)->type_name("P...");
  parser.add_option("--blocks", options.blocks, "Block rows and columns of the matrix")
      ->check(positive)
      ->type_name("N")
      ->capture_default_str();
  parser.add_option("--processes-per-node", options.processes_per_node, "Processes that share a memory")
      ->check(positive)
      ->type_name("N")
      ->capture_default_str();
  parser.add_option("--repetitions", options.repetitions, "Of each timing; the median counts")
      ->check(positive)
      ->type_name("N")
      ->capture_default_str();
  parser.add_flag("--all-iterations", options.all_iterations, "Also all iterations of SUMMA, once");
  parser.add_option("--platform", options.platform, "Measured channels (default: round numbers)")->type_name("FILE");
  parser.add_option("--plots", options.plots, "Folder for two charts")->type_name("DIR");
  CLI11_PARSE(parser, argc, argv);
  try {
    run(options);
  } catch (const Error& error) {
    fmt::print(stderr, "steelyard-communication-scale: {}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
