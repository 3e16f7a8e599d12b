#include "core/unit_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"
#include "core/spaces.hpp"

namespace steelyard {
namespace {

int parse_count(const std::string& what, const std::string& text, int least) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least) {
    throw InvalidArgument(fmt::format("{} is \"{}\" (expected a number >= {})", what, text, least));
  }
  return value;
}

CoreList even_share(const CoreList& cores, int rank_on_node, int ranks_on_node) {
  const auto count = static_cast<int>(cores.size());
  if (ranks_on_node >= count) return {cores[static_cast<std::size_t>(rank_on_node % count)]};
  const auto start = [&](int rank) {
    return cores.begin() + static_cast<std::ptrdiff_t>(rank) * count / ranks_on_node;
  };
  return {start(rank_on_node), start(rank_on_node + 1)};
}

/// Leaves out cores where fewer threads are asked for; more than cores would take turns on them.
void limit_threads(const ThreadRequest& request, int rank, RankUnits& units) {
  if (!units.host) return;
  const auto threads = static_cast<std::size_t>(request.threads);
  CoreList& cores = units.host->cores;
  if (threads > cores.size()) {
    units.note = fmt::format("{} asks for {} threads; the host unit of rank {} has {}, one for each of its cores {}",
                             request.variable, threads, rank, cores.size(), format_cores(cores));
  } else {
    cores.resize(threads);
  }
}

/// A factor of `what` from text. @throws InvalidArgument unless it is a number from 1 to what a run can wait for
double parse_slowdown(const std::string& what, const std::string& text) {
  char* end = nullptr;
  const double factor = std::strtod(text.c_str(), &end);
  constexpr double most = 1e6;
  if (text.empty() || *end != '\0' || !(factor >= 1.0 && factor <= most)) {
    throw InvalidArgument(
        fmt::format("{} is \"{}\" (expected a factor of at least 1 and at most {})", what, text, most));
  }
  return factor;
}

/// Applies a layout line's suboptions to the units and checks that all of them are known.
void apply_suboptions(const LayoutEntry& entry, RankUnits& units) {
  const PerUnit<double> slowdowns = unit_slowdowns(entry);
  if (units.host) units.host->slowdown *= slowdowns.host;
  if (units.companion) units.companion->slowdown *= slowdowns.companion;
  for (const auto& [key, value] : entry.suboptions) {
    if (key != "threads" && key != "OMP_NUM_THREADS") continue;
    const auto threads = static_cast<std::size_t>(parse_count(key, value, 1));
    if (units.host && units.host->cores.size() > threads) units.host->cores.resize(threads);
  }
}

/// The layout's line for a rank of this node; null without a layout.
const LayoutEntry* layout_entry(const Machine& machine, const PlanRequest& request, int rank_on_node) {
  return request.layout != nullptr ? &request.layout->entry(machine.host_name(), rank_on_node) : nullptr;
}

/// The GPU that a rank of this node drives, or the first of `count`: what its layout line says, or KOKKOS_DEVICE_ID,
/// otherwise one rank after the other.
int choose_device(int rank_on_node, const LayoutEntry* entry, int devices, int count) {
  const bool by_layout = entry != nullptr && entry->suboptions.count("device") != 0;
  const char* const by_environment = std::getenv("KOKKOS_DEVICE_ID");
  if (!by_layout && by_environment == nullptr) return devices > 0 ? rank_on_node % (devices / count) * count : -1;
  const std::string text = by_layout ? entry->suboptions.at("device") : by_environment;
  const std::string what = by_layout ? "device" : "KOKKOS_DEVICE_ID";
  const int device = parse_count(what, text, 0);
  // A build without GPUs emulates them all with its Serial companion.
  if (devices == 0) return -1;
  if (device > devices - count) {
    throw InvalidArgument(fmt::format("{} is \"{}\" (expected a number below {})", what, text, devices - count + 1));
  }
  return device;
}

