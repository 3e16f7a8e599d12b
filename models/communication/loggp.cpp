#include "models/communication/loggp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
  if (!(overhead_s >= 0.0 && std::isfinite(overhead_s))) {
    throw InvalidArgument(fmt::format("{} overhead of {} s (expected a number >= 0)", which, overhead_s));
  }
  return overhead_s;
}

/// Median time of the smallest size.
MessageTime shortest(std::span<const MessageTime> messages) {
  if (messages.empty()) throw InvalidArgument("no one-way message time (expected at least one)");
  std::ranges::for_each(messages, require_measured);
  const double bytes = std::ranges::min(messages, {}, &MessageTime::bytes).bytes;
  std::vector<double> times_s;
  for (const MessageTime& message : messages) {
    if (message.bytes == bytes) times_s.push_back(message.time_s);
  }
  return {bytes, median(times_s)};
}

}  // namespace

double LogGP::time_s(double bytes) const {
  return send_overhead_s + bytes_behind(bytes) * gap_per_byte_s + latency_s + receive_overhead_s;
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
