#include "models/communication/tau_lop/tau_lop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

const TauLopTables& tables(const Channel& channel) {
  if (!channel.tau_lop) {
    throw InvalidArgument(fmt::format("channel {} ({}) has no tau-Lop parameters", channel.id, channel.name));
  }
  return *channel.tau_lop;
}

/// Returns `seconds` of the tables, naming the channel where it throws.
template <typename Seconds>
double of_channel(const Channel& channel, const Seconds& seconds) {
  const TauLopTables& own = tables(channel);
  try {
    return seconds(own);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("channel {} ({}): {}", channel.id, channel.name, error.what()));
  }
}

}  // namespace

double TauLop::overhead_matters_up_to_bytes(const std::set<int>& channels) const {
  constexpr double share = 0.1;
  double largest = 0.0;
  for (const int id : channels) {
    for (const SizeTable::Point& point : tables(platform_->channel(id)).overhead.points()) {
      const bool matters = point.time_s > share * transmission_s(id, point.bytes);
      if (matters) largest = std::max(largest, point.bytes);
    }
  }
  return largest;
}

double TauLop::transmission_s(int channel, double bytes, std::int64_t concurrency) const {
  const Channel& used = platform_->channel(channel);
  double seconds = of_channel(used, [=](const TauLopTables& own) { return own.overhead.time_s(bytes); });
  for (const int id : used.path) {
    seconds += of_channel(id == channel ? used : platform_->channel(id), [=, this](const TauLopTables& own) {
      return own.transfer.time_s(bytes, concurrency, beyond_);
    });
  }
  return seconds;
}

namespace {

/// Sizes of the terms of one channel by multiplicity, the highest first.
using Terms = std::map<std::int64_t, std::vector<double>, std::greater<>>;

void add(std::vector<double>& sizes, double size, double merge_from) {
  // The first entry is the merged one, if any may be.
  if (size >= merge_from && !sizes.empty() && sizes.front() >= merge_from) {
    sizes.front() += size;
  } else {
    sizes.insert(size >= merge_from ? sizes.begin() : sizes.end(), size);
  }
}

}  // namespace

ReducedForm collected(const ReducedForm& terms, double merge_from) {
  std::map<ChannelInstance, Terms> channels;
  for (const Term& term : terms) add(channels[term.channel][term.multiplicity], term.size, merge_from);
  std::vector<std::pair<ChannelInstance, Terms>> order(channels.begin(), channels.end());
  std::ranges::stable_sort(order, std::greater<>(), [](const auto& channel) { return channel.second.begin()->first; });
  ReducedForm form;
  for (auto& [channel, by_multiplicity] : order) {
    for (auto& [multiplicity, sizes] : by_multiplicity) {
      std::ranges::sort(sizes, std::greater<>());
      for (const double size : sizes) form.push_back({multiplicity, channel, size});
    }
  }
  return form;
}

double cost_s(const ReducedForm& terms, const TauLop& model, const Evaluation& evaluation) {
  double seconds = 0.0;
  for (const Term& term : terms) {
    seconds += model.transmission_s(term.channel.channel, term.size * evaluation.bytes_per_unit, term.multiplicity);
  }
  return seconds;
}

std::string to_string(const ReducedForm& terms) {
  if (terms.empty()) return "0";
  std::string text;
  for (const Term& term : terms) {
    if (!text.empty()) text += "+";
    if (term.multiplicity > 1) text += fmt::format("{}||", term.multiplicity);
    text += fmt::format("T{}", term.channel.channel);
    if (term.channel.instance > 0) text += fmt::format("@{}", term.channel.instance);
    const bool is_integer = term.size == std::floor(term.size) && term.size < 1e15;
    text += is_integer ? fmt::format("({:.0f})", term.size) : fmt::format("({:.6g})", term.size);
  }
  return text;
}

}  // namespace steelyard::models
