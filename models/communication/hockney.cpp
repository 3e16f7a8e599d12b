#include "models/communication/hockney.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/base/errors.hpp"

namespace steelyard::models {

double Hockney::time_s(double bytes) const {
  if (!(bytes >= 0.0)) throw InvalidArgument(fmt::format("message of {} bytes (expected a number >= 0)", bytes));
  if (!(bandwidth_bytes_per_s > 0.0)) {
    throw InvalidArgument(fmt::format("channel of {} bytes/s (expected a number > 0)", bandwidth_bytes_per_s));
  }
  return latency_s + bytes / bandwidth_bytes_per_s;
}

void require_measured(const MessageTime& message) {
  const auto& [bytes, time_s] = message;
  if (std::isfinite(bytes) && bytes >= 0.0 && std::isfinite(time_s) && time_s > 0.0) return;
  throw InvalidArgument(
      fmt::format("message of {} bytes took {} s (expected finite sizes >= 0 and times > 0)", bytes, time_s));
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t least_sizes = 3;        // of a segment: two parameters are no evidence for themselves
constexpr double least_growth = 1e-6;         // of a segment's times, over its sizes
constexpr double least_relative_miss = 1e-6;  // what is missed by less counts as met: no measured time is that exact

/// The line of least squared relative misses through messages that come one by one. Rows (1, m | t) / t are rotated
/// into a triangle (Givens), which loses nothing where times span many orders of magnitude, unlike sums of squares.
class RelativeLine {
 public:
  void add(const MessageTime& message) {
    std::array<double, 3> row{1.0 / message.time_s, message.bytes / message.time_s, 1.0};
    for (std::size_t i = 0; i < 3; ++i) {
      const double length = std::hypot(triangle_[i][i], row[i]);
      if (length == 0.0) continue;
      const double c = triangle_[i][i] / length, s = row[i] / length;
      for (std::size_t j = i; j < 3; ++j) {
        const double upper = triangle_[i][j];
        triangle_[i][j] = c * upper + s * row[j];
        row[j] = c * row[j] - s * upper;
      }
    }
    shortest_s_ = std::min(shortest_s_, message.time_s);
    most_bytes_ = std::max(most_bytes_, message.bytes);
  }

  struct Fit {
    Hockney hockney;
    double squares = infinity;
    bool grows = false;
  };

  /// With latency >= 0 and growth by at least least_growth; squares are infinite where sizes are as good as one.
  Fit fit() const {
    const auto& [a, b, c] = triangle_;
    if (!(b[1] * b[1] > 1e-12 * (a[1] * a[1] + b[1] * b[1]))) return {};
    const double least_slope = least_growth * shortest_s_ / most_bytes_;
    double slope = b[2] / b[1];
    const bool grows = slope > least_slope;
    slope = std::max(slope, least_slope);
    double latency_s = (a[2] - a[1] * slope) / a[0];
    if (latency_s < 0.0) {
      latency_s = 0.0;
      slope = (a[1] * a[2] + b[1] * b[2]) / (a[1] * a[1] + b[1] * b[1]);
    }
    const double first = a[0] * latency_s + a[1] * slope - a[2], second = b[1] * slope - b[2];
    return {{latency_s, 1.0 / slope}, first * first + second * second + c[2] * c[2], grows};
  }

 private:
  std::array<std::array<double, 3>, 3> triangle_{};
  double shortest_s_ = infinity;
  double most_bytes_ = 0.0;
};

/// The cheapest ways to cut sorted messages into 1, 2, … segments.
class Segmentation {
 public:
  Segmentation(std::span<const MessageTime> sorted, std::size_t most_segments) : sorted_(sorted) {
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (i == 0 || sorted[i].bytes != sorted[i - 1].bytes) starts_.push_back(i);
    }
    starts_.push_back(sorted.size());
    const std::size_t least = std::min(least_sizes, sizes());
    most_segments = std::min(most_segments, least == 0 ? 0 : sizes() / least);
    ways_.assign(most_segments + 1, std::vector<Way>(sizes() + 1));
    ways_[0][0].squares = 0.0;
    for (std::size_t from = 0; from + least <= sizes() && most_segments > 0; ++from) extend_from(from, least);
  }

  std::size_t most_segments() const { return ways_.size() - 1; }

  /// Error of the best way; infinity where no last segment grows.
  double squares(std::size_t segments) const { return ways_[segments][sizes()].squares; }

  std::vector<HockneySegment> segments(std::size_t count) const {
    std::vector<HockneySegment> segments(count);
    std::size_t to = sizes();
    for (std::size_t i = count; i > 0; --i) {
      const std::size_t from = ways_[i][to].last_from;
      RelativeLine line;
      for (const MessageTime& message : messages(from, to)) line.add(message);
      segments[i - 1] = {infinity, line.fit().hockney};
      if (i < count) segments[i - 1].up_to_bytes = boundary(segments[i - 1].hockney, segments[i].hockney, to);
      to = from;
    }
    return segments;
  }

 private:
  /// Sizes [0, to) in some number of segments.
  struct Way {
    double squares = infinity;
    std::size_t last_from = 0;  ///< first size of the last segment
  };

  std::size_t sizes() const { return starts_.size() - 1; }
  std::span<const MessageTime> messages(std::size_t from, std::size_t to) const {
    return sorted_.subspan(starts_[from], starts_[to] - starts_[from]);
  }

  /// Appends each segment that begins with size `from` to the best ways to come there, which are known by then.
  void extend_from(std::size_t from, std::size_t least) {
    RelativeLine line;
    for (std::size_t to = from + 1; to <= sizes(); ++to) {
      for (const MessageTime& message : messages(to - 1, to)) line.add(message);
      if (to - from < least) continue;
      const RelativeLine::Fit fit = line.fit();
      if (to == sizes() && !fit.grows) continue;
      for (std::size_t count = 1; count < ways_.size(); ++count) {
        const double squares = ways_[count - 1][from].squares + fit.squares;
        if (squares < ways_[count][to].squares) ways_[count][to] = {squares, from};
      }
    }
  }

  double boundary(const Hockney& lower, const Hockney& upper, std::size_t first_of_upper) const {
    const double last = sorted_[starts_[first_of_upper] - 1].bytes, next = sorted_[starts_[first_of_upper]].bytes;
    const double meeting =
        (upper.latency_s - lower.latency_s) / (1.0 / lower.bandwidth_bytes_per_s - 1.0 / upper.bandwidth_bytes_per_s);
    return meeting > last && meeting < next ? meeting : last;
  }

  std::span<const MessageTime> sorted_;
  std::vector<std::size_t> starts_;  ///< first message of each different size, and the number of messages
  std::vector<std::vector<Way>> ways_;
};

/// Criterion that fit_piecewise_hockney() minimizes over the number of segments; infinity where nothing is left to
/// judge it by.
double criterion(double squares, double messages, std::size_t segments) {
  const double parameters = 4.0 * static_cast<double>(segments) - 2.0;
  if (!(parameters < messages)) return infinity;
  const double variance = std::max(squares / (messages - parameters), least_relative_miss * least_relative_miss);
  return std::log(variance) + 0.299 * parameters * std::pow(std::log(messages), 2.1) / messages;
}

}  // namespace

