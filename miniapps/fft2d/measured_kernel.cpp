#include "miniapps/fft2d/measured_kernel.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>

#include "core/huge_pages.hpp"
#include "core/padded_pitch.hpp"
#include "core/untouched_array.hpp"
#include "miniapps/fft2d/row_fft_options.hpp"

namespace steelyard::fft2d {
namespace {

/// More than the caches that a few cores have to themselves; what others have stored is in larger ones or in memory.
constexpr std::int64_t ring_bytes = std::int64_t{16} << 20;

/// Matrices that passes go around; not very many of those that hold next to nothing.
std::int64_t ring_length(std::int64_t matrix_bytes) {
  return std::clamp<std::int64_t>(ring_bytes / matrix_bytes, 2, 1024);
}

/// Numbers that slow no processor down.
template <class Execution, class Element>
struct Fill {
  Element* data;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { data[i] = Element(static_cast<float>(i % 31 - 15)); }
};

/// Matrices in host memory, where the program's are: in huge pages, each first touched by all of the unit's threads, or
/// pinned for a device.
template <class Execution, class Scalar>
class MatrixRing {
 public:
  MatrixRing(const Execution& space, std::int64_t size, std::int64_t count)
      : matrices_("steelyard::fft2d::rows", static_cast<std::size_t>(count * size)) {
    for (std::int64_t i = 0; i < count; ++i) {
      Kokkos::parallel_for("steelyard::fft2d::fill", Kokkos::RangePolicy<Execution>(space, i * size, (i + 1) * size),
                           Fill<Execution, Scalar>{data()});
    }
    space.fence();
  }
  Scalar* data() const { return matrices_.data(); }

 private:
  UntouchedArray<Scalar, std::conditional_t<runs_on_host<Execution>, typename Execution::memory_space, PinnedMemory>>
      matrices_;
};

/// Passes that each read what the one before has stored, around a ring of matrices: as in the program, where much of
/// what a pass reads was stored by other units, it is in no cache of the unit's own cores any more.
template <class Execution, class Scalar, class Element>
class RowsRun : public KernelRun {
 public:
  RowsRun(const RowTransformation& transformation, std::int64_t rows, const RowFftChoice& choice)
      : rows_(rows),
        pass_(make_row_pass<Execution, Scalar>(space_, transformation, rows, choice)),
        in_pitch_(padded_pitch<Element>(transformation.length)),
        out_pitch_(padded_pitch<Complex>(rows)),
        from_{nullptr, in_pitch_, 0, transformation.length, Home::host},
        to_{nullptr, out_pitch_, 0, transformation.stored(), Home::host},
        matrix_(size(transformation)),
        matrices_(ring_length(matrix_ * static_cast<std::int64_t>(sizeof(Scalar)))),
        memory_(space_, matrix_, matrices_) {}

  void run() override {
    const std::int64_t next = (current_ + 1) % matrices_;
    from_.data = reinterpret_cast<const Element*>(memory_.data() + current_ * matrix_);
    to_.data = reinterpret_cast<Complex*>(memory_.data() + next * matrix_);
    pass_->run(0, rows_, std::span<const RowPiece<Element>>(&from_, 1), std::span<const StoredPiece<Complex>>(&to_, 1));
    current_ = next;
  }

 private:
  using Complex = Kokkos::complex<Scalar>;

  /// Numbers that hold what is read and what is stored, in whole cache lines.
  std::int64_t size(const RowTransformation& transformation) const {
    constexpr std::int64_t per_element = std::is_same_v<Element, Scalar> ? 1 : 2;
    return padded_pitch<Scalar>(std::max(per_element * rows_ * in_pitch_, 2 * transformation.stored() * out_pitch_));
  }

