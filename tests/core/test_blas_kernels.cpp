#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>

#include "core/host_blas.hpp"
#include "core/unit_rates.hpp"

namespace steelyard::test_blas_kernels {

TEST_CASE("kernels are replaced by wider ones that the processor can run, the widest first, or by none") {
  const std::map<std::string, int> bits{{"Prescott", 128},    {"Nehalem", 128},       {"Barcelona", 128},
                                        {"Sandybridge", 256}, {"Haswell", 256},       {"Zen", 256},
                                        {"EXCAVATOR", 256},   {"SkylakeX", 512},      {"skylakex", 512},
                                        {"Cooperlake", 512},  {"Sapphirerapids", 512}};
  for (const auto& [kernels, own] : bits) {
    for (const int processor : {0, 128, 256, 512}) {
      for (const bool has_bfloat16 : {false, true}) {
        CAPTURE(kernels, processor, has_bfloat16);
        int last = 512;
        const std::vector<std::string> wider = wider_blas_kernels(kernels, processor, has_bfloat16);
        CHECK(wider.empty() == (own >= processor));
        for (const std::string& name : wider) {
          CHECK(bits.at(name) > own);
          CHECK(bits.at(name) <= processor);
          CHECK(bits.at(name) <= last);
          CHECK((has_bfloat16 || name != "Cooperlake"));
          last = bits.at(name);
        }
      }
    }
  }
}

TEST_CASE("vector units are as wide as the compiler was told") {
#if defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512CD__)
  CHECK(processor_vector_bits() == 512);
#elif defined(__AVX2__) && defined(__FMA__)
  CHECK(processor_vector_bits() >= 256);
#endif
}

}  // namespace steelyard::test_blas_kernels
