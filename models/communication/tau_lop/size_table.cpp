#include "models/communication/tau_lop/size_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

}  // namespace steelyard::models