/// Number of this node's ranks that drive one of `count` GPUs from `device` on. Without a layout each drives `count`.
int sharers_of(int device, const Machine& machine, const PlanRequest& request, int devices, int count) {
  int sharers = 0;
  for (int rank = 0; rank < request.ranks_on_node; ++rank) {
    const LayoutEntry* entry = layout_entry(machine, request, rank);
    const int driven = entry == nullptr ? count : entry->units.devices;
    if (driven == 0) continue;
    const int first = choose_device(rank, entry, devices, std::min(driven, devices));
    if (first < device + count && device < first + driven) ++sharers;
  }
  return sharers;
}

/// Whether the layout gives one of these cores to another rank of the node as well.
bool shared_in_layout(const Machine& machine, const PlanRequest& request, const CoreList& cores) {
  const std::string host_name = machine.host_name();
  return std::any_of(request.layout->entries.begin(), request.layout->entries.end(), [&](const LayoutEntry& other) {
    if (other.host_name != host_name || other.rank_on_node == request.rank_on_node) return false;
    if (other.rank_on_node >= request.ranks_on_node) return false;
    if (!other.cores) return true;
    return std::find_first_of(cores.begin(), cores.end(), other.cores->begin(), other.cores->end()) != cores.end();
  });
}

void place_companion(const Machine& machine, CoreList& cores, RankUnits& units, bool with_host) {
  ProcessingUnit& companion = *units.companion;
  CoreList near = cores;
  if (companion.device >= 0) {
    const CoreList local = machine.cores_near(device_facts(companion.device).pci_bus);
    CoreList both;
    std::set_intersection(cores.begin(), cores.end(), local.begin(), local.end(), std::back_inserter(both));
    if (!both.empty()) near = both;
  }
  companion.cores = {near.back()};
  if (!with_host) return;
  if (cores.size() == 1) {
    units.oversubscribed = true;
  } else {
    cores.erase(std::find(cores.begin(), cores.end(), near.back()));
  }
}

}  // namespace

UnitChoice parse_unit_choice(const std::string& text) {
  constexpr int most_devices = 64;
  for (const bool has_host : {true, false}) {
    for (int devices = has_host ? 0 : 1; devices <= most_devices; ++devices) {
      if (format_unit_choice({has_host, devices}) == text) return {has_host, devices};
    }
  }
  throw InvalidArgument(fmt::format(
      "units \"{}\" (expected host, device or host+device, or a number of devices, such as 2device)", text));
}

std::string format_unit_choice(UnitChoice choice) {
  if (!choice.has_companion()) return "host";
  return fmt::format("{}{}device", choice.has_host ? "host+" : "",
                     choice.devices > 1 ? std::to_string(choice.devices) : "");
}

std::optional<ThreadRequest> threads_of_environment() {
  for (const char* variable : {"KOKKOS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char* text = std::getenv(variable);
    if (text == nullptr || *text == '\0') continue;
    const std::string list = text;
    return ThreadRequest{variable, parse_count(variable, list.substr(0, list.find(',')), 1)};
  }
  return std::nullopt;
}

PerUnit<double> unit_slowdowns(const LayoutEntry& entry) {
  PerUnit<double> slowdowns{1.0, 1.0};
  for (const auto& [key, value] : entry.suboptions) {
    if (key == "slowdown" || key == "host_slowdown" || key == "device_slowdown") {
      const double factor = parse_slowdown(key, value);
      if (key != "device_slowdown") slowdowns.host *= factor;
      if (key != "host_slowdown") slowdowns.companion *= factor;
    } else if (key != "threads" && key != "OMP_NUM_THREADS" && key != "device") {
      throw InvalidArgument(fmt::format(
          "suboption \"{}\" is unknown (expected slowdown, host_slowdown, device_slowdown, threads or device)", key));
    }
  }
  return slowdowns;
}

Slowdowns::Slowdowns(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    std::string target = word.substr(0, equals);
    const bool rank = target.rfind("rank", 0) == 0;
    if (equals == std::string::npos || !(target == "host" || target == "device" || rank)) {
      throw InvalidArgument(fmt::format("slowdown \"{}\" (expected host=F, device=F or rankN=F)", word));
    }
    if (rank) target = fmt::format("rank{}", parse_count("slowdown " + word + ": rank", target.substr(4), 0));
    const double factor = parse_slowdown("slowdown " + target, word.substr(equals + 1));
    factors_.try_emplace(target, 1.0).first->second *= factor;
  }
}

