#include <complex>
#include <cstring>
#include <numbers>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>

#include "miniapps/fft2d/plan.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/allocations.hpp"
#if defined(STEELYARD_EMULATED_DEVICE)
#include "tests/core/device/schedule.hpp"
#endif

namespace steelyard::fft2d::test_row_pass {
namespace {

using Kind = ProcessingUnit::Kind;
using Number = std::complex<long double>;

/// An execution space of a unit and a precision.
template <class E, class S>
struct On {
  using Execution = E;
  using Scalar = S;
  using Complex = Kokkos::complex<S>;
  static constexpr Kind kind = std::is_same_v<E, HostExecution> ? Kind::host : Kind::companion;
  static constexpr double tolerance = std::is_same_v<S, double> ? 1e-13 : 1e-5;
};

using Units = std::tuple<On<HostExecution, double>, On<HostExecution, float>, On<CompanionExecution, double>,
                         On<CompanionExecution, float>>;

/// An array that every unit can read and write, filled with something that is no result.
template <class Element>
class Array {
 public:
  explicit Array(std::int64_t size)
      : memory_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "array"), static_cast<std::size_t>(size)) {
    for (std::int64_t i = 0; i < size; ++i) (*this)[i] = Element(777.0);
  }
  std::int64_t size() const { return static_cast<std::int64_t>(memory_.extent(0)); }
  Element* data() const { return memory_.data(); }
  Element& operator[](std::int64_t i) const { return memory_.data()[i]; }
  bool same_bits(const Array& other) const {
    return size() == other.size() &&
           std::memcmp(data(), other.data(), static_cast<std::size_t>(size()) * sizeof(Element)) == 0;
  }

 private:
  Kokkos::View<Element*, PinnedMemory> memory_;
};

/// Numbers, or parts of complex ones, from -1 to 1.
template <class Element>
Array<Element> random_rows(std::int64_t points, unsigned seed) {
  using Scalar = typename RowPass<Element>::Scalar;
  std::mt19937 engine(seed);
  std::uniform_real_distribution<Scalar> number(-1, 1);
  Array<Element> rows(points);
  auto* const numbers = reinterpret_cast<Scalar*>(rows.data());
  constexpr auto parts = static_cast<std::int64_t>(sizeof(Element) / sizeof(Scalar));
  for (std::int64_t i = 0; i < parts * points; ++i) numbers[i] = number(engine);
  return rows;
}

/// A pass over all rows, in one piece and into one piece without padding.
template <class Unit, class Element>
Array<typename Unit::Complex> run_pass(const RowTransformation& transformation, const std::string& library,
                                       const Array<Element>& rows, Planner planner = Planner::estimate) {
  using Complex = typename RowPass<Element>::Complex;
  const std::int64_t count = rows.size() / transformation.length;
  const std::int64_t points = stored_points(transformation.length, RowPass<Element>::real);
  const auto pass = RowPass<Element>::make(Unit::kind, transformation, count, {library, planner});
  Array<Complex> stored(count * points);
  const RowPiece<Element> in{rows.data(), transformation.length, 0, transformation.length};
  const StoredPiece<Complex> out{stored.data(), transformation.transpose ? count : points, 0, points};
  pass->run(0, count, std::span(&in, 1), std::span(&out, 1));
  return stored;
}

/// All short lengths, then primes, powers and mixes, some of them long.
std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> all(64);
  std::iota(all.begin(), all.end(), 1);
  for (const std::int64_t n : {67,  81,  97,  100, 105,  121,  125,  127,  128,  143,  169,  210,  221, 243, 251,
                               256, 257, 289, 315, 323,  343,  360,  361,  420,  500,  509,  512,  521, 529, 541,
                               576, 599, 600, 601, 1369, 2187, 3000, 4096, 4099, 5040, 6241, 7694, 7919}) {
    all.push_back(n);
  }
  return all;
}

template <class Element>
Number number(const Element& element) {
  if constexpr (std::is_arithmetic_v<Element>) {
    return {element, 0.0L};
  } else {
    return {element.real(), element.imag()};
  }
}

