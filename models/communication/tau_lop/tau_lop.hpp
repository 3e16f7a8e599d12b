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
  /// transmissions of `bytes` each, started together, have all arrived. The overhead is the sending processor's own and
  /// is not shared. Source: 001, section 3, equations 1-3.
  /// @throws InvalidArgument for an unknown channel, one without tau-Lop parameters, a negative size, and more
  /// concurrent transfers than were measured unless they may be extrapolated
  double transmission_s(int channel, double bytes, std::int64_t concurrency = 1) const;

  /// The largest measured message of these channels of which overhead is more than a tenth: for A1, which neglects
  /// overheads, only longer ones are to be merged. 0 where there is none. Source: 001, section 3 (A1)
  /// @throws InvalidArgument for an unknown channel, and for one without tau-Lop parameters, also on its path
  double overhead_matters_up_to_bytes(const std::set<int>& channels) const;

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
/// highest multiplicity first, then the lower number; inside a channel by falling multiplicity. Source: 001, section 3
/// (A1), equation 10.
ReducedForm collected(const ReducedForm& terms, double merge_from = 0.0);

/// Reduces an expression channel by channel: [T0(a) + T1(b)] || [T0(c) + T1(d)] becomes [T0(a) || T0(c)] + [T1(b) ||
/// T1(d)], as if all sequences changed channels together. Concurrent transmissions of a channel become terms by A2,
/// those of a sequence keep their order and are merged by A1. Of concurrent expressions that share no channel, directly
/// or through others, the dearest counts and the others drop out (A3; of equal ones the one with the lowest channel).
/// In the same way the dearest of a channel's instances counts, unless one sequence uses several of them. The overhead
/// of an empty message passes while others are on its channel, and counts where none is. O(n log n) for n transmissions
/// (times the depth of nested parentheses). Source: 001, section 3 (A1-A3), section 4.1, equations 8-10.
/// @throws InvalidArgument as TauLop::transmission_s(), where costs decide
ReducedForm aligned_form(const Expression& expression, const TauLop& model, const Evaluation& evaluation = {});

/// Reduces an expression by following it in time: a sequence that leaves a channel early starts its next transmission
/// while the others finish.
///
/// The k transmissions on a channel progress at the same rate (A2), each m bytes of them in k || T^c(m), whatever
/// happens on other channels (A3), until the smallest is through or another one joins. A stage k || T^c(m) that another
/// transmission cuts short after a fraction f of its time has done f m of each. An empty message takes its overhead
/// whatever else is on its channel. The reduced form is the chain of stages that ends last: before a stage comes the
/// one on its channel that it continues, or if the channel was idle, the one whose end let its transmission start.
/// The other stages drop out. A1 merges neighbours of a sequence beforehand, and terms of the chain in the end.
/// Identical concurrent parts are followed as one: O(n log n) for n transmissions that are not identical.
///
/// Source: 001, section 3, figure 6, equations 5-7. Equation (7) is this where T1(m_b - m_d) >= T0(m_c - m_a), so that
/// what T1(m_b) has moved by the time T1(m_d) joins it makes no difference.
/// @throws InvalidArgument as TauLop::transmission_s()
ReducedForm event_form(const Expression& expression, const TauLop& model, const Evaluation& evaluation = {});

/// Sum over the terms of A || T^c(m), seconds. @throws InvalidArgument as TauLop::transmission_s()
double cost_s(const ReducedForm& terms, const TauLop& model, const Evaluation& evaluation = {});

/// `2||T0(116)+T0(18)`; `0` for no terms. Sizes in six significant digits, or all digits where they are integers.
std::string to_string(const ReducedForm& terms);

}  // namespace steelyard::models
