#include "miniapps/app/speed_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "comm/collective.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "core/base/errors.hpp"
#include "core/base/progress.hpp"
#include "core/base/table.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/timing.hpp"
#include "miniapps/app/frame.hpp"
#include "models/kinds/model_kinds.hpp"

namespace steelyard {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr double same_size = 0.02;  ///< sizes closer than this are one point
constexpr int most_refinements = 4;
constexpr double settled = 0.02;  ///< largest relative change of a slice at which refinement ends

void require_number_of_files(std::size_t files, const std::vector<Slot>& slots) {
  const std::size_t ranks = static_cast<std::size_t>(slots.back().rank) + 1, per_rank = slots.size() / ranks;
  const bool same_everywhere = slots.size() == per_rank * ranks;
  if (files == 1 || files == slots.size() || (same_everywhere && files == per_rank)) return;
  throw InvalidArgument(fmt::format("--model names {} files for {} processing units (expected 1, one per unit{})",
                                    files, slots.size(), same_everywhere ? " of a rank, or one each" : ""));
}

/// @param found by a file; empty where it does not say
void require_same(const std::filesystem::path& path, const std::string& key, const std::string& found,
                  const std::string& expected, const std::string& why = "") {
  if (found.empty() || found == expected) return;
  throw FileFormatError(path.string(), key, fmt::format("is {} (expected {}{})", found, expected, why));
}

/// Reads the model of a slot, which has to be of this kernel: app, element type and every parameter, where the file
/// says. Its seconds are multiplied by the quotient of `slowdown` and that of the measured unit.
/// @param unit_kind that it has to be of, where both say: files in another order than units, as from
/// `models/*.fpm.json`, would give a host the speed of a device
models::FpmFile read_model_of(const KernelFacts& facts, const std::filesystem::path& path, const std::string& unit_kind,
                              int devices, double slowdown) {
  models::FpmFile file = models::read_fpm_file(path);
  for (const auto& [name, expected] : facts.parameters) {
    const auto found = file.parameters.find(name);
    if (found == file.parameters.end()) continue;
    require_same(path, "parameters." + name, fmt::format("{}", found->second), fmt::format("{}", expected));
  }
  require_same(path, "element", file.element, facts.element);
  require_same(path, "app", file.app, facts.app);
  if (!unit_kind.empty()) {
    require_same(path, "unit.kind", file.unit_kind, unit_kind,
                 ", for --model names files rank by rank, the host's before the device's");
  }
  const auto found = file.parameters.find("devices");
  const double measured_devices = found == file.parameters.end() ? 1.0 : found->second;
  if (file.unit_kind == "device") {
    require_same(path, "parameters.devices", fmt::format("{}", measured_devices), fmt::format("{}", devices));
  }
  const double factor = slowdown / file.slowdown;
  for (models::MeasuredPoint& point : file.points) {
    point.time_s *= factor;
    point.confidence_s *= factor;
    for (double& part_s : point.parts_s) part_s *= factor;
  }
  file.slowdown = slowdown;
  return file;
}

/// Every slot's description on every rank, without points. @throws CollectiveError for a slot without room, if asked
std::vector<models::FpmFile> describe_slots(const Frame& frame, const KernelFacts& facts, bool require_room) {
  std::vector<models::FpmFile> mine;
  frame.collectively([&] {
    for (const Slot& slot : frame.slots()) {
      if (slot.rank != frame.session().rank()) continue;
      mine.push_back(describe_model(frame.session(), frame.units(), slot.kind, facts));
      if (!require_room || mine.back().max_units >= 1.0) continue;
      const double most = std::min(
          unit_memory_bytes(frame.session().machine(), frame.units(), slot.kind, frame.session().nodes().ranks_on_node),
          slot.kind == ProcessingUnit::Kind::host ? HUGE_VAL : facts.device_memory_bytes);
      throw InvalidArgument(fmt::format(
          "a single computation unit ({}) takes {} (expected at most {}, what rank {} {} may use of the memory)",
          facts.computation_unit, format_bytes(facts.memory_bytes_fixed + facts.memory_bytes_per_unit),
          format_bytes(most), slot.rank, mine.back().unit_kind));
    }
  });
  std::vector<models::FpmFile> files;
  for (const std::vector<models::FpmFile>& of_rank : all_gather_models(frame.comm(), mine)) {
    files.insert(files.end(), of_rank.begin(), of_rank.end());
  }
  return files;
}

/// Differences between the origin that a model names and the slot; empty where there are none.
std::string other_origin(const models::FpmFile& model, const models::FpmFile& slot) {
  const auto processor = [](const models::FpmFile& file) {
    const std::size_t comma = file.machine.find(", ");
    return comma == std::string::npos ? "" : file.machine.substr(comma + 2);
  };
  const auto cores = [](const models::FpmFile& file) {
    const bool is_list = file.unit_cores.find_first_not_of("0123456789,-") == std::string::npos;
    return file.unit_cores.empty() || !is_list ? "" : fmt::format("{}", parse_cores(file.unit_cores).size());
  };
  std::string text;
  const auto compare = [&](const char* what, const std::string& found, const std::string& here) {
    if (!found.empty() && found != here)
      text += fmt::format("{}{} {} (here {})", text.empty() ? "" : ", ", what, found, here);
  };
  compare("processor", processor(model), processor(slot));
  compare("execution space", model.unit_device, slot.unit_device);
  compare("BLAS", model.unit_blas, slot.unit_blas);
  compare("cores", cores(model), cores(slot));
  compare("commit", model.commit.substr(0, 12), slot.commit.substr(0, 12));
  return text;
}

/// The most computation units that the slot may ever be given.
std::int64_t most_units(const models::FpmFile& file, std::int64_t total) {
  return file.max_units < static_cast<double>(total) ? static_cast<std::int64_t>(file.max_units) : total;
}

/// Gives every slot `size`, or what it holds where that is less.
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

/// True where every slice changes by at most a computation unit, or by `settled` of itself.
bool are_settled(const Sizes& before, const Sizes& after) {
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::int64_t change = std::abs(after[i] - before[i]);
    if (change > 1 && static_cast<double>(change) > settled * static_cast<double>(after[i])) return false;
  }
  return true;
}