double Slowdowns::factor(int rank, ProcessingUnit::Kind kind) const {
  const auto get = [&](const std::string& target) {
    const auto found = factors_.find(target);
    return found == factors_.end() ? 1.0 : found->second;
  };
  return get(kind == ProcessingUnit::Kind::host ? "host" : "device") * get(fmt::format("rank{}", rank));
}

int Slowdowns::highest_rank() const {
  int highest = -1;
  for (const auto& [target, factor] : factors_) {
    if (target.rfind("rank", 0) == 0) highest = std::max(highest, std::stoi(target.substr(4)));
  }
  return highest;
}

RankUnits plan_units(const Machine& machine, const PlanRequest& request) {
  const LayoutEntry* entry = layout_entry(machine, request, request.rank_on_node);
  const int devices = companion_is_device ? device_count() : 0;
  const bool companion_here = has_companion && (!companion_is_device || devices > 0);
  const UnitChoice everything = companion_here ? UnitChoice::host_and_device : UnitChoice::host;
  const UnitChoice choice = entry != nullptr ? entry->units : request.units.value_or(everything);
  if (choice.has_companion() && !companion_here) {
    throw InvalidArgument(fmt::format("units {}: {} (expected host)", format_unit_choice(choice),
                                      companion_is_device
                                          ? "this machine has no GPU"
                                          : "this Kokkos has neither a device nor a Serial space beside the host's"));
  }
  if (choice.devices > std::max(1, devices)) {
    throw InvalidArgument(fmt::format("units {}: {} (expected at most that)", format_unit_choice(choice),
                                      devices > 0
                                          ? fmt::format("this machine has {} GPU{}", devices, devices > 1 ? "s" : "")
                                          : "a companion without a GPU is one core"));
  }

  RankUnits units;
  CoreList cores;
  if (entry != nullptr) {
    cores = entry->cores.value_or(machine.cores());
    machine.require_cores(cores);
    units.cores_from = "layout";
    units.oversubscribed = shared_in_layout(machine, request, cores);
  } else if (!request.launcher_cores.empty() && request.launcher_cores.size() < machine.cores().size()) {
    cores = even_share(request.launcher_cores, request.launcher_sharer, request.launcher_sharers);
    units.cores_from = "launcher";
    units.oversubscribed = static_cast<std::size_t>(request.launcher_sharers) > request.launcher_cores.size();
  } else {
    cores = even_share(machine.cores(), request.rank_on_node, request.ranks_on_node);
    units.cores_from = "even share";
    units.oversubscribed = static_cast<std::size_t>(request.ranks_on_node) > machine.cores().size();
  }

  if (choice.has_companion()) {
    units.companion = ProcessingUnit{ProcessingUnit::Kind::companion, CompanionExecution::name(), {}};
    units.companion->devices = choice.devices;
    units.companion->device = choose_device(request.rank_on_node, entry, devices, choice.devices);
    const std::string model = device_facts(units.companion->device).name;
    if (!model.empty()) units.companion->space += fmt::format(" ({})", model);
    if (devices > 0) {
      units.companion->device_sharers = sharers_of(units.companion->device, machine, request, devices, choice.devices);
    }
  }
  if (choice.has_host) {
    units.host = ProcessingUnit{ProcessingUnit::Kind::host, HostExecution::name(), {}};
  }
  if (units.companion) place_companion(machine, cores, units, units.host.has_value());
  if (units.host) units.host->cores = cores;
  if (entry != nullptr) apply_suboptions(*entry, units);
  const bool layout_has_threads =
      entry != nullptr && (entry->suboptions.count("threads") != 0 || entry->suboptions.count("OMP_NUM_THREADS") != 0);
  if (request.threads && !layout_has_threads) limit_threads(*request.threads, request.rank, units);
  for (std::optional<ProcessingUnit>* unit : {&units.host, &units.companion}) {
    if (*unit) (*unit)->slowdown *= request.slowdowns.factor(request.rank, (*unit)->kind);
  }
  return units;
}

}  // namespace steelyard
