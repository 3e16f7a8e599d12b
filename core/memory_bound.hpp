#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/spaces.hpp"
#include "core/untouched_array.hpp"
#include "core/vector_for.hpp"

namespace steelyard {

/// One pass over two arrays: a[i] = b[i] - a[i], or their first touch.
template <class Execution, bool Touch>
struct MemoryBoundPass {
  using Policy = Kokkos::TeamPolicy<Execution>;
  static constexpr int team_size = runs_on_host<Execution> ? 1 : 8;
  static constexpr int vector_length = runs_on_host<Execution> ? 1 : 32;
  static constexpr std::int64_t per_thread = (1 << 15) / team_size;

  double* written;
  double* read;
  std::int64_t elements;

  /// Launches on the space's queue; the caller fences.
  void launch(const Execution& space, const char* label) const {
    constexpr std::int64_t per_team = per_thread * team_size;
    const auto teams = static_cast<int>((elements + per_team - 1) / per_team);
    Kokkos::parallel_for(label, Policy(space, teams, team_size, vector_length), *this);
  }

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
    double* const w = written;
    double* const r = read;
    const std::int64_t size = elements;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, team_size), [&](const int thread) {
      const std::int64_t begin = (static_cast<std::int64_t>(member.league_rank()) * team_size + thread) * per_thread;
      const std::int64_t end = begin + per_thread < size ? begin + per_thread : size;
      vector_for(member, begin, end, [=](const std::int64_t i) {
        if (Touch) {
          r[i] = 1.0;
          w[i] = 0.5;
        } else {
          w[i] = r[i] - w[i];
        }
      });
    });
  }
};

/// The plain sweep that kernels are compared with, which reads two arrays and writes one of them back:
/// a[i] = b[i] - a[i], 3 elements of traffic per point and 1 flop. One pass over the arrays per run().
template <class Execution>
class MemoryBoundProbe {
 public:
  static constexpr double bytes_per_element = 3.0 * sizeof(double);

  /// Allocates and touches on the calling thread; fences. @param elements of each of the two arrays
  MemoryBoundProbe(const Execution& space, std::int64_t elements) : space_(space), elements_(elements) {
    // Half a page from one array to the other: a store delays later loads at the same place of another page.
    constexpr std::int64_t page = 4096 / sizeof(double);
    const std::int64_t stride = (elements + page - 1) / page * page + page / 2;
    // In huge pages on hosts, as fields of the apps are: memory gives more.
    arrays_ = {space, "steelyard::memory_bound::arrays", static_cast<std::size_t>(2 * stride)};
    written_ = arrays_.data();
    read_ = written_ + stride;
    MemoryBoundPass<Execution, true>{written_, read_, elements_}.launch(space_, "steelyard::memory_bound::touch");
    space_.fence();
  }

  /// One pass; fences.
  void run() const {
    MemoryBoundPass<Execution, false>{written_, read_, elements_}.launch(space_, "steelyard::memory_bound::update");
    space_.fence();
  }

  double bytes() const { return bytes_per_element * static_cast<double>(elements_); }

 private:
  Execution space_;
  std::int64_t elements_;
  UntouchedArray<double, typename Execution::memory_space> arrays_;
  double* written_ = nullptr;
  double* read_ = nullptr;
};

}  // namespace steelyard
