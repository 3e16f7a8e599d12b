#pragma once

#include <cstdint>
#include <vector>

namespace steelyard::models {

/// Seconds for a message by its size: T(m) = latency + m / bandwidth. Source: 003, section 2.7.1, equation 2.8.
struct Hockney {
  double latency_s = 0.0;              ///< alpha, >= 0
  double bandwidth_bytes_per_s = 0.0;  ///< beta, > 0
  double time_s(double bytes) const;   ///< @throws InvalidArgument for a negative size or a model without bandwidth
};

/// One stretch of message sizes with parameters of its own, as of a protocol of the channel: a model of several can
/// jump where the protocol changes, in either direction. Source: 003, section 8.2.
struct HockneySegment {
  double up_to_bytes = 0.0;  ///< the largest size that it holds; infinity for the last
  Hockney hockney;
};

/// Seconds for messages by five parameters. Source: 001, section 2 and its reference 24 (Alexandrov et al., LogGP:
/// incorporating long messages into the LogP model, SPAA 1995); the overhead apart for sender and receiver.
///
/// With parameters of its own for each channel, and so for each pair of processes, this is HLogGP, LogGP between
/// processes that differ (001, section 2 and its reference 23: Bosque and Pastor, A parallel computational model for
/// heterogeneous clusters, IEEE TPDS 17, 2006); for each level of the hierarchy, all processes being alike, it is
/// LogGPH (001, section 5.5 and its reference 40: Yuan et al., LogGPH, CSE 2010).
struct LogGP {
  double latency_s = 0.0;           ///< L: a byte's way through the network
  double send_overhead_s = 0.0;     ///< o_s: the sender's processor is busy with a message
  double receive_overhead_s = 0.0;  ///< o_r: the receiver's
  double gap_s = 0.0;               ///< g: least time from the last byte of a message to the first of the next
  double gap_per_byte_s = 0.0;      ///< G: time for each byte after the first, 1 / bandwidth

  /// From the start of sending to the end of receiving: T(m) = o_s + (m - 1) G + L + o_r. A message without bytes costs
  /// as one of one byte, since something has to tell that it came.
  /// @throws InvalidArgument for a negative size
  double time_s(double bytes) const;
};

/// Seconds by message size, linear between measured sizes.
class SizeTable {
 public:
  struct Point {
    double bytes = 0.0;
    double time_s = 0.0;
    bool operator==(const Point&) const = default;
  };
  /// Rule below the smallest size and above the largest.
  enum class Outside {
    constant,      ///< the time of that size
    proportional,  ///< time grows with size from (0, 0), and beyond the largest size as t(A m) = A t(m)
  };

  /// @throws InvalidArgument without points, for sizes that do not grow from point to point, negative or infinite
  /// values, and a size of 0 where times are proportional
  SizeTable(std::vector<Point> points, Outside outside);

  /// @throws InvalidArgument for a size that is negative or not finite
  double time_s(double bytes) const;
  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;
  Outside outside_;
};

/// L^c(m, tau) as measured: seconds of each of `concurrency` transfers of `bytes` at the same time.
struct TransferPoint {
  double bytes = 0.0;
  int concurrency = 1;
  double time_s = 0.0;
  bool operator==(const TransferPoint&) const = default;
};

/// Rule for more concurrent transfers than were measured.
enum class BeyondMeasured {
  refuse,        ///< an error
  proportional,  ///< L(m, tau) = tau / tau_max L(m, tau_max), the most that the model allows: a channel without reserve
};

/// The parameter L^c(m, tau) of tau-Lop, the time of a transfer of m bytes through channel c when tau transfers share
/// it, from measured points.
///
/// In m it is linear between measured sizes, proportional below the smallest and above the largest (L(A m, tau) =
/// A L(m, tau)). In tau it is linear between measured numbers. The model demands L(m, tau) <= L(m, A tau) <= A L(m,
/// tau), here for every A >= 1, integer or not: from one measured tau to the next, time does not fall and time divided
/// by tau does not grow. A measured time outside of these bounds is moved to the nearer one, from small tau to large.
/// Source: 001, section 3.
class TransferTable {
 public:
  /// @throws InvalidArgument without points for concurrency 1, for sizes that are not finite and > 0,
  /// times that are not finite and >= 0, and points given twice
  explicit TransferTable(std::vector<TransferPoint> points);

  /// Seconds. @throws InvalidArgument for concurrency < 1, a negative size, and what `beyond` refuses
  double time_s(double bytes, std::int64_t concurrency, BeyondMeasured beyond = BeyondMeasured::refuse) const;

  /// The points as given.
  const std::vector<TransferPoint>& points() const { return points_; }
  int largest_concurrency() const { return levels_.back().concurrency; }
  /// The largest relative change that the restrictions made to a measured time: 0 where all satisfy them.
  double largest_adjustment() const { return largest_adjustment_; }

 private:
  struct Level {
    int concurrency = 1;
    SizeTable times;
  };
  std::vector<TransferPoint> points_;
  std::vector<Level> levels_;  ///< by growing concurrency, all for the same sizes
  double largest_adjustment_ = 0.0;
};

/// Parameters of tau-Lop for one channel. Source: 001, section 3.
struct TauLopTables {
  SizeTable overhead;      ///< o^c(m): from the call to the first byte in the channel; constant beyond measured sizes
  TransferTable transfer;  ///< L^c(m, tau)
};

}  // namespace steelyard::models
