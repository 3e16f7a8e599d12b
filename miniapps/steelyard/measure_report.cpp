#include "miniapps/steelyard/measure_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/table.hpp"
#include "miniapps/app/run_text.hpp"

namespace steelyard::tool {
namespace {

using models::MeasuredPoint;

const MeasuredPoint* find(const std::vector<MeasuredPoint>& points, double units) {
  const auto place =
      std::find_if(points.begin(), points.end(), [&](const MeasuredPoint& point) { return point.units == units; });
  return place != points.end() ? &*place : nullptr;
}

const MeasuredPoint* find(const models::FpmFile& file, double units) {
  const MeasuredPoint* point = find(file.points, units);
  return point != nullptr ? point : find(file.imprecise, units);
}

std::vector<MeasuredPoint> all_points(const models::FpmFile& file) {
  std::vector<MeasuredPoint> points = file.points;
  points.insert(points.end(), file.imprecise.begin(), file.imprecise.end());
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.units < b.units; });
  return points;
}

/// Every round was precise, but they differ by more.
bool drifts(const MeasuredPoint& point, const BuildPlan& plan) {
  return point.confidence_s > plan.precision.relative * point.time_s;
}

std::string use(const models::FpmFile& file, const MeasuredPoint& point, const BuildPlan& plan) {
  if (find(file.points, point.units) == nullptr) return file.points.empty() ? "yes, imprecise" : "no, imprecise";
  return drifts(point, plan) ? "yes, drifts" : "yes";
}

std::string share(double part, double whole) {
  return whole > 0.0 ? fmt::format("{:.1f} %", 100.0 * part / whole) : "-";
}

}  // namespace

std::string measure_header(const Nodes& nodes, const KernelFacts& kernel, const BuildPlan& plan) {
  std::string parameters;
  for (const auto& [name, value] : kernel.parameters) parameters += fmt::format(", {} {:g}", name, value);
  return fmt::format(
      "{}{} {}{}; a computation unit is {}\n{} on {}, all units of a node at once{}; {:g} % precise at level {:g}, {} "
      "to "
      "{} repetitions in each of {}\n",
      kernel.app, kernel.kernel == kernel.app ? "" : " " + kernel.kernel, kernel.element, parameters,
      kernel.computation_unit, counted(std::ssize(nodes.node_of_rank), "rank"), counted(nodes.count(), "node"),
      plan.solo ? ", then each alone" : "", 100.0 * plan.precision.relative, plan.precision.confidence,
      plan.precision.repetitions_min, plan.precision.repetitions_max, counted(plan.rounds, "round"));
}

std::string measure_table(const std::vector<MeasuredUnit>& units, const BuildPlan& plan) {
  std::vector<std::string> headings{"unit",     "size",    "time",    "+-",  "repetitions",
                                    "outliers", "units/s", "GFLOP/s", "GB/s"};
  if (plan.solo) headings.insert(headings.end(), {"alone", "contention"});
  headings.emplace_back("used");
  Table table(headings);
  for (const MeasuredUnit& unit : units) {
    const std::string name =
        fmt::format("rank {} {}{}", unit.rank, unit.group.unit_kind,
                    unit.group.slowdown > 1.0 ? fmt::format("/{:g} (emulated)", unit.group.slowdown) : "");
    for (const MeasuredPoint& point : all_points(unit.group)) {
      std::vector<std::string> row{name,
                                   fmt::format("{:.0f}", point.units),
                                   format_seconds(point.time_s),
                                   share(point.confidence_s, point.time_s),
                                   fmt::format("{}", point.repetitions),
                                   fmt::format("{}", point.outliers),
                                   fmt::format("{:.4g}", point.speed()),
                                   fmt::format("{:.2f}", 1e-9 * point.speed() * unit.group.flops_per_unit),
                                   fmt::format("{:.2f}", 1e-9 * point.speed() * unit.group.bytes_per_unit)};
      const MeasuredPoint* alone = unit.solo ? find(*unit.solo, point.units) : nullptr;
      if (plan.solo) {
        row.push_back(alone != nullptr ? format_seconds(alone->time_s) : "-");
        row.push_back(alone != nullptr ? fmt::format("{:.2f}", point.time_s / alone->time_s) : "-");
      }
      row.push_back(use(unit.group, point, plan));
      table.add_row(row);
    }
  }
  return table.text();
}

std::string measure_summary(const std::vector<MeasuredUnit>& units, const BuildPlan& plan, const MeasuringTime& time) {
  int runs = 0;
  int outliers = 0;
  std::size_t imprecise = 0;
  std::ptrdiff_t drifting = 0;
  std::size_t points = 0;
  for (const MeasuredUnit& unit : units) {
    for (const models::FpmFile* file : {&unit.group, unit.solo ? &*unit.solo : nullptr}) {
      if (file == nullptr) continue;
      imprecise += file->imprecise.size();
      drifting += std::count_if(file->points.begin(), file->points.end(),
                                [&](const MeasuredPoint& point) { return drifts(point, plan); });
      points += file->imprecise.size() + file->points.size();
      for (const MeasuredPoint& point : all_points(*file)) {
        runs += point.repetitions;
        outliers += point.outliers;
      }
    }
  }
  std::string text =
      fmt::format("measured   {} points in {}: {} in timed kernels, {} around them ({} of kernel time{})\n", points,
                  format_seconds(time.total_s), format_seconds(time.kernels_s), format_seconds(time.overhead_s),
                  share(time.overhead_s, time.kernels_s),
                  time.long_kernels_s > 0.0
                      ? fmt::format("; {} for points over 10 ms", share(time.long_overhead_s, time.long_kernels_s))
                      : "");
  text += fmt::format("outliers   {} of {} repetitions, kept in the means\n", outliers, runs);
  if (drifting > 0) {
    text +=
        fmt::format("drift      {} of {} points: rounds differ by more than their precision, as the intervals say\n",
                    drifting, points);
  }
  if (imprecise > 0) {
    text += fmt::format(
        "imprecise  {} of {} points: some unit of the node was not precise in time; they count only where "
        "no other does\n",
        imprecise, points);
  }
  return text;
}

std::string adaptive_summary(const BuildPlan& plan, double uncertain) {
  const models::AdaptiveGoal& goal = *plan.adaptive;
  if (uncertain > 0.0) {
    return fmt::format("adaptive   stopped at {} sizes with an estimated error of {:.1f} % (goal {:.1f} %)\n",
                       plan.most_sizes, 100.0 * uncertain, 100.0 * goal.error);
  }
  return fmt::format("adaptive   estimated error below {:.1f} %, beyond what the intervals say, from {} to {} units\n",
                     100.0 * goal.error, goal.smallest, goal.largest);
}

}  // namespace steelyard::tool
