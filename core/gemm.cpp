#include "core/gemm.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"
#include "core/gemm_ways.hpp"

namespace steelyard::detail {
namespace {

template <class Execution>
constexpr bool is_device = !runs_on_host<Execution>;

/// The operands of one call.
template <class Execution, class Scalar>
struct Operands {
  Scalar alpha;
  ConstMatrix<Execution, Scalar> a, b;
  Scalar beta;
  Matrix<Execution, Scalar> c;
};

template <class Execution, class Scalar>
std::string extents(const Matrix<Execution, Scalar>& matrix) {
  return fmt::format("{} x {}", matrix.extent(0), matrix.extent(1));
}

template <class Execution, class Scalar>
void check_extents(const Operands<Execution, Scalar>& x) {
  if (x.a.extent(0) != x.c.extent(0) || x.a.extent(1) != x.b.extent(0) || x.b.extent(1) != x.c.extent(1)) {
    throw InvalidArgument(fmt::format("gemm: A is {}, B is {} and C is {}; expected m x k, k x n and m x n",
                                      extents(x.a), extents(x.b), extents(x.c)));
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
  check('A', x.a);
  check('B', x.b);
  check('C', x.c);
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

template <class Execution, class Scalar>
GemmCall<Scalar> blas_call(const Operands<Execution, Scalar>& x) {
  const auto whole = [](std::size_t count) { return static_cast<int>(count); };
  return {whole(x.c.extent(0)), whole(x.c.extent(1)), whole(x.a.extent(1)), x.alpha, x.a.data(),
          whole(x.a.stride(0)), x.b.data(),           whole(x.b.stride(0)), x.beta,  x.c.data(),
          whole(x.c.stride(0))};
}

template <class Execution, class Scalar>
void multiply(const Execution& space, const Operands<Execution, Scalar>& x) {
  if constexpr (!is_device<Execution>) {
    if (!host_blas().uses_openmp) {
      sliced_gemm(space, blas_call(x));
      return;
    }
    const auto count = static_cast<int>(space.concurrency());
    const OpenMpThreads threads(count);
    // One thread must not: the number belongs to the whole program, and the host unit may be multiplying.
    if (count > 1) set_blas_threads(count);
    host_blas_gemm(blas_call(x));
  } else if constexpr (has_device_libraries) {
    device_blas_gemm(space, blas_call(x));
  } else {
    kernels_gemm(space, x.alpha, x.a, x.b, x.beta, x.c);
  }
}

}  // namespace

template <ProcessingUnit::Kind unit, class Execution, class Scalar>
void gemm(const Execution& space, Scalar alpha, const ConstMatrix<Execution, Scalar>& a,
          const ConstMatrix<Execution, Scalar>& b, Scalar beta, const Matrix<Execution, Scalar>& c) {
  const Operands<Execution, Scalar> operands{alpha, a, b, beta, c};
  check_extents(operands);
  if (c.size() == 0) return;
  // Libraries differ in what they do with nothing to add.
  if (a.extent(1) == 0 || alpha == Scalar{0}) {
    scale<Execution, Scalar>(space, beta, c);
  } else {
    multiply(space, operands);
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
