#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/memory/untouched_array.hpp"
#include "core/spaces.hpp"
#include "core/sweep/row_pointer.hpp"
#include "core/sweep/vector_for.hpp"

namespace steelyard {

/// One pass over the elements of large arrays, as fast as memory gives them: body.set(i, body.value(i)) for every i
/// below `elements`, in any order; no value depends on another element's.
/// @tparam Body a functor of a type with a name, for a launch has the device's compiler make a kernel of it
template <class Execution, class Body>
struct ArrayPass {
  using Policy = Kokkos::TeamPolicy<Execution>;
  static constexpr bool on_host = runs_on_host<Execution>;
  static constexpr int team_size = on_host ? 1 : 8;
  static constexpr int vector_length = on_host ? 1 : 32;
  static constexpr std::int64_t per_thread = on_host ? 1 << 15 : 512;

  Body body;
  std::int64_t elements;

  /// Launches on the space's queue; the caller fences.
  void launch(const Execution& space, const char* label) const {
    constexpr std::int64_t per_team = per_thread * team_size;
    const auto teams = static_cast<int>((elements + per_team - 1) / per_team);
    Kokkos::parallel_for(label, Policy(space, teams, team_size, vector_length), *this);
  }

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const Body of_element = body;
    const std::int64_t size = elements;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, team_size), [&](const int thread) {
      constexpr int lanes = vector_length;
      const std::int64_t begin = (static_cast<std::int64_t>(member.league_rank()) * team_size + thread) * per_thread;
      const std::int64_t end = begin + per_thread < size ? begin + per_thread : size;
      vector_for_several<4, lanes>(member, begin, end, [=](const std::int64_t i, const auto several) {
        constexpr int count = decltype(several)::value;
        decltype(of_element.value(i)) values[count];
        for (int n = 0; n < count; ++n) values[n] = of_element.value(i + std::int64_t{lanes} * n);
        for (int n = 0; n < count; ++n) of_element.set(i + std::int64_t{lanes} * n, values[n]);
      });
    });
  }
};

/// a[i] = b[i] - a[i].
struct MemoryBoundUpdate {
  RowPointer<double> written;
  RowPointer<const double> read;
  KOKKOS_FORCEINLINE_FUNCTION double value(const std::int64_t i) const { return read[i] - written[i]; }
  KOKKOS_FORCEINLINE_FUNCTION void set(const std::int64_t i, const double value) const { written[i] = value; }
};

/// The arrays' first touch.
struct MemoryBoundTouch {
  RowPointer<double> written, read;
  KOKKOS_FORCEINLINE_FUNCTION double value(std::int64_t) const { return 1.0; }
  KOKKOS_FORCEINLINE_FUNCTION void set(const std::int64_t i, const double value) const {
    read[i] = value;
    written[i] = 0.5 * value;
  }
};

/// Arrays of one allocation, in huge pages on hosts as fields of the apps are: memory gives more. A part of a page lies
/// from one array to the next: a store delays later loads at the same place of another page.
template <class Execution, int Count>
class PassArrays {
 public:
  PassArrays(const Execution& space, const char* label, std::int64_t elements) : elements_(elements) {
    constexpr std::int64_t page = 4096 / sizeof(double);
    stride_ = (elements + page - 1) / page * page + page / (2L * (Count - 1));
    memory_ = {space, label, static_cast<std::size_t>(Count * stride_)};
  }

  RowPointer<double> operator[](int k) const { return row_pointer(memory_.data() + k * stride_, 0, elements_); }

 private:
  std::int64_t elements_, stride_ = 0;
  UntouchedArray<double, typename Execution::memory_space> memory_;
};

/// The plain sweep that kernels are compared with, which reads two arrays and writes one of them back:
/// a[i] = b[i] - a[i], 3 elements of traffic per point and 1 flop. One pass over the arrays per run().
template <class Execution>
class MemoryBoundProbe {
 public:
  static constexpr double bytes_per_element = 3.0 * sizeof(double);

  /// Allocates and touches on the calling thread; fences. @param elements of each of the two arrays
  MemoryBoundProbe(const Execution& space, std::int64_t elements)
      : space_(space), elements_(elements), arrays_(space, "steelyard::memory_bound::arrays", elements) {
    pass<MemoryBoundTouch>("steelyard::memory_bound::touch");
  }

