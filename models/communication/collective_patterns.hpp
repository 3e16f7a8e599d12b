#pragma once

#include "models/communication/message_pattern.hpp"

namespace steelyard::models {

// Patterns of P processes. All throw InvalidArgument for fewer processes than stated and sizes that are negative or not
// finite. Computation, such as the sums of an allreduce, is not part of them.

/// Process 0 sends to all others, one after the other. P >= 1.
MessagePattern flat_broadcast(int processes, double bytes);

/// Process 0 sends to process 1, both to the next two, and so on: ceil(log2 P) phases, of which phase i has 2^i
/// messages (the last one those that remain). P >= 1. Source: 001, section 3, equation 4 and figure 4.
MessagePattern binomial_broadcast(int processes, double bytes);

/// Every process sends to the next one, the last to the first, all at once. P >= 2. Source: 001, section 5.2 (Ring).
MessagePattern ring(int processes, double bytes);

/// Every process ends with the `bytes` of all: P - 1 phases of a ring. P >= 1.
MessagePattern ring_allgather(int processes, double bytes);

/// Every process ends with the sum of all vectors of `bytes`, by recursive doubling: with 2^q <= P < 2^(q+1), the first
/// 2 (P - 2^q) processes halve to P - 2^q in a phase beforehand, and are served in one afterwards; between, q phases in
/// which processes that differ in one bit exchange vectors. P >= 1.
MessagePattern recursive_doubling_allreduce(int processes, double bytes);

/// Neighbours of a row of processes exchange `bytes`, all at once. P >= 1. Source: 001, section 4.2 (1D partition).
MessagePattern halo_1d(int processes, double bytes);

}  // namespace steelyard::models
