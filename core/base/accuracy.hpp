#pragma once

#include <string>

namespace steelyard {

/// How far apart two values are, in percent of their mean: 200 |a - b| / (a + b), from 0 to 200.
/// Source: 003, equation 2.10. @throws InvalidArgument unless both are finite, not negative and not both zero
double percentage_difference(double a, double b);

/// mu = max(r, e) / min(r, e): 1 when the estimate e equals the measurement r, the same for twice as for half.
/// Source: 001, section 5.5. @throws InvalidArgument unless both are finite and positive
double proportional_error(double measured, double estimated);

/// Both, as every prediction is reported: `difference 7.5 %, mu 1.08`. @throws InvalidArgument as proportional_error()
std::string accuracy_text(double measured, double estimated);

}  // namespace steelyard
