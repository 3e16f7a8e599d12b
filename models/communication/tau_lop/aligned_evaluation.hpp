#pragma once

#include "models/communication/tau_lop/tau_lop.hpp"

namespace steelyard::models {

/// Reduces an expression channel by channel: [T0(a) + T1(b)] || [T0(c) + T1(d)] becomes [T0(a) || T0(c)] + [T1(b) ||
/// T1(d)], as if all sequences changed channels together. Concurrent transmissions of a channel become terms by A2,
/// those of a sequence keep their order and are merged by A1. Of concurrent expressions that share no channel, directly
/// or through others, the dearest counts and the others drop out (A3; of equal ones the one with the lowest channel).
/// Likewise of a channel's
/// instances the dearest counts, unless one sequence uses several of them.
/// O(n log n) for n transmissions (times the depth of nested parentheses).
/// Source: 001, section 3 (A1-A3), section 4.1, equations 8-10.
/// @throws InvalidArgument as TauLop::transmission_s(), where costs decide
ReducedForm aligned_form(const Expression& expression, const TauLop& model, const Evaluation& evaluation = {});

}  // namespace steelyard::models
