#pragma once

#include <algorithm>
#include <cstdint>

#include "core/spaces.hpp"
#include "core/vector_for.hpp"

namespace steelyard {

/// The kernel whose speed no plain sweep that reads two arrays and writes one of them back can pass:
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
    arrays_ = Arrays(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "steelyard::memory_bound::arrays"),
                     static_cast<std::size_t>(2 * stride));
    update_ = {arrays_.data(), arrays_.data() + stride, elements};
    sweep<true>("steelyard::memory_bound::touch");
  }

  /// One pass; fences.
  void run() const { sweep<false>("steelyard::memory_bound::update"); }

  double bytes() const { return bytes_per_element * static_cast<double>(elements_); }

 private:
  using Arrays = Kokkos::View<double*, DeviceOf<Execution>>;
  using Policy = Kokkos::TeamPolicy<Execution>;
  static constexpr std::int64_t chunk = 1 << 15;
  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Execution::memory_space>::accessible;

  template <bool Touch>
  struct Update {
    double* written;
    double* read;
    std::int64_t elements;

    KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
      constexpr std::int64_t threads = on_host ? 1 : 8;
      double* const w = written;
      double* const r = read;
      const std::int64_t end = elements;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, static_cast<int>(threads)), [&](const int thread) {
        const std::int64_t begin = (member.league_rank() * threads + thread) * (chunk / threads);
        const std::int64_t last = begin + chunk / threads < end ? begin + chunk / threads : end;
        vector_for(member, begin, last, [=](const std::int64_t i) {
          if constexpr (Touch) {
            r[i] = 1.0;
            w[i] = 0.5;
          } else {
            w[i] = r[i] - w[i];
          }
        });
      });
    }
  };

  template <bool Touch>
  void sweep(const char* label) const {
    const auto teams = static_cast<int>((elements_ + chunk - 1) / chunk);
    Kokkos::parallel_for(label, Policy(space_, teams, on_host ? 1 : 8, on_host ? 1 : 32),
                         Update<Touch>{update_.written, update_.read, update_.elements});
    space_.fence();
  }

  Execution space_;
  std::int64_t elements_;
  Arrays arrays_;
  Update<false> update_{};
};

}  // namespace steelyard