  Execution space_;
  std::int64_t rows_;
  std::unique_ptr<RowPass<Scalar>> pass_;
  std::int64_t in_pitch_;
  std::int64_t out_pitch_;
  RowPiece<Element> from_;
  StoredPiece<Complex> to_;
  std::int64_t matrix_;    ///< numbers of a matrix
  std::int64_t matrices_;  ///< of the ring
  MatrixRing<Execution, Scalar> memory_;
  std::int64_t current_ = 0;
};

template <class Execution, class Scalar>
std::unique_ptr<KernelRun> make(const RowTransformation& transformation, std::int64_t rows,
                                const RowFftChoice& choice) {
  if (transformation.real) return std::make_unique<RowsRun<Execution, Scalar, Scalar>>(transformation, rows, choice);
  return std::make_unique<RowsRun<Execution, Scalar, Kokkos::complex<Scalar>>>(transformation, rows, choice);
}

template <class Scalar>
std::unique_ptr<KernelRun> make(ProcessingUnit::Kind kind, const RowTransformation& transformation, std::int64_t rows,
                                const RowFftChoice& choice) {
  return kind == ProcessingUnit::Kind::host ? make<HostExecution, Scalar>(transformation, rows, choice)
                                            : make<CompanionExecution, Scalar>(transformation, rows, choice);
}

}  // namespace

void MeasuredKernel::add_options(CLI::App& parser) {
  parser.add_option("--columns", columns_, "Points of a row")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31))
      ->type_name("N")
      ->capture_default_str();
  add_element_option(parser, element_);
  parser.add_flag("--real", real_, "Rows are real, and half of their spectra is stored");
  add_row_fft_options(parser, choice_);
}

KernelFacts MeasuredKernel::facts() const {
  const std::int64_t scalar_bytes =
      element_ == ElementType::float64 ? std::int64_t{sizeof(double)} : std::int64_t{sizeof(float)};
  const std::int64_t complex_bytes = 2 * scalar_bytes;
  const std::int64_t element_bytes = real_ ? scalar_bytes : complex_bytes;
  const std::int64_t stored = RowTransformation{columns_, Direction::forward, real_}.stored();
  KernelFacts facts;
  facts.app = app();
  facts.kernel = choice_.library.empty() ? "row_fft" : "row_fft_" + choice_.library;
  facts.element = element_name(element_);
  facts.computation_unit = real_ ? "one row of real numbers transformed and stored as a column"
                                 : "one row transformed and stored as a column";
  facts.parameters["columns"] = static_cast<double>(columns_);
  facts.parameters["real"] = real_ ? 1.0 : 0.0;
  facts.parameters["planner"] = static_cast<double>(choice_.planner);
  facts.flops_per_unit = transform_flops({1, columns_, Direction::forward, real_});
  facts.bytes_per_unit = static_cast<double>(columns_ * element_bytes + stored * complex_bytes);
  const std::int64_t array = std::max(padded_pitch<std::byte>(columns_ * element_bytes), stored * complex_bytes);
  facts.memory_bytes_per_unit = 2.0 * static_cast<double>(array);
  // A device works on chunks of the matrices, which stay in host memory.
  facts.runs_out_of_core = companion_is_device;
  // Columns are padded by less than two cache lines; the ring lies in whole huge pages.
  facts.memory_bytes_fixed =
      2.0 * static_cast<double>(stored) * 128.0 + static_cast<double>(ring_bytes + 4 * huge_page_bytes);
  // From what a core's cache holds to far more than any cache.
  constexpr double largest_bytes = 512.0 * 1024.0 * 1024.0;
  facts.smallest = 16;
  facts.largest = std::max<std::int64_t>(64, static_cast<std::int64_t>(largest_bytes / facts.memory_bytes_per_unit));
  return facts;
}

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  // Numbers stay as large as they are from pass to pass.
  const double scale = 1.0 / std::sqrt(static_cast<double>(columns_));
  const RowTransformation transformation{columns_, Direction::forward, real_, scale};
  return element_ == ElementType::float64 ? make<double>(kind, transformation, units, choice_)
                                          : make<float>(kind, transformation, units, choice_);
}

}  // namespace steelyard::fft2d