/// Distance of a row's spectrum from the transform by its definition, in extended precision and relative to it:
/// sum over j of x_j exp(sign 2 pi i j k / n), for all points k, or for some 40 at random and the energy of long rows.
template <class Element, class Complex>
double distance_from_dft(const Element* row, const Complex* stored, std::int64_t pitch,
                         const RowTransformation& transformation) {
  const std::int64_t n = transformation.length, points = stored_points(n, RowPass<Element>::real);
  const long double sign = transformation.direction == Direction::forward ? -1.0L : 1.0L, scale = transformation.scale;
  std::vector<Number> roots;
  long double energy = 0.0L, found_energy = 0.0L, distance = 0.0L, length = 0.0L;
  for (std::int64_t j = 0; j < n; ++j) {
    roots.push_back(std::polar(1.0L, sign * 2.0L * std::numbers::pi_v<long double> * static_cast<long double>(j) /
                                         static_cast<long double>(n)));
    energy += static_cast<long double>(n) * scale * scale * std::norm(number(row[j]));
  }
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  for (std::int64_t k = 0; k < points; ++k) {
    const Number found = number(stored[k * pitch]);
    // What real rows do not store mirrors what they do.
    const bool is_mirrored = points < n && k > 0 && 2 * k != n;
    found_energy += (is_mirrored ? 2.0L : 1.0L) * std::norm(found);
    if (n > 150 && random() % static_cast<std::uint64_t>(points) >= 40) continue;
    Number sum = 0.0L;
    for (std::int64_t j = 0; j < n; ++j) sum += number(row[j]) * roots[static_cast<std::size_t>(j * k % n)];
    distance += std::norm(found - scale * sum);
    length += std::norm(scale * sum);
  }
  return static_cast<double>(std::sqrt(distance / length) + std::abs(std::sqrt(found_energy / energy) - 1.0L));
}

template <class Unit, class Element>
void check_spectra(const std::string& library, const RowTransformation& transformation,
                   Planner planner = Planner::estimate) {
  constexpr std::int64_t count = 3;
  const std::int64_t n = transformation.length, points = stored_points(n, RowPass<Element>::real);
  const auto rows = random_rows<Element>(count * n, static_cast<unsigned>(n));
  const auto stored = run_pass<Unit>(transformation, library, rows, planner);
  for (std::int64_t i = 0; i < count; i += 2) {
    CAPTURE(library, n, i, transformation.transpose, transformation.direction == Direction::forward);
    const auto* const first = stored.data() + (transformation.transpose ? i : i * points);
    CHECK(distance_from_dft(rows.data() + i * n, first, transformation.transpose ? count : 1, transformation) <=
          Unit::tolerance);
  }
}

TEMPLATE_LIST_TEST_CASE("Every library transforms rows of any length as the definition does", "", Units) {
  using Scalar = typename TestType::Scalar;
  using Complex = Kokkos::complex<Scalar>;
  for (const std::string& library : row_fft_libraries<typename TestType::Execution>()) {
    for (const std::int64_t n : lengths()) {
      for (const bool transpose : {true, false}) {
        check_spectra<TestType, Scalar>(library, {n, Direction::forward, 1.0, transpose});
        for (const Direction direction : {Direction::forward, Direction::inverse}) {
          check_spectra<TestType, Complex>(library, {n, direction, 0.5, transpose});
        }
      }
    }
  }
  for (const Planner planner : {Planner::measure, Planner::patient}) {
    check_spectra<TestType, Complex>("", {60}, planner);
  }
}

TEMPLATE_LIST_TEST_CASE("Many rows are transformed as few are", "", Units) {
  using Complex = typename TestType::Complex;
  // So many that they are stored past the caches, in columns that begin anywhere in a cache line.
  const std::int64_t n = 48, many = 9001;
  const auto rows = random_rows<Complex>(many * n, 13);
  for (const std::string& library : row_fft_libraries<typename TestType::Execution>()) {
    const auto all = run_pass<TestType>({n}, library, rows);
    for (std::int64_t i = 0; i < many; i += 900) {
      Array<Complex> row(n), stored(n);
      for (std::int64_t j = 0; j < n; ++j) {
        row[j] = rows[i * n + j];
        stored[j] = all[j * many + i];
      }
      CHECK(stored.same_bits(run_pass<TestType>({n}, library, row)));
    }
  }
}

constexpr std::int64_t row_count = 37;

