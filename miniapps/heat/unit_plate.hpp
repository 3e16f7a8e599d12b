#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/spaces.hpp"
#include "core/sweep/vector_for.hpp"

namespace steelyard::heat {

/// Rows of the plate in one unit's memory, with a ghost row or column on each side; those around the plate stay 0.
template <class Execution>
class UnitPlate {
 public:
  using Field = Kokkos::View<double**, Kokkos::LayoutRight, DeviceOf<Execution>>;

  /// Called by the unit's own thread, as all functions are.
  UnitPlate(const Execution& space, std::int64_t first, std::int64_t rows, std::int64_t columns)
      : space_(space), first_(first) {
    for (Field* const field : {&now_, &next_}) {
      *field = Field(Kokkos::view_alloc(space, "steelyard::heat::u"), rows + 2, columns + 2);
    }
  }

  std::int64_t first() const { return first_; }
  std::int64_t rows() const { return now_.extent_int(0) - 2; }
  std::int64_t columns() const { return now_.extent_int(1) - 2; }
  /// Where row 0 of the plate would be, see RowExchange.
  double* origin() { return now_.data() + (1 - first_) * (columns() + 2); }

  /// Sets the unit's rows to value(i, j), ghost values too; fences.
  template <class Value>
  void load(const Value& value) {
    const auto mirror = Kokkos::create_mirror_view(now_);
    for (std::int64_t i = -1; i <= rows(); ++i) {
      for (std::int64_t j = -1; j <= columns(); ++j) mirror(i + 1, j + 1) = value(first_ + i, j);
    }
    Kokkos::deep_copy(now_, mirror);
  }
  /// The unit's rows on the host, one after the other.
  std::vector<double> rows_on_host() const {
    const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), now_);
    std::vector<double> values;
    for (std::int64_t i = 1; i <= rows(); ++i) values.insert(values.end(), &mirror(i, 1), &mirror(i, 1) + columns());
    return values;
  }

  // The kernel, which compilers for devices have to be able to name.

  using Policy = Kokkos::TeamPolicy<Execution>;
  struct Step {
    Field now, next;
    double ratio;
    KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
      const std::int64_t i = member.league_rank() + 1, columns = now.extent_int(1) - 2;
      const double *const above = &now(i - 1, 0), *const here = &now(i, 0), *const below = &now(i + 1, 0);
      double* const result = &next(i, 0);
      const double own = ratio;
      vector_for(member, 1, columns + 1, [=](const std::int64_t j) {
        result[j] = here[j] + own * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4.0 * here[j]);
      });
    }
  };

  /// A step of the unit's rows, whose ghost rows are those of the last step; the caller fences.
  void step(double ratio) {
    constexpr int lanes = runs_on_host<Execution> ? 1 : 32;
    if (rows() > 0) {
      Kokkos::parallel_for("steelyard::heat::step", Policy(space_, static_cast<int>(rows()), 1, lanes),
                           Step{now_, next_, ratio});
    }
    std::swap(now_, next_);
  }

 private:
  Execution space_;
  std::int64_t first_;
  Field now_, next_;
};

}  // namespace steelyard::heat