double PiecewiseHockney::time_s(double bytes) const {
  for (const HockneySegment& segment : segments) {
    if (bytes <= segment.up_to_bytes) return segment.hockney.time_s(bytes);
  }
  throw InvalidArgument(fmt::format("message of {} bytes (expected a size up to {} bytes)", bytes,
                                    segments.empty() ? 0.0 : segments.back().up_to_bytes));
}

Hockney fit_hockney(std::span<const MessageTime> messages) {
  return fit_piecewise_hockney(messages, 1).segments.front().hockney;
}

PiecewiseHockney fit_piecewise_hockney(std::span<const MessageTime> messages, int most_segments) {
  if (most_segments < 1) throw InvalidArgument(fmt::format("at most {} segments (expected >= 1)", most_segments));
  std::ranges::for_each(messages, require_measured);
  std::vector<MessageTime> sorted(messages.begin(), messages.end());
  std::ranges::stable_sort(sorted, {}, &MessageTime::bytes);
  if (sorted.empty() || sorted.front().bytes == sorted.back().bytes) {
    throw InvalidArgument("messages of one size (expected at least two sizes)");
  }
  const Segmentation segmentation(sorted, static_cast<std::size_t>(most_segments));
  const double count = static_cast<double>(sorted.size());
  std::size_t best = 0;
  double least = infinity;
  for (std::size_t segments = 1; segments <= segmentation.most_segments(); ++segments) {
    const double squares = segmentation.squares(segments);
    if (squares == infinity) continue;
    const double value = criterion(squares, count, segments);
    if (best == 0 || value < least) {
      best = segments;
      least = value;
    }
  }
  if (best == 0) throw InvalidArgument("message times do not grow with size: no bandwidth to fit");
  return {segmentation.segments(best)};
}

}  // namespace steelyard::models
