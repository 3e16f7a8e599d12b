#include "models/communication/tau_lop/transfer_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {

SizeTable::SizeTable(std::vector<Point> points, Outside outside) : points_(std::move(points)), outside_(outside) {
  if (points_.empty()) throw InvalidArgument("no measured message size (expected at least one)");
  double previous = outside_ == Outside::proportional ? 0.0 : -1.0;
  for (const Point& point : points_) {
    if (!(std::isfinite(point.bytes) && point.bytes >= 0.0 && std::isfinite(point.time_s) && point.time_s >= 0.0)) {
      throw InvalidArgument(fmt::format("{} bytes in {} s (expected finite numbers >= 0)", point.bytes, point.time_s));
    }
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
  const bool proportional = outside_ == Outside::proportional;
  const Point& first = points_.front();
  const Point& last = points_.back();
  if (bytes <= first.bytes) return proportional ? bytes / first.bytes * first.time_s : first.time_s;
  if (bytes >= last.bytes) return proportional ? bytes / last.bytes * last.time_s : last.time_s;
  const auto above = std::upper_bound(points_.begin(), points_.end(), bytes,
                                      [](double size, const Point& point) { return size < point.bytes; });
  const auto below = above - 1;
  const double share = (bytes - below->bytes) / (above->bytes - below->bytes);
  return below->time_s + share * (above->time_s - below->time_s);
}

namespace {

/// A time that misses a bound by so little satisfies it: the bounds are rounded, and channels without reserve lie on
/// them.
constexpr double time_rounding = 16.0 * std::numeric_limits<double>::epsilon();

}  // namespace

TransferTable::TransferTable(std::vector<TransferPoint> points) : points_(std::move(points)) {
  std::map<int, std::map<double, double>> measured;
  std::set<double> sizes;
  for (const TransferPoint& point : points_) {
    if (point.concurrency < 1) {
      throw InvalidArgument(fmt::format("transfer time for concurrency {} (expected 1, 2, …)", point.concurrency));
    }
    if (!(std::isfinite(point.bytes) && point.bytes > 0.0 && std::isfinite(point.time_s) && point.time_s >= 0.0)) {
      throw InvalidArgument(
          fmt::format("{} bytes in {} s with concurrency {} (expected a finite size > 0 and a finite time >= 0)",
                      point.bytes, point.time_s, point.concurrency));
    }
    if (!measured[point.concurrency].emplace(point.bytes, point.time_s).second) {
      throw InvalidArgument(
          fmt::format("two transfer times for {} bytes and concurrency {}", point.bytes, point.concurrency));
    }
    sizes.insert(point.bytes);
  }
  if (!measured.contains(1)) throw InvalidArgument("no transfer times for concurrency 1 (expected some)");

  for (const auto& [concurrency, times] : measured) {
    std::vector<SizeTable::Point> own;
    own.reserve(times.size());
    for (const auto& [bytes, time_s] : times) own.push_back({bytes, time_s});
    const SizeTable table(std::move(own), SizeTable::Outside::proportional);
    std::vector<SizeTable::Point> bounded;
    bounded.reserve(sizes.size());
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
  const auto above = std::lower_bound(levels_.begin(), levels_.end(), concurrency,
                                      [](const Level& level, std::int64_t tau) { return level.concurrency < tau; });
  const double upper_s = above->times.time_s(bytes);
  if (above->concurrency == concurrency) return upper_s;
  const auto below = above - 1;
  const double share =
      static_cast<double>(concurrency - below->concurrency) / (above->concurrency - below->concurrency);
  return std::lerp(below->times.time_s(bytes), upper_s, share);
}

}  // namespace steelyard::models
