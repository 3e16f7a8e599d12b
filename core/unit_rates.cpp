#include "core/unit_rates.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/gemm.hpp"
#include "core/memory/host_copy.hpp"
#include "core/stream.hpp"
#include "core/timing.hpp"

namespace steelyard {

namespace {

constexpr double mebibyte = 1024.0 * 1024.0;
/// Share of the unit's memory that is used: the program's data may be there as well.
constexpr double memory_share = 0.25;
constexpr int repetitions = 5;
/// Long enough for clocks and for what a device takes to begin.
constexpr double long_enough_s = 0.02;

/// Seconds of the fastest of several runs after one that does not count.
template <class Work>
double fastest_seconds(const Work& work) {
  work();
  double fastest_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repetitions; ++i) fastest_s = std::min(fastest_s, unit_seconds(work));
  return fastest_s;
}

/// Elements of a part of the memory, at most `most`.
std::int64_t elements_in(double memory_bytes, double bytes_per_element, std::int64_t most) {
  const double fit = std::floor(memory_share * memory_bytes / bytes_per_element);
  return fit < static_cast<double>(most) ? std::max<std::int64_t>(1, static_cast<std::int64_t>(fit)) : most;
}

template <class Execution>
void measure_stream(const Execution& space, std::int64_t elements, UnitRates& rates) {
  const Stream<Execution> stream(space, elements);
  std::array<double, 4> fastest_s;
  fastest_s.fill(std::numeric_limits<double>::infinity());
  // In turn, as STREAM does: a kernel finds in caches what another one has left there. The first turn does not count.
  for (int turn = 0; turn <= repetitions; ++turn) {
    for (std::size_t i = 0; i < stream_kernels.size(); ++i) {
      const double seconds = unit_seconds([&] { stream.run(stream_kernels[i]); });
      if (turn > 0) fastest_s[i] = std::min(fastest_s[i], seconds);
    }
  }
  for (std::size_t i = 0; i < stream_kernels.size(); ++i) {
    rates.stream_bytes_per_s[i] = stream.bytes(stream_kernels[i]) / fastest_s[i];
  }
}

/// Elements of all three matrices.
template <class Scalar>
struct GemmFill {
  RowPointer<Scalar> data;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    data[i] = static_cast<Scalar>(i % 31 - 15) * Scalar(0.0625);
  }
};

template <class Scalar, class Execution>
double measure_gemm(const Execution& space, double memory_bytes) {
  constexpr std::int64_t first = 512, last = 8192;
  double fastest_flops_per_s = 0.0;
  for (std::int64_t n = first;; n *= 2) {
    const std::int64_t elements = 3 * n * n;
    const UntouchedArray<Scalar, typename Execution::memory_space> memory(space, "steelyard::unit_rates::matrices",
                                                                          static_cast<std::size_t>(elements));
    Scalar* const data = memory.data();
    Kokkos::parallel_for("steelyard::unit_rates::fill",
                         Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::int64_t>>(space, 0, elements),
                         GemmFill<Scalar>{row_pointer(data, 0, elements)});
    const double seconds = fastest_seconds([&] {
      blas::gemm(space, Scalar{1}, matrix_at<Execution, const Scalar>(data, n, n, n),
                 matrix_at<Execution, const Scalar>(data + n * n, n, n, n), Scalar{0},
                 matrix_at<Execution, Scalar>(data + 2 * n * n, n, n, n));
      space.fence();
    });
    const double next_bytes = 4.0 * static_cast<double>(elements) * sizeof(Scalar);
    fastest_flops_per_s = std::max(fastest_flops_per_s, 2.0 * std::pow(static_cast<double>(n), 3) / seconds);
    if (seconds >= long_enough_s || 2 * n > last || next_bytes > memory_share * memory_bytes) {
      return fastest_flops_per_s;
    }
  }
}

template <class Execution>
void measure_copies(const Execution& space, double memory_bytes, UnitRates& rates) {
  const auto elements = static_cast<std::size_t>(
      elements_in(memory_bytes, sizeof(double), static_cast<std::int64_t>(64.0 * mebibyte / sizeof(double))));
  const UntouchedArray<double, PinnedMemory> host("steelyard::unit_rates::host", elements);
  std::fill_n(host.data(), elements, 1.0);
  const UntouchedArray<double, typename Execution::memory_space> own(space, "steelyard::unit_rates::own", elements);
  const auto rate = [&](const auto& copy) {
    const double seconds = fastest_seconds([&] {
      copy();
      space.fence();
    });
    return static_cast<double>(elements) * sizeof(double) / seconds;
  };
  rates.to_device_bytes_per_s = rate([&] { copy_from_host(space, own.data(), host.data(), elements); });
  rates.to_host_bytes_per_s = rate([&] { copy_to_host(space, host.data(), own.data(), elements); });
}

template <class Execution>
UnitRates measure(std::int64_t elements, double memory_bytes) {
  const Execution space;
  UnitRates rates;
  measure_stream(space, elements, rates);
  rates.gemm_double_flops_per_s = measure_gemm<double>(space, memory_bytes);
  rates.gemm_float_flops_per_s = measure_gemm<float>(space, memory_bytes);
  if constexpr (!runs_on_host<Execution>) measure_copies(space, memory_bytes, rates);
  return rates;
}

}  // namespace

std::int64_t stream_elements(const Machine& machine, ProcessingUnit::Kind kind, double memory_bytes) {
  double bytes = 256.0 * mebibyte;
  if (kind == ProcessingUnit::Kind::host || !companion_is_device) {
    std::int64_t cache_bytes = 0;
    for (const Machine::Cache& cache : machine.caches()) cache_bytes = std::max(cache_bytes, cache.bytes);
    if (cache_bytes > 0) bytes = std::min(bytes, 4.0 * static_cast<double>(cache_bytes));
  }
  return elements_in(memory_bytes, 3.0 * sizeof(double), static_cast<std::int64_t>(bytes / sizeof(double)));
}

UnitRates measure_unit_rates(ProcessingUnit::Kind kind, std::int64_t elements, double memory_bytes) {
  return kind == ProcessingUnit::Kind::host ? measure<HostExecution>(elements, memory_bytes)
                                            : measure<CompanionExecution>(elements, memory_bytes);
}

double unit_seconds(const CoExecution::Work& work) {
  const double start_s = now_s();
  CoExecution::timed_section(work);
  return now_s() - start_s;
}

}  // namespace steelyard
