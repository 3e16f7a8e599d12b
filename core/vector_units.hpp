#pragma once

#include <cstdint>

namespace steelyard {

/// Bits of the widest vectors that this processor multiplies and adds: 512 with the parts of AVX-512 that servers have
/// (F, BW, CD, DQ, VL), 256 with AVX2 and FMA, else 128; 0 for processors other than x86-64, which are not known here.
int processor_vector_bits();

/// Whether the processor has AVX-512's instructions for bfloat16, as Cooper Lake and what came after it.
bool processor_has_bfloat16();

/// Keeps the vector units of the calling thread's core busy: `rounds` fused multiplications and additions of doubles in
/// each of twelve registers of the widest vectors. @return a number that depends on all of them
double keep_vector_units_busy(std::int64_t rounds);
/// Floating-point operations of that.
double vector_unit_flops(std::int64_t rounds);

}  // namespace steelyard
