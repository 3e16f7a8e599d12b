#pragma once

#include <cstdint>
#include <vector>

#include "core/spaces.hpp"
#include "core/sweep/vector_for.hpp"

namespace steelyard::jacobi {

/// The system A x = b of n equations: off the diagonal numbers within (-1/2, 1/2) that look random, on it n, so that
/// every iteration at least halves the error; and b such that the solution is known.
KOKKOS_INLINE_FUNCTION double coefficient(const std::int64_t n, const std::int64_t i, const std::int64_t j) {
  if (i == j) return static_cast<double>(n);
  auto bits = static_cast<std::uint64_t>(i * n + j) * 0x9E3779B97F4A7C15ULL;  // as SplitMix64
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<double>(bits >> 11) * 0x1p-53 - 0.5;
}
KOKKOS_INLINE_FUNCTION double solution(const std::int64_t i) { return 1.0 + static_cast<double>(i % 5) / 8.0; }

/// Floating-point operations of an equation in a step, and its memory traffic.
inline double flops_of_row(std::int64_t n) { return 2.0 * static_cast<double>(n) + 3.0; }
inline double bytes_of_row(std::int64_t n) { return sizeof(double) * static_cast<double>(n + 2); }

/// Rows of the system in one unit's memory, and a whole x.
template <class Execution>
class UnitSystem {
 public:
  using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, DeviceOf<Execution>>;
  using Vector = Kokkos::View<double*, DeviceOf<Execution>>;

  /// Makes a system of n equations with x = 0; the unit has none of them yet. Called by the unit's own thread, as all
  /// functions are.
  UnitSystem(const Execution& space, std::int64_t n)
      : space_(space), x_(Kokkos::view_alloc(space, "steelyard::jacobi::x"), n) {}

  /// Makes equations first to first + rows - 1 those of the unit and keeps x; fences.
  void assign(std::int64_t first, std::int64_t rows) {
    first_ = first;
    a_ = Matrix(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "steelyard::jacobi::a"), rows, n());
    b_ = Vector(Kokkos::view_alloc(space_, "steelyard::jacobi::b"), rows);
    next_ = Vector(Kokkos::view_alloc(space_, "steelyard::jacobi::next"), rows);
    const Vector solved(Kokkos::view_alloc(space_, "steelyard::jacobi::solution"), n());
    for_rows("steelyard::jacobi::fill", Fill{a_, solved, first});
    for_rows("steelyard::jacobi::right_side", Sweep{a_, b_, solved, b_, first, /*multiplies_only=*/true});
    space_.fence();
  }

  /// next_i = (b_i - sum_{j != i} a_ij x_j) / a_ii for the unit's rows; the caller fences.
  void sweep() { for_rows("steelyard::jacobi::sweep", Sweep{a_, b_, x_, next_, first_, /*multiplies_only=*/false}); }

  void clear_x() { Kokkos::deep_copy(space_, x_, 0.0); }
  const Vector& x() const { return x_; }        ///< n elements
  const Vector& next() const { return next_; }  ///< one for each of the unit's equations
  std::int64_t n() const { return static_cast<std::int64_t>(x_.extent(0)); }

  /// Copies a View of the unit's to the host.
  static std::vector<double> host_copy(const Vector& vector) {
    const auto mirror = Kokkos::create_mirror_view(vector);
    Kokkos::deep_copy(mirror, vector);
    return {mirror.data(), mirror.data() + mirror.extent(0)};
  }

  // The kernels, which compilers for devices have to be able to name.

  using Policy = Kokkos::TeamPolicy<Execution>;
  using Member = typename Policy::member_type;

  /// Coefficients; the team of the first row also sets the solution.
  struct Fill {
    Matrix a;
    Vector solved;
    std::int64_t first;
    KOKKOS_FUNCTION void operator()(const Member& member) const {
      const auto n = static_cast<std::int64_t>(solved.extent(0));
      for_rows_of_team(member, a, [&](const std::int64_t row) {
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, n), [&](const std::int64_t j) {
          a(row, j) = coefficient(n, first + row, j);
          if (row == 0) solved(j) = solution(j);
        });
      });
    }
  };

  struct Sweep {
    Matrix a;
    Vector b, x, result;
    std::int64_t first;
    bool multiplies_only;
    KOKKOS_FUNCTION void operator()(const Member& member) const {
      for_rows_of_team(member, a, [&](const std::int64_t row) {
        const double product =
            row_product(member, row_of(a, row), elements_of(x), static_cast<std::int64_t>(x.extent(0)));
        Kokkos::single(Kokkos::PerThread(member), [&] {
          const double diagonal = a(row, first + row);
          result(row) = multiplies_only ? product : (b(row) - product) / diagonal + x(first + row);
        });
      });
    }
  };

 private:
  /// A thread takes a row, with its vector lanes on a device.
  static constexpr int team_size = runs_on_host<Execution> ? 1 : 8;
  static constexpr int lanes = runs_on_host<Execution> ? 1 : 32;

  template <class Body>
  void for_rows(const char* label, const Body& body) const {
    const auto rows = static_cast<int>(next_.extent(0));
    if (rows == 0) return;
    Kokkos::parallel_for(label, Policy(space_, (rows + team_size - 1) / team_size, team_size, lanes), body);
  }
  template <class Body>
  KOKKOS_INLINE_FUNCTION static void for_rows_of_team(const Member& member, const Matrix& a, const Body& body) {
    constexpr int threads = team_size;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, threads), [&](const int thread) {
      const std::int64_t row = std::int64_t{threads} * member.league_rank() + thread;
      if (row < static_cast<std::int64_t>(a.extent(0))) body(row);
    });
  }

  Execution space_;
  std::int64_t first_ = 0;
  Matrix a_;
  Vector b_, x_, next_;
};

}  // namespace steelyard::jacobi