/// Shares out `units` in proportion to speeds that were measured, at least one to a slot, or what it holds where
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

/// Measures all slots at the same time: parts of `total`, evenly shared at first and then by the speeds just measured
/// (at least 1 computation unit a slot, and no more than it holds), once beyond what a unit's own memory holds where
/// `total` is more than that and its kernel runs on, then, as partial models are refined (000, section 2.4.2), at the
/// distribution that `algorithm` makes of them, until it changes by less than 2 %. The larger parts come a second time,
/// which says how speed drifts. Collective; every rank gets the same models.
/// @throws CollectiveError for a slot that holds no computation unit, and where `total` does not fit all slots together
SpeedModels measure_speed_models(Frame& frame, const MeasurableKernel& kernel, std::int64_t total,
                                 const std::string& algorithm) {
  SpeedModels measured(describe_slots(frame, kernel.facts(), true), frame.algorithm(algorithm));
  // Quick rather than precise: a run measures what it needs and no more. Two runs, which say how often to repeat, come
  // first anyway.
  const Precision precision{.repetitions_min = 3, .repetitions_max = 20, .warmups = 0, .time_limit_s = 1.0};
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
  const double start_s = now_s();
  std::vector<models::MeasuredPoint> speeds = measure_part(0);
  for (const std::int64_t divisor : {4, 2, 1}) {
    parts.push_back(proportional_sizes(measured.files(), speeds, total / divisor));
    speeds = measure_part(parts.size() - 1);
  }
  // Again, so that a machine whose speed drifts shows, unless that is long to wait for.
  constexpr double worth_repeating_s = 5.0;
  if (all_max(frame.comm(), now_s() - start_s) < worth_repeating_s) {
    for (std::size_t part = 1; part < parts.size(); ++part) measure_part(part);
  }
  const Sizes out_of_core = sizes_out_of_core(measured.files(), total, even_share);
  if (!out_of_core.empty()) add(out_of_core);
  if (total == 0 || frame.slots().size() == 1) return measured;
  Sizes slices;
  for (int round = 0; round < most_refinements; ++round) {
    Sizes next;
    frame.collectively([&] { next = measured.distribute(total).units; });
    if (round > 0 && are_settled(slices, next)) break;
    slices = next;
    add(slices);
    progress.advance(1, "(refining)");
  }
  // Last what the run is about to do, once more: the latest points count.
  if (slices != parts.back()) add(slices);
  return measured;
}

}  // namespace

