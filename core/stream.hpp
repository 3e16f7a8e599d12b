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
/// below `elements`, in any order. @tparam Body a functor of a type with a name, as devices' compilers need it
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

/// Body of an ArrayPass: to[i] = Operation()(x[i], y[i]).
template <class Operation>
struct PassElement {
  RowPointer<double> to;
  RowPointer<const double> x, y;

  KOKKOS_FORCEINLINE_FUNCTION double value(const std::int64_t i) const { return Operation()(x[i], y[i]); }
  KOKKOS_FORCEINLINE_FUNCTION void set(const std::int64_t i, const double value) const { to[i] = value; }
};

/// Body of an ArrayPass: to[i] = number.
struct FillElement {
  RowPointer<double> to;
  double number;

  KOKKOS_FORCEINLINE_FUNCTION double value(std::int64_t) const { return number; }
  KOKKOS_FORCEINLINE_FUNCTION void set(const std::int64_t i, const double value) const { to[i] = value; }
};

/// Arrays of one allocation, in huge pages on hosts as fields of the apps are: memory gives more. A part of a page lies
/// from one array to the next: a store delays later loads at the same place of another page.
template <class Execution, int Count>
class PassArrays {
 public:
  /// Allocates, and fills array k with k + 1 by the threads that work on it; fences. @param elements of each array
  PassArrays(const Execution& space, const char* label, std::int64_t elements) : space_(space), elements_(elements) {
    constexpr std::int64_t page = 4096 / sizeof(double);
    stride_ = (elements + page - 1) / page * page + page / (2L * (Count - 1));
    memory_ = {space, label, static_cast<std::size_t>(Count * stride_)};
    for (int k = 0; k < Count; ++k) {
      ArrayPass<Execution, FillElement>{{(*this)[k], 1.0 + k}, elements_}.launch(space_, "steelyard::stream::touch");
    }
    space_.fence();
  }

  /// Array k, in the unit's memory.
  RowPointer<double> operator[](int k) const { return row_pointer(memory_.data() + k * stride_, 0, elements_); }
  std::int64_t elements() const { return elements_; }

  /// Passes over the arrays once: to[i] = Operation()(x[i], y[i]); fences.
  template <class Operation>
  void pass(const char* label, int to, int x, int y) const {
    const PassElement<Operation> body{(*this)[to], (*this)[x], (*this)[y]};
    ArrayPass<Execution, PassElement<Operation>>{body, elements_}.launch(space_, label);
    space_.fence();
  }

 private:
  Execution space_;
  std::int64_t elements_, stride_ = 0;
  UntouchedArray<double, typename Execution::memory_space> memory_;
};

struct DifferenceOfElements {
  KOKKOS_FORCEINLINE_FUNCTION double operator()(const double x, const double y) const { return x - y; }
};

/// The plain sweep that kernels are compared with, which reads two arrays and writes one of them back:
/// a[i] = b[i] - a[i], 3 elements of traffic per point and 1 flop. One pass over the arrays per run().
template <class Execution>
class MemoryBoundProbe {
 public:
  static constexpr double bytes_per_element = 3.0 * sizeof(double);

  /// Allocates and touches on the calling thread; fences. @param elements of each of the two arrays
  MemoryBoundProbe(const Execution& space, std::int64_t elements)
      : arrays_(space, "steelyard::memory_bound::arrays", elements) {}

  /// One pass; fences.
  void run() const { arrays_.template pass<DifferenceOfElements>("steelyard::memory_bound::update", 0, 1, 0); }

  double bytes() const { return bytes_per_element * static_cast<double>(arrays_.elements()); }

 private:
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

/// Element that a kernel makes of those of the one or two arrays that it reads.
template <StreamKernel Kernel>
struct StreamElement {
  KOKKOS_FORCEINLINE_FUNCTION double operator()(const double x, [[maybe_unused]] const double y) const {
    constexpr double s = 3.0;
    if constexpr (Kernel == StreamKernel::copy) {
      return x;
    } else if constexpr (Kernel == StreamKernel::scale) {
      return s * x;
    } else if constexpr (Kernel == StreamKernel::add) {
      return x + y;
    } else {
      return x + s * y;
    }
  }
};

/// The STREAM benchmark on one unit, in double precision.
/// Source: J. D. McCalpin, Memory bandwidth and machine balance in current high performance computers, 1995.
template <class Execution>
class Stream {
 public:
  /// Allocates and touches on the calling thread; fences. @param elements of each of the three arrays
  Stream(const Execution& space, std::int64_t elements) : arrays_(space, "steelyard::stream::arrays", elements) {}

  /// One pass; fences.
  void run(StreamKernel kernel) const {
    constexpr int a = 0, b = 1, c = 2;
    switch (kernel) {
      case StreamKernel::copy:
        return arrays_.template pass<StreamElement<StreamKernel::copy>>("steelyard::stream::copy", c, a, a);
      case StreamKernel::scale:
        return arrays_.template pass<StreamElement<StreamKernel::scale>>("steelyard::stream::scale", b, c, c);
      case StreamKernel::add:
        return arrays_.template pass<StreamElement<StreamKernel::add>>("steelyard::stream::add", c, a, b);
      case StreamKernel::triad:
        return arrays_.template pass<StreamElement<StreamKernel::triad>>("steelyard::stream::triad", a, b, c);
    }
  }

  /// Bytes of a pass, as STREAM counts them: without what a cache reads before it writes.
  double bytes(StreamKernel kernel) const {
    const bool reads_two = kernel == StreamKernel::add || kernel == StreamKernel::triad;
    return (reads_two ? 3.0 : 2.0) * sizeof(double) * static_cast<double>(arrays_.elements());
  }

  /// a, b and c.
  const PassArrays<Execution, 3>& arrays() const { return arrays_; }

 private:
  PassArrays<Execution, 3> arrays_;
};

}  // namespace steelyard
