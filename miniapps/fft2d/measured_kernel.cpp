#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
#include <numbers>
#include <span>
#include <type_traits>

#include "core/memory/matrix.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/options.hpp"
#include "miniapps/fft2d/plan.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {
namespace {

/// Bytes of the matrices that passes go around: more than the caches that a few cores have to themselves.
constexpr std::int64_t ring_bytes = std::int64_t{16} << 20;

/// A number of the matrix that check_run() transforms, from -1 to 1, which float holds exactly.
/// @param part 1 for an imaginary part
double check_input(std::int64_t row, std::int64_t column, std::int64_t part) {
  return static_cast<double>((5 * row + 3 * column * column + 7 * part) % 17 - 8) / 8.0;
}

/// Functor: fills with numbers that slow no processor down.
template <class Scalar>
struct Fill {
  Scalar* data;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { data[i] = static_cast<Scalar>(i % 31 - 15); }
};

/// Passes that each read what the one before has stored, around a ring of matrices: as in a transform, where much of
/// what a pass reads was stored by other units, it is in no cache of the unit's own cores any more. Matrices lie in
/// host memory, where a transform's are: in huge pages, each first touched by all of the unit's threads, or pinned for
/// a device.
template <class Execution, class Element>
class RowsRun : public KernelRun {
 public:
  RowsRun(ProcessingUnit::Kind kind, const RowTransformation& transformation, std::int64_t rows,
          const RowFftChoice& choice)
      : rows_(rows),
        length_(transformation.length),
        in_pitch_(padded_pitch<Element>(length_)),
        out_pitch_(padded_pitch<Complex>(rows)),
        matrix_(padded_pitch<Scalar>(std::max(parts * rows * in_pitch_, 2 * stored() * out_pitch_))),
        pass_(RowPass<Element>::make(kind, transformation, rows, choice)) {
    const auto bytes = std::max<std::int64_t>(1, matrix_ * static_cast<std::int64_t>(sizeof(Scalar)));
    matrices_ = rows > 0 ? std::clamp<std::int64_t>(ring_bytes / bytes, 2, 1024) : 2;
    memory_ = {"steelyard::fft2d::rows", static_cast<std::size_t>(matrices_ * matrix_)};
    const Execution space;
    for (std::int64_t i = 0; i < matrices_; ++i) {
      const Kokkos::RangePolicy<Execution> numbers(space, i * matrix_, (i + 1) * matrix_);
      Kokkos::parallel_for("steelyard::fft2d::fill", numbers, Fill<Scalar>{memory_.data()});
    }
    space.fence();
  }

  void run() override {
    const RowPiece<Element> in{reinterpret_cast<Element*>(matrix()), in_pitch_, 0, length_};
    current_ = (current_ + 1) % matrices_;
    const StoredPiece<Complex> out{reinterpret_cast<Complex*>(matrix()), out_pitch_, 0, stored()};
    pass_->run(0, rows_, std::span(&in, 1), std::span(&out, 1));
  }
  std::vector<double> check_run() override {
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t n = 0; n < parts * length_; ++n) {
        matrix()[parts * row * in_pitch_ + n] = static_cast<Scalar>(check_input(row, n / parts, n % parts));
      }
    }
    run();
    std::vector<double> values;
    for (std::int64_t column = 0; column < stored(); ++column) {
      const Scalar* const numbers = matrix() + 2 * column * out_pitch_;
      values.insert(values.end(), numbers, numbers + 2 * rows_);
    }
    return values;
  }

 private:
  using Scalar = typename RowPass<Element>::Scalar;
  using Complex = typename RowPass<Element>::Complex;
  using MemorySpace = std::conditional_t<runs_on_host<Execution>, typename Execution::memory_space, PinnedMemory>;
  static constexpr std::int64_t parts = RowPass<Element>::real ? 1 : 2;  ///< numbers of an element

  std::int64_t stored() const { return stored_points(length_, RowPass<Element>::real); }
  /// Matrix that the next pass reads, as numbers.
  Scalar* matrix() const { return memory_.data() + current_ * matrix_; }

  std::int64_t rows_, length_, in_pitch_, out_pitch_;
  std::int64_t matrix_;    ///< numbers of a matrix: what is read or what is stored, in whole cache lines
  std::int64_t matrices_;  ///< of the ring
  std::int64_t current_ = 0;
  std::unique_ptr<RowPass<Element>> pass_;
  UntouchedArray<Scalar, MemorySpace> memory_;
};

class MeasuredKernel : public MeasurableKernel {
 public:
  MeasuredKernel(std::int64_t columns, bool real, ElementType element, const RowFftChoice& choice)
      : columns_(columns), real_(real), element_(element), choice_(choice) {}