SpeedModels::SpeedModels(std::vector<models::FpmFile> files, partition::Algorithm algorithm)
    : algorithm_(std::move(algorithm)), files_(std::move(files)) {
  fit();
}

SpeedModels::SpeedModels(const std::vector<double>& slowdowns, partition::Algorithm algorithm)
    : algorithm_(std::move(algorithm)) {
  for (const double slowdown : slowdowns) models_.push_back(std::make_unique<models::ConstantModel>(1.0 / slowdown));
}

std::vector<const models::SpeedModel*> SpeedModels::pointers() const {
  std::vector<const models::SpeedModel*> pointers;
  for (const models::SpeedModelPtr& model : models_) pointers.push_back(model.get());
  return pointers;
}

void SpeedModels::fit() {
  models_.clear();
  for (const models::FpmFile& file : files_) {
    models_.push_back(file.points.empty() ? nullptr
                                          : models::make_model(file, algorithm_.model_kind, algorithm_.shape));
  }
}

void SpeedModels::add(const std::vector<models::MeasuredPoint>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double units = points[i].units;
    if (!(units > 0.0)) continue;
    const double in_core_units = files_[i].in_core_units;
    std::vector<models::MeasuredPoint>& known = files_[i].points;
    std::erase_if(known, [&](const models::MeasuredPoint& point) {
      const bool same_regime = (point.units <= in_core_units) == (units <= in_core_units);
      if (!same_regime || std::abs(point.units - units) > same_size * units) return false;
      files_[i].drift.add(std::array{point, points[i]});
      files_[i].drift.rounds = 1;  // The last one counts.
      return true;
    });
    known.insert(std::find_if(known.begin(), known.end(),
                              [&](const models::MeasuredPoint& point) { return point.units > units; }),
                 points[i]);
  }
  fit();
}

SpeedModels Resources::speed_models(const MeasurableKernel& kernel, std::int64_t total, const std::string& algorithm,
                                    const std::vector<std::filesystem::path>& paths) {
  if (paths.empty()) return models_without_files(kernel, total, algorithm);
  std::optional<SpeedModels> models;
  on_all_ranks([&] {
    require_number_of_files(paths.size(), slots_);
    std::vector<models::FpmFile> files;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const std::string kind = slots_[i].kind == ProcessingUnit::Kind::host ? "host" : "device";
      files.push_back(read_model_of(kernel.facts(), paths[i % paths.size()], paths.size() > 1 ? kind : "",
                                    slots_[i].devices, slowdowns_[i]));
    }
    models.emplace(std::move(files), this->algorithm(algorithm));
  });
  compare_origins(models->files(), kernel.facts());
  return std::move(*models);
}

void Frame::compare_origins(const std::vector<models::FpmFile>& files, const KernelFacts& facts) {
  const std::vector<models::FpmFile> here = describe_slots(*this, facts, false);
  std::string first;
  int others = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!files[i].note.empty()) doubt(files[i].note);
    const std::string difference = other_origin(files[i], here[i]);
    if (difference.empty()) continue;
    if (!first.empty()) ++others;
    if (first.empty()) first = fmt::format("rank {} {}: {}", slots()[i].rank, here[i].unit_kind, difference);
  }
  if (first.empty()) return;
  doubt(fmt::format("a speed model is of another origin, {}{}", first,
                    others > 0 ? fmt::format("; and {} more", others) : ""));
}

SpeedModels Frame::models_without_files(const MeasurableKernel& kernel, std::int64_t total,
                                        const std::string& algorithm) {
  std::optional<SpeedModels> models;
  const double seconds = timed_region(session_, fmt::format("steelyard::{}::speed_models", kernel.facts().app),
                                      [&] { models = measure_speed_models(*this, kernel, total, algorithm); });
  record_.figures["model_time_s"] += seconds;
  session_.print(fmt::format("speed models measured in {}\n", format_seconds(seconds)));
  return std::move(*models);
}

}  // namespace steelyard
