#include "miniapps/app/speed_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "comm/collective.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "core/base/errors.hpp"
#include "core/base/progress.hpp"
#include "core/base/table.hpp"
#include "core/memory/unit_memory.hpp"

namespace steelyard {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr int most_refinements = 4;
constexpr double settled = 0.02;  ///< refinement ends when no slice changes by a larger share of itself

/// Every slot's description on every rank, without points.
std::vector<models::FpmFile> describe_slots(const Frame& frame, const KernelFacts& facts) {
  std::string mine;
  frame.collectively([&] {
    for (const Slot& slot : frame.slots()) {
      if (slot.rank != frame.session().rank()) continue;
      const models::FpmFile file = describe_model(frame.session(), frame.units(), slot.kind, facts);
      if (!(file.max_units >= 1.0)) {
        throw InvalidArgument(fmt::format(
            "a single computation unit ({}) takes {} (expected at most {}, what rank {} {} may use of the memory)",
            facts.computation_unit, format_bytes(facts.memory_bytes_fixed + facts.memory_bytes_per_unit),
            format_bytes(std::min(unit_memory_bytes(frame.session().machine(), frame.units(), slot.kind,
                                                    frame.session().nodes().ranks_on_node),
                                  slot.kind == ProcessingUnit::Kind::host ? HUGE_VAL : facts.device_memory_bytes)),
            slot.rank, file.unit_kind));
      }
      mine += models::format_fpm(file) + "\n";
    }
  });
  std::vector<models::FpmFile> files;
  for (const std::string& text : all_gather_text(frame.comm(), mine)) {
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      files.push_back(models::parse_fpm_description(text.substr(at, text.find('\n', at) - at), "rank"));
    }
  }
  return files;
}

/// The most computation units that the slot may ever be given.
std::int64_t most_units(const models::FpmFile& file, std::int64_t total) {
  return file.max_units < static_cast<double>(total) ? static_cast<std::int64_t>(file.max_units) : total;
}

/// The same size for every slot, or what it holds where that is less.
Sizes same_sizes(const std::vector<models::FpmFile>& files, std::int64_t size) {
  Sizes sizes;
  for (const models::FpmFile& file : files) sizes.push_back(most_units(file, size));
  return sizes;
}

/// A size out of core for every slot that may need one and has none, `size` for the others; nothing where no slot does.
/// Without it the model would end where the unit's own memory does.
Sizes sizes_out_of_core(const std::vector<models::FpmFile>& files, std::int64_t total, std::int64_t size) {
  constexpr double beyond = 1.5;
  Sizes sizes = same_sizes(files, size);
  bool any = false;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const models::FpmFile& file = files[i];
    const std::int64_t most = most_units(file, total);
    const bool known = !file.points.empty() && file.points.back().units > file.in_core_units;
    if (known || !(static_cast<double>(most) > file.in_core_units)) continue;
    sizes[i] = std::min(most, static_cast<std::int64_t>(beyond * file.in_core_units) + 1);
    any = true;
  }
  return any ? sizes : Sizes{};
}

/// Measures one size per slot, all slots at once; the points of all slots on every rank.
std::vector<models::MeasuredPoint> measure(const Frame& frame, KernelMeasurement& measurement, const Sizes& sizes) {
  const GroupPoint group = measurement.together(frame.own_share(sizes));
  const std::vector<std::vector<models::MeasuredPoint>> all =
      all_gather_points(frame.comm(), {group.host, group.companion});
  std::vector<models::MeasuredPoint> points;
  for (const Slot& slot : frame.slots()) {
    const std::vector<models::MeasuredPoint>& of_rank = all[static_cast<std::size_t>(slot.rank)];
    points.push_back(of_rank[unit_index(slot.kind)]);
  }
  return points;
}

/// Whether no slice changes by more than a computation unit, or a small share of itself; both have the same slots.
bool are_settled(const Sizes& before, const Sizes& after) {
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::int64_t change = std::abs(after[i] - before[i]);
    if (change > 1 && static_cast<double>(change) > settled * static_cast<double>(after[i])) return false;
  }
  return true;
}

/// So many units shared out in proportion to speeds that were measured, at least one to a slot, or what it holds where
/// that is less.
Sizes proportional_sizes(const std::vector<models::FpmFile>& files, const std::vector<models::MeasuredPoint>& speeds,
                         std::int64_t units) {
  double all = 0.0;
  for (const models::MeasuredPoint& point : speeds) all += point.speed();
  Sizes sizes;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto size = static_cast<std::int64_t>(speeds[i].speed() / all * static_cast<double>(units));
    sizes.push_back(most_units(files[i], std::max<std::int64_t>(1, size)));
  }
  return sizes;
}

}  // namespace

SpeedModels measure_speed_models(Frame& frame, const MeasurableKernel& kernel, std::int64_t total,
                                 const std::string& algorithm) {
  const partition::Algorithm distribute = frame.algorithm(algorithm);
  SpeedModels measured(describe_slots(frame, kernel.facts()), distribute);
  // Quick rather than precise: a run measures what it needs and no more.
  Precision precision;
  precision.repetitions_min = 3;
  precision.repetitions_max = 20;
  precision.time_limit_s = 1.0;
  // Two runs, which say how often to repeat, come first anyway.
  precision.warmups = 0;
  KernelMeasurement measurement(frame.comm(), frame.co_execution(), kernel, precision);
  const auto add = [&](const Sizes& sizes) {
    std::vector<models::MeasuredPoint> points = measure(frame, measurement, sizes);
    frame.collectively([&] { measured.add(points); });
    return points;
  };

  const std::int64_t even_share = std::max<std::int64_t>(1, total / static_cast<std::int64_t>(frame.slots().size()));
  // Parts of the whole, first evenly shared and then by the speeds just measured: no slow unit works on a fast one's
  // share, and all are at work at the same time, as in the run.
  std::vector<Sizes> parts{same_sizes(measured.files(), std::max<std::int64_t>(1, even_share / 16))};
  constexpr int larger_parts = 3;
  Progress progress("measuring speed models", 1 + 2 * larger_parts + most_refinements, frame.session().is_root());
  const auto measure_part = [&](std::size_t part) {
    std::vector<models::MeasuredPoint> points = add(parts[part]);
    progress.advance(1, fmt::format("(part {} of {})", part + 1, larger_parts + 1));
    return points;
  };
  std::vector<models::MeasuredPoint> speeds = measure_part(0);
  for (const std::int64_t divisor : {4, 2, 1}) {
    parts.push_back(proportional_sizes(measured.files(), speeds, total / divisor));
    speeds = measure_part(parts.size() - 1);
  }
  for (std::size_t part = 1; part < parts.size(); ++part) measure_part(part);
  const Sizes out_of_core = sizes_out_of_core(measured.files(), total, even_share);
  if (!out_of_core.empty()) add(out_of_core);
  if (total == 0) return measured;
  Sizes slices;
  for (int round = 0; round < most_refinements; ++round) {
    Sizes next;
    frame.collectively([&] { next = distribute.distribute(total, measured.pointers()).units; });
    if (round > 0 && are_settled(slices, next)) break;
    slices = next;
    add(slices);
    progress.advance(1, "(refining)");
  }
  // Last what the run is about to do, once more: the latest points count.
  if (slices != parts.back()) add(slices);
  return measured;
}

}  // namespace steelyard
