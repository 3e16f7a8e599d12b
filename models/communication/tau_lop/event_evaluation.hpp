#pragma once

#include "models/communication/tau_lop/tau_lop.hpp"

namespace steelyard::models {

/// Reduces an expression by following it in time: a sequence that leaves a channel early starts its next transmission
/// while the others finish.
///
/// The k transmissions on a channel progress at the same rate (A2), each m bytes of them in k || T^c(m), whatever
/// happens on other channels (A3), until the smallest is through or another one joins. A stage k || T^c(m) that another
/// transmission cuts short after a fraction f of its time has done f m of each. The reduced form is the chain of stages
/// that ends last: before a stage comes the one on its channel that it continues, or if the channel was idle, the one
/// whose end let its transmission start. Stages aside of the chain drop out. A1 merges neighbours of a
/// sequence beforehand, and terms of the chain in the end.
///
/// Identical concurrent parts are followed as one. O(n log n) for n transmissions that are not identical.
/// Source: 001, section 3, figure 6, equations 5-7. Equation (7) is this where T1(m_b - m_d) >= T0(m_c - m_a), so that
/// what T1(m_b) has moved by the time T1(m_d) joins it makes no difference.
/// @throws InvalidArgument as TauLop::transmission_s()
ReducedForm event_form(const Expression& expression, const TauLop& model, const Evaluation& evaluation = {});

}  // namespace steelyard::models