/// Parts of [0, points), some of them empty.
std::vector<std::pair<std::int64_t, std::int64_t>> parts(std::int64_t points, std::size_t number, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<std::int64_t> cuts{0, points};
  while (cuts.size() < number + 1) cuts.push_back(static_cast<std::int64_t>(engine()) % (points + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) result.emplace_back(cuts[i], cuts[i + 1] - cuts[i]);
  return result;
}

/// A slice's rows and what they are stored as, each cut into pieces with memory and padding of their own.
template <class Element>
class CutSlice {
 public:
  using Complex = typename RowPass<Element>::Complex;

  CutSlice(const RowTransformation& transformation, const Array<Element>& rows, std::size_t in_pieces,
           std::size_t out_pieces, unsigned seed)
      : transposed_(transformation.transpose), points_(stored_points(transformation.length, RowPass<Element>::real)) {
    for (const auto& [first, count] : parts(transformation.length, in_pieces, seed)) {
      const std::int64_t pitch = count + static_cast<std::int64_t>(seed + arrays_.size()) % 4;
      const Array<Element>& array = arrays_.emplace_back(row_count * pitch + 1);
      for (std::int64_t i = 0; i < row_count; ++i) {
        std::copy_n(rows.data() + i * transformation.length + first, count, array.data() + i * pitch);
      }
      in_.push_back({array.data(), pitch, first, count});
    }
    for (const auto& [first, count] : parts(points_, out_pieces, seed + 1)) {
      const std::int64_t pitch = (transposed_ ? row_count : count) + static_cast<std::int64_t>(stored_.size()) % 3;
      stored_.emplace_back((transposed_ ? count : row_count) * pitch + 1);
      out_.push_back({stored_.back().data(), pitch, first, count});
    }
    // Pieces may come in any order.
    std::reverse(in_.begin(), in_.end());
    std::reverse(out_.begin(), out_.end());
  }

  void run(RowPass<Element>& pass, std::int64_t first, std::int64_t count) {
    pass.run(first, count, std::span<const RowPiece<Element>>(in_), std::span<const StoredPiece<Complex>>(out_));
  }

  /// Whether the pieces hold these points, and elements that belong to no row were left alone.
  bool holds(const Array<Complex>& whole) const {
    Array<Complex> all(row_count * points_);
    for (const auto& piece : out_) {
      for (std::int64_t i = 0; i < row_count; ++i) {
        for (std::int64_t j = 0; j < piece.count; ++j) {
          const std::int64_t point = piece.first + j;
          all[transposed_ ? point * row_count + i : i * points_ + point] =
              piece.data[transposed_ ? j * piece.pitch + i : i * piece.pitch + j];
        }
      }
    }
    std::int64_t written = 0;
    for (const Array<Complex>& array : stored_) {
      for (std::int64_t i = 0; i < array.size(); ++i) written += array[i].real() == Complex(777).real() ? 0 : 1;
    }
    return all.same_bits(whole) && written == all.size();
  }

 private:
  bool transposed_;
  std::int64_t points_;  ///< of a row that are stored
  std::vector<Array<Element>> arrays_;
  std::vector<Array<Complex>> stored_;
  std::vector<RowPiece<Element>> in_;
  std::vector<StoredPiece<Complex>> out_;
};

template <class Unit, class Element>
void check_cuts(const RowTransformation& transformation) {
  const auto rows = random_rows<Element>(row_count * transformation.length, 11);
  for (const std::string& library : row_fft_libraries<typename Unit::Execution>()) {
    const auto whole = run_pass<Unit>(transformation, library, rows);
    const auto pass = RowPass<Element>::make(Unit::kind, transformation, row_count, {library, Planner::estimate});
    unsigned seed = 0;
    for (const std::size_t in_pieces : {1, 2, 5}) {
      for (const std::size_t out_pieces : {1, 3}) {
        ++seed;
        for (const std::vector<std::int64_t>& batches : {std::vector{row_count}, {5, 0, 1, 16, 15}}) {
          CAPTURE(library, transformation.length, transformation.transpose, in_pieces, out_pieces, batches);
          CutSlice<Element> slice(transformation, rows, in_pieces, out_pieces, seed);
          std::int64_t first = 0;
          for (const std::int64_t count : batches) {
            slice.run(*pass, first, count);
            first += count;
          }
          CHECK(slice.holds(whole));
        }
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("However rows are cut and batched, the same bits are stored, and nothing else", "", Units) {
  using Complex = typename TestType::Complex;
  // Rows are aligned and not, short and with large prime factors.
  for (const std::int64_t n : {1, 7, 48, 61, 128, 135, 202}) {
    for (const bool transpose : {true, false}) {
      check_cuts<TestType, Complex>({n, Direction::forward, 0.25, transpose});
      check_cuts<TestType, typename TestType::Scalar>({n, Direction::forward, 0.25, transpose});
    }
    check_cuts<TestType, Complex>({n, Direction::inverse, 3.0, true});
  }
}

TEST_CASE("A measured row is read once and its spectrum stored once, in about the memory that the kernel announces") {
  for (const Kind kind : {Kind::host, has_companion ? Kind::companion : Kind::host}) {
    for (const bool real : {false, true}) {
      for (const ElementType element : {ElementType::float64, ElementType::float32}) {
        for (const std::int64_t rows : {16, 1000}) {
          const std::int64_t length = rows == 16 ? 300 : 301;
          const auto kernel = row_kernel(length, real, element, {"", Planner::estimate});
          const KernelFacts facts = kernel->facts();
          const double units = static_cast<double>(rows), points = static_cast<double>(length);
          const double point_bytes = element == ElementType::float64 ? 16.0 : 8.0;
          CHECK(facts.bytes_per_unit ==
                point_bytes * (real ? 0.5 * points + std::floor(points / 2.0 + 1.0) : 2.0 * points));
          CHECK_THAT(facts.flops_per_unit, WithinRel((real ? 2.5 : 5.0) * points * std::log2(points), 1e-12));
          const steelyard::tests::Allocations allocations("steelyard::fft2d::rows");
          const auto run = kernel->allocate(kind, rows);
          CHECK(allocations.bytes() <= facts.memory_bytes_fixed + units * facts.memory_bytes_per_unit);
          // More than a core's own cache.
          CHECK(allocations.bytes() >= std::max(8.0 * 1024.0 * 1024.0, units * facts.bytes_per_unit));
          // Around the ring of matrices and on: sanitizers see it where that leads out of memory.
          for (std::int64_t i = 0; i < 16000 / rows; ++i) run->run();
        }
      }
    }
  }
}

#if defined(STEELYARD_EMULATED_DEVICE)
TEST_CASE("Chunks are copied, transformed and copied back as on a conveyor whose slowest engine sets the pace") {
  constexpr std::int64_t length = 1024, rows_of_chunk = 256;
  const std::int64_t chunks = GENERATE(1, 2, 3, 4);
  const bool transpose = GENERATE(false, true);
  const auto rows = random_rows<Kokkos::complex<double>>(chunks * rows_of_chunk * length, 1);
  RowTransformation transformation;
  transformation.length = length;
  transformation.transpose = transpose;
  emulated::recorded_operations();
  run_pass<On<CompanionExecution, double>>(transformation, "vendor", rows);
  const std::vector<emulated::Order> orders = emulated::recorded_operations();

  for (const auto& [load_s, kernel_s, store_s] : {std::array{1.0, 1.0, 2.0},
                                                  {2.0, 1.0, 2.0},
                                                  {1.0, 2.0, 3.0},
                                                  {4.0, 1.0, 1.0},
                                                  {1.0, 4.0, 1.0},
                                                  {1.0, 1.0, 8.0}}) {
    // A chunk is two kernels: its transforms, and their results in the order in which they leave.
    const steelyard::tests::Schedule schedule(orders, [&](const emulated::Order& order) {
      return order.label == emulated::copy_to_device ? load_s
             : order.label == emulated::copy_to_host ? store_s
                                                     : kernel_s;
    });
    CAPTURE(chunks, transpose, load_s, kernel_s, store_s);
    REQUIRE(schedule.works(emulated::copy_to_device).size() == static_cast<std::size_t>(chunks));
    CHECK(schedule.end_s() == load_s + 2.0 * kernel_s + store_s +
                                  static_cast<double>(chunks - 1) * std::max({load_s, 2.0 * kernel_s, store_s}));
  }
}
#endif

}  // namespace
}  // namespace steelyard::fft2d::test_row_pass
