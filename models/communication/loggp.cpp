#include "models/communication/loggp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"

namespace steelyard::models {
namespace {

/// Bytes that follow the first.
double bytes_behind(double bytes) {
  if (!(bytes >= 0.0)) throw InvalidArgument(fmt::format("message of {} bytes (expected a number >= 0)", bytes));
  return std::max(bytes - 1.0, 0.0);
}

double require_overhead(double overhead_s, const char* which) {
  if (!(overhead_s >= 0.0 && overhead_s < std::numeric_limits<double>::infinity())) {
    throw InvalidArgument(fmt::format("{} overhead of {} s (expected a number >= 0)", which, overhead_s));
  }
  return overhead_s;
}

/// Median time of the smallest size.
MessageTime shortest(std::span<const MessageTime> messages) {
  double bytes = std::numeric_limits<double>::infinity();
  std::vector<double> times_s;
  for (const MessageTime& message : messages) {
    if (!(message.time_s > 0.0 && message.time_s < std::numeric_limits<double>::infinity() && message.bytes >= 0.0)) {
      throw InvalidArgument(fmt::format("message of {} bytes took {} s (expected sizes >= 0 and times > 0)",
                                        message.bytes, message.time_s));
    }
    if (message.bytes > bytes) continue;
    if (message.bytes < bytes) times_s.clear();
    bytes = message.bytes;
    times_s.push_back(message.time_s);
  }
  if (times_s.empty()) throw InvalidArgument("no one-way message time (expected at least one)");
  return {bytes, median(times_s)};
}

}  // namespace

double LogGP::time_s(double bytes) const {
  return send_overhead_s + bytes_behind(bytes) * gap_per_byte_s + latency_s + receive_overhead_s;
}

double LogGP::train_s(std::int64_t messages, double bytes) const {
  if (messages < 0) throw InvalidArgument(fmt::format("train of {} messages (expected a number >= 0)", messages));
  const double period_s = std::max({gap_s + bytes_behind(bytes) * gap_per_byte_s, send_overhead_s, receive_overhead_s});
  return messages == 0 ? 0.0 : time_s(bytes) + static_cast<double>(messages - 1) * period_s;
}

LogGP fit_loggp(const LogGPTimes& times) {
  LogGP model;
  model.send_overhead_s = require_overhead(times.send_overhead_s, "send");
  model.receive_overhead_s = require_overhead(times.receive_overhead_s, "receive");
  const MessageTime message = shortest(times.one_way);
  model.gap_per_byte_s = 1.0 / fit_hockney(times.trains).bandwidth_bytes_per_s;
  const MessageTime train = shortest(times.trains);
  model.gap_s = std::max(0.0, train.time_s - bytes_behind(train.bytes) * model.gap_per_byte_s);
  model.latency_s = std::max(0.0, message.time_s - model.time_s(message.bytes));
  return model;
}

}  // namespace steelyard::models
