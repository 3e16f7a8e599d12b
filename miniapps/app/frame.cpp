#include "miniapps/app/frame.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "comm/run_description.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/unit_memory.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/app/start_seconds.hpp"
#include "models/communication/pattern_costs.hpp"
#include "partition/algorithms.hpp"

namespace steelyard {

Frame::Frame(const Session& session, const RunOptions& options, const RankUnits& units, const std::string& app)
    : session_(session),
      options_(options),
      units_(units),
      co_execution_(session.machine(), units),
      slots_(gather_slots(session, units)),
      record_(describe_run(session, app, options, units)) {
  record_.check = unchecked(options);
}

std::vector<int> Frame::slot_ranks() const {
  std::vector<int> ranks;
  for (const Slot& slot : slots_) ranks.push_back(slot.rank);
  return ranks;
}

SpeedModels Frame::speed_models(const MeasurableKernel& kernel, std::int64_t total, const std::string& algorithm) {
  return obtain_speed_models(session_, co_execution_, units_, options_, kernel, total, slots_, algorithm, record_);
}

Plan Frame::distribute(const MeasurableKernel& kernel, std::int64_t total) {
  if (is_dynamic()) {
    Plan plan;
    const auto slots = static_cast<std::int64_t>(slots_.size());
    for (std::int64_t i = 0; i < slots; ++i) plan.distribution.push_back(total / slots + (i < total % slots ? 1 : 0));
    plan.unit_s.assign(slots_.size(), 0.0);
    return plan;
  }
  const SpeedModels models = speed_models(kernel, total, options_.partition);
  partition::Distribution distribution;
  collectively(
      [&] { distribution = partition::find_algorithm(options_.partition).distribute(total, models.pointers()); });
  Plan plan;
  plan.distribution = distribution.units;
  plan.unit_s = distribution.predicted_s;
  plan.models = {{"", models.files()}};
  return plan;
}

std::optional<models::Platform> Frame::platform(const MessageFacts& message) {
  return obtain_platform(session_, options_, message, record_);
}

models::Placement Frame::placement(const models::Platform& platform) const { return place_ranks(session_, platform); }

double Frame::exchange_seconds(const models::MessagePattern& pattern, double footprint_bytes) {
  MessageFacts facts;
  facts.footprint_bytes = footprint_bytes;
  for (const models::Phase& phase : pattern.phases) {
    for (const models::Message& message : phase.messages) {
      facts.smallest_bytes = facts.largest_bytes > 0.0 ? std::min(facts.smallest_bytes, message.bytes) : message.bytes;
      facts.largest_bytes = std::max(facts.largest_bytes, message.bytes);
    }
  }
  const std::optional<models::Platform> known = platform(facts);
  if (!known) return 0.0;
  const models::Placement place = placement(*known);
  double seconds = 0.0;
  collectively([&] { seconds = models::pattern_costs(std::span(&pattern, 1), *known, place).front().time_s.front(); });
  return seconds;
}

double Frame::start_seconds() { return steelyard::start_seconds(session_, co_execution_); }

UnitSizes Frame::own_share(std::span<const std::int64_t> units) const {
  return steelyard::own_share(session_, slots_, units);
}

std::vector<double> Frame::gather_seconds(const UnitSeconds& own) const {
  return steelyard::gather_seconds(session_, slots_, own);
}

void Frame::require_memory(const std::string& what, double bytes) const {
  const double most = rank_memory_bytes(session_.machine(), session_.nodes().ranks_on_node);
  if (bytes <= most) return;
  throw InvalidArgument(fmt::format("{} take {} (expected at most {}, its share of the node's memory)", what,
                                    format_bytes(bytes), format_bytes(most)));
}

void require_partition(const std::string& name, bool may_be_dynamic) {
  if (may_be_dynamic && name == "dynamic") return;
  try {
    partition::find_algorithm(name);
  } catch (const InvalidArgument& error) {
    if (!may_be_dynamic) throw;
    throw InvalidArgument(fmt::format("{}, or dynamic", error.what()));
  }
}

std::string library_lines(const RunRecord& record, const std::string& what) {
  std::string lines;
  for (const char* unit : {"host", "device"}) {
    const auto library = record.settings.find(fmt::format("{}_{}", unit, what));
    if (library != record.settings.end()) lines += fmt::format("{:<10} {}\n", unit, library->second);
  }
  return lines;
}

std::vector<double> Medians::values() const {
  std::vector<double> medians, column;
  for (std::size_t i = 0; rows_.empty() || i < rows_.front().size(); ++i) {
    column.clear();
    for (const std::vector<double>& row : rows_) column.push_back(row[i]);
    medians.push_back(median(column));
  }
  return medians;
}

}  // namespace steelyard