  KernelFacts facts() const override {
    const std::int64_t scalar_bytes = element_bytes(element_);
    const std::int64_t row_bytes = columns_ * scalar_bytes * (real_ ? 1 : 2);
    const std::int64_t stored = stored_points(columns_, real_), stored_bytes = 2 * stored * scalar_bytes;
    KernelFacts facts;
    facts.app = "fft2d";
    facts.kernel = choice_.library.empty() ? "row_fft" : "row_fft_" + choice_.library;
    facts.element = element_name(element_);
    facts.computation_unit = real_ ? "one row of real numbers transformed and stored as a column"
                                   : "one row transformed and stored as a column";
    facts.parameters["columns"] = static_cast<double>(columns_);
    facts.parameters["real"] = real_ ? 1.0 : 0.0;
    facts.parameters["planner"] = static_cast<double>(choice_.planner);
    facts.flops_per_unit = transform_flops({1, columns_, Direction::forward, real_});
    facts.bytes_per_unit = static_cast<double>(row_bytes + stored_bytes);
    facts.memory_bytes_per_unit = 2.0 * static_cast<double>(std::max(padded_pitch<std::byte>(row_bytes), stored_bytes));
    // A device works on chunks of the matrices, which stay in host memory.
    facts.runs_out_of_core = companion_is_device;
    // Columns are padded by less than two cache lines; the ring lies in whole huge pages.
    facts.memory_bytes_fixed =
        2.0 * static_cast<double>(stored) * 128.0 + static_cast<double>(ring_bytes + 4 * huge_page_bytes);
    facts.set_sizes_up_to(512.0 * 1024.0 * 1024.0);
    return facts;
  }

  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override {
    // Numbers stay as large as they are from pass to pass.
    const RowTransformation row{columns_, Direction::forward, 1.0 / std::sqrt(static_cast<double>(columns_))};
    return with_element(element_, [&]<class Scalar>(Scalar) {
      return with_space(kind, [&]<class Execution>(const Execution&) -> std::unique_ptr<KernelRun> {
        if (real_) return std::make_unique<RowsRun<Execution, Scalar>>(kind, row, units, choice_);
        return std::make_unique<RowsRun<Execution, Kokkos::complex<Scalar>>>(kind, row, units, choice_);
      });
    });
  }

  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override {
    const bool on_host = kind == ProcessingUnit::Kind::host || !companion_is_device;
    std::vector<ConformanceCase> cases;
    for (const std::string& library :
         on_host ? row_fft_libraries<HostExecution>() : row_fft_libraries<CompanionExecution>()) {
      for (const ElementType element : {ElementType::float64, ElementType::float32}) {
        for (const bool real : {false, true}) {
          const auto shape = [&](std::int64_t columns) {
            // Measured plans are others from time to time.
            return row_kernel(columns, real, element, {library, Planner::estimate});
          };
          ConformanceCase check;
          check.options = fmt::format("--type {}{} --fft {}", element_name(element), real ? " --real" : "", library);
          check.shapes = {shape(1), shape(7), shape(60), shape(97), shape(256)};
          check.sizes = {0, 1, 37};
          // A prime length may take three transforms of a longer one.
          check.tolerance = 32.0;
          check.same_bits = on_host ? SameBits::any_unit : SameBits::again;
          check.timed = shape(Problem().columns);
          cases.push_back(std::move(check));
        }
      }
    }
    return cases;
  }

  std::vector<double> reference(std::int64_t units) const override {
    const auto points = static_cast<long double>(columns_);
    // Powers of the root of unity: exp(-2 pi i n / columns), over the norm of the transform.
    std::vector<std::complex<long double>> roots;
    for (std::int64_t n = 0; n < columns_; ++n) {
      const long double turn = 2.0L * std::numbers::pi_v<long double> * static_cast<long double>(n) / points;
      roots.push_back(std::polar(1.0L / std::sqrt(points), -turn));
    }
    std::vector<double> values;
    for (std::int64_t column = 0; column < stored_points(columns_, real_); ++column) {
      for (std::int64_t row = 0; row < units; ++row) {
        std::complex<long double> sum = 0.0L;
        for (std::int64_t n = 0; n < columns_; ++n) {
          const std::complex<long double> input(check_input(row, n, 0), real_ ? 0.0 : check_input(row, n, 1));
          sum += input * roots[static_cast<std::size_t>(column * n % columns_)];
        }
        values.push_back(static_cast<double>(sum.real()));
        values.push_back(static_cast<double>(sum.imag()));
      }
    }
    return values;
  }

 private:
  std::int64_t columns_;
  bool real_;
  ElementType element_;
  RowFftChoice choice_;
};

}  // namespace

std::shared_ptr<MeasurableKernel> row_kernel(std::int64_t columns, bool real, ElementType element,
                                             const RowFftChoice& choice) {
  return std::make_shared<MeasuredKernel>(columns, real, element, choice);
}

}  // namespace steelyard::fft2d