  /// One pass; fences.
  void run() const { pass<MemoryBoundUpdate>("steelyard::memory_bound::update"); }

  double bytes() const { return bytes_per_element * static_cast<double>(elements_); }

 private:
  template <class Body>
  void pass(const char* label) const {
    ArrayPass<Execution, Body>{{arrays_[0], arrays_[1]}, elements_}.launch(space_, label);
    space_.fence();
  }

  Execution space_;
  std::int64_t elements_;
  PassArrays<Execution, 2> arrays_;
};

/// STREAM's kernels on arrays a, b and c and a number s.
enum class StreamKernel {
  copy,   ///< c = a
  scale,  ///< b = s c
  add,    ///< c = a + b
  triad,  ///< a = b + s c
};

inline constexpr std::array stream_kernels{StreamKernel::copy, StreamKernel::scale, StreamKernel::add,
                                           StreamKernel::triad};

/// The arrays, where a device's memory has them.
struct StreamArrays {
  static constexpr double s = 3.0;
  RowPointer<double> a = nullptr, b = nullptr, c = nullptr;
};

/// Operation of a kernel on an element of the arrays.
template <StreamKernel Kernel>
struct StreamElement {
  StreamArrays of;

  KOKKOS_FORCEINLINE_FUNCTION double value(const std::int64_t i) const {
    if constexpr (Kernel == StreamKernel::copy) {
      return of.a[i];
    } else if constexpr (Kernel == StreamKernel::scale) {
      return StreamArrays::s * of.c[i];
    } else if constexpr (Kernel == StreamKernel::add) {
      return of.a[i] + of.b[i];
    } else {
      return of.b[i] + StreamArrays::s * of.c[i];
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void set(const std::int64_t i, const double value) const {
    if constexpr (Kernel == StreamKernel::scale) {
      of.b[i] = value;
    } else if constexpr (Kernel == StreamKernel::triad) {
      of.a[i] = value;
    } else {
      of.c[i] = value;
    }
  }
};

/// The arrays' first touch: a = 1, b = 2, c = 0.
struct StreamTouch {
  StreamArrays of;

  KOKKOS_FORCEINLINE_FUNCTION double value(std::int64_t) const { return 1.0; }
  KOKKOS_FORCEINLINE_FUNCTION void set(const std::int64_t i, const double value) const {
    of.a[i] = value;
    of.b[i] = 2.0 * value;
    of.c[i] = 0.0;
  }
};

/// The STREAM benchmark on one unit, in double precision.
/// Source: J. D. McCalpin, Memory bandwidth and machine balance in current high performance computers, 1995.
template <class Execution>
class Stream {
 public:
  /// Allocates and touches on the calling thread; fences. @param elements of each of the three arrays
  Stream(const Execution& space, std::int64_t elements)
      : space_(space),
        elements_(elements),
        memory_(space, "steelyard::stream::arrays", elements),
        arrays_{memory_[0], memory_[1], memory_[2]} {
    pass<StreamTouch>("steelyard::stream::touch");
  }

  /// One pass; fences.
  void run(StreamKernel kernel) const {
    switch (kernel) {
      case StreamKernel::copy:
        return pass<StreamElement<StreamKernel::copy>>("steelyard::stream::copy");
      case StreamKernel::scale:
        return pass<StreamElement<StreamKernel::scale>>("steelyard::stream::scale");
      case StreamKernel::add:
        return pass<StreamElement<StreamKernel::add>>("steelyard::stream::add");
      case StreamKernel::triad:
        return pass<StreamElement<StreamKernel::triad>>("steelyard::stream::triad");
    }
  }

  /// Bytes of a pass, as STREAM counts them: what it reads and what it writes, but not what a cache reads before it
  /// writes.
  double bytes(StreamKernel kernel) const {
    const bool reads_two = kernel == StreamKernel::add || kernel == StreamKernel::triad;
    return (reads_two ? 3.0 : 2.0) * sizeof(double) * static_cast<double>(elements_);
  }

  /// In the unit's memory.
  const StreamArrays& arrays() const { return arrays_; }

 private:
  template <class Body>
  void pass(const char* label) const {
    ArrayPass<Execution, Body>{{arrays_}, elements_}.launch(space_, label);
    space_.fence();
  }

  Execution space_;
  std::int64_t elements_;
  PassArrays<Execution, 3> memory_;
  StreamArrays arrays_;
};

}  // namespace steelyard
