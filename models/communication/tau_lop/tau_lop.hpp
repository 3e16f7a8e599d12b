#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/transmission_expression.hpp"

namespace steelyard::models {

/// tau-Lop on a platform: what concurrent transmissions through one channel cost.
class TauLop {
 public:
  /// @param platform must outlive this
  explicit TauLop(const Platform& platform, BeyondMeasured beyond = BeyondMeasured::refuse)
      : platform_(&platform), beyond_(beyond) {}

  /// A || T^c(m) = o^c(m) + sum over the transfers c' of the channel's path of L^c'(m, A): seconds until `concurrency`
  /// transmissions of `bytes` each, started together, have all arrived. The overhead belongs to the processor, which
  /// nobody shares. Source: 001, section 3, equations 1-3.
  /// @throws InvalidArgument for an unknown channel, one without tau-Lop parameters, a negative size, and more
  /// concurrent transfers than were measured unless they may be extrapolated
  double transmission_s(int channel, double bytes, std::int64_t concurrency = 1) const;

  /// The largest measured message of any channel of which overhead is more than this share: for A1, which neglects
  /// overheads, only longer ones are to be merged. 0 where there is none. Source: 001, section 3 (A1)
  /// @throws InvalidArgument where a channel with tau-Lop parameters has one without them on its path
  double overhead_matters_up_to_bytes(double share = 0.1) const;
  /// Largest such message of these channels alone. @throws InvalidArgument also for an unknown channel
  double overhead_matters_up_to_bytes(const std::set<int>& channels, double share = 0.1) const;

  /// o^c(m), seconds.
  double overhead_s(int channel, double bytes) const;

 private:
  const Platform* platform_;
  BeyondMeasured beyond_;
};

/// A || T^c(m).
struct Term {
  std::int64_t multiplicity = 1;
  ChannelInstance channel;
  double size = 0.0;
  bool operator==(const Term&) const = default;
};

/// A sum of terms: what every expression of tau-Lop comes down to.
using ReducedForm = std::vector<Term>;

/// How expressions are evaluated.
struct Evaluation {
  /// A1, which lets one transmission stand for several through the same channel at the price of their overheads, is for
  /// messages of at least this size. Infinity: for none. Source: 001, section 3 (A1)
  double merge_from = 0.0;
  /// Bytes of a unit of size: 1, or of a block where sizes count blocks.
  double bytes_per_unit = 1.0;
};

/// Brings together terms of one channel and multiplicity by A1, and orders them as the paper does: the channel with the
/// highest multiplicity first, then the lower number; inside a channel by falling multiplicity. Terms of size 0 are
/// left out. Source: 001, section 3 (A1), equation 10.
ReducedForm collected(const ReducedForm& terms, double merge_from = 0.0);

/// Sum over the terms of A || T^c(m), seconds. @throws InvalidArgument as TauLop::transmission_s()
double cost_s(const ReducedForm& terms, const TauLop& model, const Evaluation& evaluation = {});

/// `2||T0(116)+T0(18)`; `0` for no terms. Sizes in six significant digits, or all digits where they are integers.
std::string to_string(const ReducedForm& terms);

}  // namespace steelyard::models
