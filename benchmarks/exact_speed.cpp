// Run time of the exact partitioning algorithms: on tables of the paper's shape, and on tables made against them. A row
// is the median of several random problems; everything runs on one core.

#include <cmath>
#include <random>

#include "benchmarks/program.hpp"
#include "core/base/progress.hpp"
#include "partition/time_table.hpp"

namespace {

using namespace steelyard;
using partition::TimeTable;

using Random = std::mt19937_64;

struct Problem {
  std::vector<TimeTable> tables;
  std::int64_t total = 0;
};

double uniform(Random& random, double low, double high) {
  return low + (high - low) * std::generate_canonical<double, 53>(random);
}

/// Times of a speed function as figures 1 and 2 of 002 show them: it rises, then stays, and varies everywhere by
/// `variation`, the relative difference of two neighbours' speeds.
TimeTable varied_table(Random& random, int sizes, double variation) {
  const double pace_s = std::exp(uniform(random, -1.0, 1.0));
  const double rise = uniform(random, 0.02, 0.2) * sizes;
  TimeTable table;
  for (int units = 1; units <= sizes; ++units) {
    const double smooth_s = pace_s * (units + rise * (1.0 - std::exp(-units / rise)));
    table.entries.push_back({units, smooth_s * (1.0 + uniform(random, 0.0, variation))});
  }
  return table;
}

/// A table for each of the variations.
std::vector<TimeTable> varied_tables(Random& random, int sizes, const std::vector<double>& variations) {
  std::vector<TimeTable> tables;
  for (const double variation : variations) tables.push_back(varied_table(random, sizes, variation));
  return tables;
}

/// Every size takes the same time up to noise, and all but one are even: sums stay far apart, and nothing tells early
/// which choice was wrong.
std::vector<TimeTable> coarse_tables(Random& random, int count, int sizes) {
  std::vector<TimeTable> tables(static_cast<std::size_t>(count));
  for (TimeTable& table : tables) {
    for (int units = 2; units <= sizes; units += 2) {
      if (uniform(random, 0.0, 1.0) < 0.5) table.entries.push_back({units, uniform(random, 1.0, 2.0)});
    }
  }
  auto& odd = tables.back().entries;
  std::erase_if(odd, [](const TimeTable::Entry& entry) { return entry.units > 2; });
  odd.push_back({5, 3.0});
  return tables;
}

/// Solves `count` problems with both and adds a row. @param most_nodes for hpopta: 0 for any
void add_row(Table& table, const std::string& name, int count, std::uint64_t seed, std::int64_t most_nodes,
             const auto& make) {
  Random random(seed);
  std::vector<Problem> problems;
  for (int i = 0; i < count; ++i) problems.push_back(make(random));
  std::vector<double> exact_s, hpopta_s, nodes, excess;
  int proven = 0, complete = 0;
  for (const Problem& problem : problems) {
    partition::ExactResult result;
    exact_s.push_back(seconds_of([&] { result = partition::exact(problem.total, problem.tables); }));
    proven += result.total_time_is_least ? 1 : 0;
    excess.push_back(result.total_time_is_least ? 0.0 : result.total_time_excess_s / result.total_time_s);
    try {
      partition::HpoptaResult published;
      hpopta_s.push_back(seconds_of([&] { published = partition::hpopta(problem.total, problem.tables, most_nodes); }));
      nodes.push_back(static_cast<double>(published.nodes));
      complete += published.complete ? 1 : 0;
      const double found_s = published.distribution.makespan_s();
      const double least_s = result.distribution.makespan_s();
      if (published.complete ? found_s != least_s : found_s < least_s) {
        throw RuntimeFailure(fmt::format("hpopta found {} s, exact {} s", found_s, least_s));
      }
    } catch (const RuntimeFailure& failure) {
      if (most_nodes == 0) throw;
      nodes.push_back(static_cast<double>(most_nodes));
    }
  }
  std::string hpopta = "-", ratio = "-";
  if (!hpopta_s.empty()) {
    hpopta = format_seconds(median(hpopta_s));
    ratio = fmt::format("{:.1f}", median(hpopta_s) / median(exact_s));
  }
  const auto& [tables, total] = problems.front();
  table.add_row({name, fmt::format("{}", tables.size()), fmt::format("{}", tables.front().entries.size()),
                 fmt::format("{}", total), format_seconds(median(exact_s)), hpopta, ratio,
                 fmt::format("{:.0f}", median(nodes)), fmt::format("{} of {}", complete, count),
                 fmt::format("{} of {}", proven, count), fmt::format("{:.1g}", median(excess))});
}

/// Three units with tables of the sizes of section 6.2: 700 (matrix products) and 1090 (Fourier transforms).
/// @param shares of a table's largest size that workloads are
/// @param products,transforms largest variations of the units' speeds
void add_paper_shape(Table& table, const std::string& name, int repetitions, std::uint64_t seed,
                     const std::vector<double>& shares, const std::vector<double>& products,
                     const std::vector<double>& transforms) {
  for (const auto& [sizes, variations] : {std::pair(700, products), std::pair(1090, transforms)}) {
    for (const double share : shares) {
      add_row(table, name, repetitions, seed, 0, [&, sizes = sizes, &variations = variations](Random& random) {
        return Problem{varied_tables(random, sizes, variations), static_cast<std::int64_t>(share * sizes)};
      });
    }
  }
}

/// Tables on which the tree of HPOPTA grows large.
void add_against_hpopta(Table& table, std::int64_t most_nodes) {
  for (const std::size_t count : {4, 8, 16, 32, 64, 128, 256}) {
    const std::vector<double> variations(count, 1.5);
    add_row(table, "more units", 3, 2, most_nodes, [&](Random& random) {
      return Problem{varied_tables(random, 200, variations), 100 * std::ssize(variations)};
    });
  }
  for (const int count : {4, 8, 16, 32, 64, 128}) {
    add_row(table, "one odd size", 3, 3, most_nodes, [&](Random& random) {
      return Problem{coarse_tables(random, count, 200), std::int64_t{100} * (count - 1) + 1};
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Times the exact partitioning algorithms on random problems", "steelyard-exact-speed");
  add_standard_options(parser);
  int repetitions = 11;
  std::int64_t most_nodes = 5'000'000;
  add_number(parser, "--repetitions", repetitions, "Problems for each row of the paper's shape", 1, 100000)
      ->capture_default_str();
  add_number(parser, "--nodes", most_nodes, "Nodes after which hpopta is stopped", 1,
             std::numeric_limits<std::int64_t>::max())
      ->capture_default_str();
  return run_program(argc, argv, parser, [&](Session& session) {
    Table table(
        {"problem", "p", "m", "n", "exact", "hpopta", "ratio", "nodes", "hpopta done", "total time proven", "excess"});
    Progress progress("timing", 3);
    add_paper_shape(table, "paper's shape", repetitions, 1, {0.25, 0.5, 1.0, 2.0, 2.9}, {1.5, 1.5, 1.5},
                    {1.5, 1.5, 1.5});
    progress.advance();
    // The largest variations that section 1 names for the three units, and those everywhere.
    add_paper_shape(table, "paper's shape, strong", repetitions, 5, {1.0, 1.5, 2.0, 2.5, 2.9, 3.0}, {7.0, 0.5, 1.5},
                    {3.5, 5.6, 2.0});
    progress.advance();
    add_against_hpopta(table, most_nodes);
    session.print(table.text());
    return ExitCode::good;
  });
}
