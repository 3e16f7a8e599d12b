#include "models/communication/log_np.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

double seconds(const LogNP::SecondsOfSize& of_size, double bytes, const char* what, std::size_t transfer) {
  if (!of_size) throw InvalidArgument(fmt::format("transfer {} has no {}", transfer, what));
  const double time_s = of_size(bytes);
  if (time_s >= 0.0) return time_s;
  throw InvalidArgument(
      fmt::format("transfer {} of {} bytes: {} of {} s (expected a number >= 0)", transfer, bytes, what, time_s));
}

}  // namespace

double LogNP::time_s(double bytes) const {
  if (!(bytes >= 0.0)) throw InvalidArgument(fmt::format("message of {} bytes (expected a number >= 0)", bytes));
  if (transfers.empty()) throw InvalidArgument("message of no transfers (expected at least one)");
  double sum_s = 0.0;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    sum_s +=
        seconds(transfers[i].overhead_s, bytes, "overhead", i) + seconds(transfers[i].latency_s, bytes, "latency", i);
  }
  return sum_s;
}

double MLogNP::time_s(int level, double bytes) const {
  const auto index = static_cast<std::size_t>(level);
  if (level < 0 || index >= levels.size()) {
    throw InvalidArgument(fmt::format("level {} of the hierarchy (it has {})", level, levels.size()));
  }
  return levels[index].time_s(bytes);
}

}  // namespace steelyard::models
