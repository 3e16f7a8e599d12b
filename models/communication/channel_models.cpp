#include "models/communication/channel_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

/// A time that misses a bound by so little satisfies it: bounds are rounded, and channels without reserve lie on them.
constexpr double time_rounding = 16.0 * std::numeric_limits<double>::epsilon();

void require_size(double bytes) {
  if (!(bytes >= 0.0)) throw InvalidArgument(fmt::format("message of {} bytes (expected a number >= 0)", bytes));
}

void require_finite(double bytes, double time_s) {
  if (std::isfinite(bytes) && bytes >= 0.0 && std::isfinite(time_s) && time_s >= 0.0) return;
  throw InvalidArgument(fmt::format("{} bytes in {} s (expected finite numbers >= 0)", bytes, time_s));
}

}  // namespace

double Hockney::time_s(double bytes) const {
  require_size(bytes);
  if (!(bandwidth_bytes_per_s > 0.0)) {
    throw InvalidArgument(fmt::format("channel of {} bytes/s (expected a number > 0)", bandwidth_bytes_per_s));
  }
  return latency_s + bytes / bandwidth_bytes_per_s;
}

double LogGP::time_s(double bytes) const {
  require_size(bytes);
  return send_overhead_s + std::max(bytes - 1.0, 0.0) * gap_per_byte_s + latency_s + receive_overhead_s;
}

SizeTable::SizeTable(std::vector<Point> points, Outside outside) : points_(std::move(points)), outside_(outside) {
  if (points_.empty()) throw InvalidArgument("no measured message size (expected at least one)");
  double previous = outside_ == Outside::proportional ? 0.0 : -1.0;
  for (const Point& point : points_) {
    require_finite(point.bytes, point.time_s);
    if (!(point.bytes > previous)) {
      throw InvalidArgument(fmt::format("a time for {} bytes after one for {} bytes (expected growing sizes{})",
                                        point.bytes, std::max(previous, 0.0),
                                        outside_ == Outside::proportional ? " above 0" : ""));
    }
    previous = point.bytes;
  }
}

double SizeTable::time_s(double bytes) const {
  if (!(bytes >= 0.0 && std::isfinite(bytes))) {
    throw InvalidArgument(fmt::format("message of {} bytes (expected a finite number >= 0)", bytes));
  }
  const auto above = std::ranges::upper_bound(points_, bytes, {}, &Point::bytes);
  if (above == points_.begin() || above == points_.end()) {
    const Point& nearest = above == points_.begin() ? points_.front() : points_.back();
    return outside_ == Outside::proportional ? bytes / nearest.bytes * nearest.time_s : nearest.time_s;
  }
  const auto below = above - 1;
  const double share = (bytes - below->bytes) / (above->bytes - below->bytes);
  return below->time_s + share * (above->time_s - below->time_s);
}

TransferTable::TransferTable(std::vector<TransferPoint> points) : points_(std::move(points)) {
  std::map<int, std::map<double, double>> measured;
  std::set<double> sizes;
  for (const auto& [bytes, concurrency, time_s] : points_) {
    if (concurrency < 1) {
      throw InvalidArgument(fmt::format("transfer time for concurrency {} (expected 1, 2, …)", concurrency));
    }
    require_finite(bytes, time_s);
    if (!measured[concurrency].emplace(bytes, time_s).second) {
      throw InvalidArgument(fmt::format("two transfer times for {} bytes and concurrency {}", bytes, concurrency));
    }
    sizes.insert(bytes);
  }
  if (!measured.contains(1)) throw InvalidArgument("no transfer times for concurrency 1 (expected some)");

  for (const auto& [concurrency, times] : measured) {
    std::vector<SizeTable::Point> own, bounded;
    for (const auto& [bytes, time_s] : times) own.push_back({bytes, time_s});
    const SizeTable table(std::move(own), SizeTable::Outside::proportional);
    for (const double bytes : sizes) {
      const double time_s = table.time_s(bytes);
      double within = time_s;
      if (!levels_.empty()) {
        const Level& lower = levels_.back();
        const double least = lower.times.time_s(bytes);
        within = std::clamp(time_s, least, least * concurrency / lower.concurrency);
        if (std::abs(within - time_s) <= time_rounding * time_s) within = time_s;
      }
      if (within != time_s && times.contains(bytes)) {
        largest_adjustment_ = std::max(largest_adjustment_, std::abs(within - time_s) / std::max(within, time_s));
      }
      bounded.push_back({bytes, within});
    }
    levels_.push_back({concurrency, SizeTable(std::move(bounded), SizeTable::Outside::proportional)});
  }
}

double TransferTable::time_s(double bytes, std::int64_t concurrency, BeyondMeasured beyond) const {
  if (concurrency < 1) {
    throw InvalidArgument(fmt::format("{} concurrent transfers (expected at least 1)", concurrency));
  }
  const Level& last = levels_.back();
  if (concurrency > last.concurrency) {
    if (beyond == BeyondMeasured::refuse) {
      throw InvalidArgument(fmt::format("{} concurrent transfers (expected at most the {} that were measured)",
                                        concurrency, last.concurrency));
    }
    return static_cast<double>(concurrency) / last.concurrency * last.times.time_s(bytes);
  }
  const auto above = std::ranges::lower_bound(levels_, concurrency, {}, &Level::concurrency);
  const double upper_s = above->times.time_s(bytes);
  if (above->concurrency == concurrency) return upper_s;
  const auto below = above - 1;
  const double share =
      static_cast<double>(concurrency - below->concurrency) / (above->concurrency - below->concurrency);
  return std::lerp(below->times.time_s(bytes), upper_s, share);
}

}  // namespace steelyard::models
