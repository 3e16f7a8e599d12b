#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/communication/tau_lop/tau_lop.hpp"
#include "models/communication/tau_lop/transmission_expression.hpp"

namespace steelyard::models {

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
