#include "core/gemm.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"
#include "core/gemm_ways.hpp"
#include "core/host_blas.hpp"

namespace steelyard::detail {
namespace {

template <class Execution>
constexpr bool is_device = !runs_on_host<Execution>;

template <class Execution, class Scalar>
std::string extents(const Matrix<Execution, Scalar>& matrix) {
  return fmt::format("{} x {}", matrix.extent(0), matrix.extent(1));
}

template <class Execution, class Scalar>
void check_extents(const ConstMatrix<Execution, Scalar>& a, const ConstMatrix<Execution, Scalar>& b,
                   const Matrix<Execution, Scalar>& c) {
  if (a.extent(0) != c.extent(0) || a.extent(1) != b.extent(0) || b.extent(1) != c.extent(1)) {
    throw InvalidArgument(fmt::format("gemm: A is {}, B is {} and C is {}; expected m x k, k x n and m x n", extents(a),
                                      extents(b), extents(c)));
  }
  const auto check = [](char name, const auto& matrix) {
    constexpr std::size_t most = std::numeric_limits<int>::max();
    for (const std::size_t count : {matrix.extent(0), matrix.extent(1), static_cast<std::size_t>(matrix.stride(0))}) {
      if (count > most) {
        throw InvalidArgument(fmt::format("gemm: {} is {} with a leading dimension of {}; a BLAS counts to {}", name,
                                          extents(matrix), matrix.stride(0), most));
      }
    }
  };
  check('A', a);
  check('B', b);
  check('C', c);
}

/// C = beta C.
template <class Execution, class Scalar>
struct Scale {
  Scalar beta;
  Matrix<Execution, Scalar> c;

  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    const auto columns = static_cast<std::int64_t>(c.extent(1));
    Scalar& element = c(i / columns, i % columns);
    element = beta == Scalar{0} ? Scalar{0} : beta * element;
  }
};

template <class Execution, class Scalar>
void scale(const Execution& space, Scalar beta, const Matrix<Execution, Scalar>& c) {
  if (beta == Scalar{1}) return;
  using Policy = Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("steelyard::core::scale", Policy(space, 0, static_cast<std::int64_t>(c.size())),
                       Scale<Execution, Scalar>{beta, c});
}

template <class Scalar, class Execution>
void multiply(const Execution& space, const GemmCall<Scalar>& call) {
  if constexpr (is_device<Execution>) {
    device_blas_gemm(space, call);
  } else if (!host_blas().uses_openmp) {
    sliced_gemm(space, call);
  } else {
    const auto count = static_cast<int>(space.concurrency());
    const OpenMpThreads threads(count);
    // One thread must not: the number belongs to the whole program, and the host unit may be multiplying.
    if (count > 1) set_blas_threads(count);
    host_blas_gemm(call);
  }
}

}  // namespace

template <ProcessingUnit::Kind unit, class Execution, class Scalar>
void gemm(const Execution& space, Scalar alpha, const ConstMatrix<Execution, Scalar>& a,
          const ConstMatrix<Execution, Scalar>& b, Scalar beta, const Matrix<Execution, Scalar>& c) {
  check_extents<Execution, Scalar>(a, b, c);
  if (c.size() == 0) return;
  if (a.extent(1) == 0 || alpha == Scalar{0}) {
    // Libraries differ in what they do with nothing to add.
    scale<Execution, Scalar>(space, beta, c);
  } else if constexpr (is_device<Execution> && !has_device_libraries) {
    kernels_gemm(space, alpha, a, b, beta, c);
  } else {
    const auto whole = [](std::size_t count) { return static_cast<int>(count); };
    multiply<Scalar>(space, {whole(c.extent(0)), whole(c.extent(1)), whole(a.extent(1)), alpha, a.data(),
                             whole(a.stride(0)), b.data(), whole(b.stride(0)), beta, c.data(), whole(c.stride(0))});
  }
}

template <ProcessingUnit::Kind unit, class Execution>
std::string gemm_library(const Execution& space) {
  if constexpr (is_device<Execution>) {
    return has_device_libraries ? device_blas_name() : "Kokkos Kernels";
  } else {
    const auto threads = static_cast<int>(space.concurrency());
    return fmt::format("{}, {} {}", host_blas().name, threads, threads == 1 ? "thread" : "threads");
  }
}

#define STEELYARD_INSTANTIATE_GEMM(KIND, EXECUTION, SCALAR)                                                    \
  template void gemm<KIND, EXECUTION, SCALAR>(const EXECUTION&, SCALAR, const ConstMatrix<EXECUTION, SCALAR>&, \
                                              const ConstMatrix<EXECUTION, SCALAR>&, SCALAR,                   \
                                              const Matrix<EXECUTION, SCALAR>&);

STEELYARD_INSTANTIATE_GEMM(ProcessingUnit::Kind::host, HostExecution, double)
STEELYARD_INSTANTIATE_GEMM(ProcessingUnit::Kind::host, HostExecution, float)
STEELYARD_INSTANTIATE_GEMM(ProcessingUnit::Kind::companion, CompanionExecution, double)
STEELYARD_INSTANTIATE_GEMM(ProcessingUnit::Kind::companion, CompanionExecution, float)
template std::string gemm_library<ProcessingUnit::Kind::host>(const HostExecution&);
template std::string gemm_library<ProcessingUnit::Kind::companion>(const CompanionExecution&);

}  // namespace steelyard::detail
