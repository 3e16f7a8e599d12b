#include "models/communication/hockney.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"

namespace steelyard::models {

double Hockney::time_s(double bytes) const {
  if (!(bytes >= 0.0)) throw InvalidArgument(fmt::format("message of {} bytes (expected a number >= 0)", bytes));
  if (!(bandwidth_bytes_per_s > 0.0)) {
    throw InvalidArgument(fmt::format("channel of {} bytes/s (expected a number > 0)", bandwidth_bytes_per_s));
  }
  return latency_s + bytes / bandwidth_bytes_per_s;
}

Hockney fit_hockney(std::span<const MessageTime> messages) {
  double weights = 0.0, sum_m = 0.0, sum_t = 0.0, sum_mm = 0.0, sum_mt = 0.0;
  for (const MessageTime& message : messages) {
    if (!(message.time_s > 0.0 && message.bytes >= 0.0)) {
      throw InvalidArgument(fmt::format("message of {} bytes took {} s (expected sizes >= 0 and times > 0)",
                                        message.bytes, message.time_s));
    }
    const double weight = 1.0 / (message.time_s * message.time_s);
    weights += weight;
    sum_m += weight * message.bytes;
    sum_t += weight * message.time_s;
    sum_mm += weight * message.bytes * message.bytes;
    sum_mt += weight * message.bytes * message.time_s;
  }
  const double spread = weights * sum_mm - sum_m * sum_m;
  if (!(spread > 1e-12 * weights * sum_mm)) throw InvalidArgument("messages of one size (expected at least two sizes)");
  double seconds_per_byte = (weights * sum_mt - sum_m * sum_t) / spread;
  double latency_s = (sum_t - seconds_per_byte * sum_m) / weights;
  if (latency_s < 0.0) {
    latency_s = 0.0;
    seconds_per_byte = sum_mt / sum_mm;
  }
  if (!(seconds_per_byte > 0.0)) throw InvalidArgument("message times do not grow with size: no bandwidth to fit");
  return {latency_s, 1.0 / seconds_per_byte};
}

}  // namespace steelyard::models
