#pragma once

#include <string>
#include <vector>

namespace steelyard {

/// Kernels of OpenBLAS that use wider vectors than `kernels` and run on a processor with these vectors, the fastest
/// first. Empty where `kernels` are as wide as the processor's vectors or are not known here.
/// @param kernels of openblas_get_corename(), in any case of letters
/// @param has_bfloat16 whether the processor has AVX-512's instructions for this type, which Cooper Lake brought
std::vector<std::string> wider_blas_kernels(const std::string& kernels, int vector_bits, bool has_bfloat16);

/// Restarts the program with other kernels of its OpenBLAS where the library does not know the processor and has chosen
/// kernels of narrower vectors: OPENBLAS_CORETYPE is set to those of wider_blas_kernels() one by one, until the library
/// has them, their product is right and they are faster. A choice of the user, by that variable, stays. To be called
/// first in main(): nothing of the process but its arguments and environment survives.
void choose_blas_kernels(char** argv);

/// `OpenBLAS 0.3.21 does not know this processor: SkylakeX kernels instead of Prescott` after such a restart, otherwise
/// empty.
std::string blas_kernels_note();

}  // namespace steelyard
