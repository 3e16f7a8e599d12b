#pragma once

#include <Kokkos_Complex.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/host_array.hpp"
#include "core/padded_pitch.hpp"
#include "core/spaces.hpp"
#include "miniapps/fft2d/exchange_plan.hpp"
#include "miniapps/fft2d/problem.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// Calls body(i) for all i < count, for data in host memory: with the threads of a unit on the host, for a device with
/// the calling thread. Fences.
template <class Execution, class Body>
void for_each_on_host(const char* label, const Execution& space, std::int64_t count, const Body& body) {
  if constexpr (runs_on_host<Execution>) {
    using Policy = Kokkos::RangePolicy<Execution, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(label, Policy(space, 0, count), body);
    space.fence();
  } else {
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
}

/// Zeros in host memory, first touched by the unit's own threads, so that their pages are near these.
template <class Execution, class Scalar>
HostArray<Kokkos::complex<Scalar>> touched_array(const Execution& space, std::int64_t points) {
  HostArray<Kokkos::complex<Scalar>> array(1, points);
  Kokkos::complex<Scalar>* const data = array.elements(0, 1).data();
  for_each_on_host("steelyard::fft2d::touch", space, points, [=](const std::int64_t i) { data[i] = Scalar(0); });
  return array;
}

/// Where a message of an exchange lies: column by column, each as long as the message has rows.
template <class Scalar>
struct BlockBuffer {
  const BlockMessage* message = nullptr;
  Kokkos::complex<Scalar>* data = nullptr;
};

/// The matrix of pass 2 and the result of a unit, which all units of its rank store into.
template <class Scalar>
struct UnitMatrices {
  Range rows;                                 ///< of the input
  Range columns;                              ///< of the spectrum
  Kokkos::complex<Scalar>* middle = nullptr;  ///< columns x the rows of the rank
  std::int64_t middle_pitch = 0;
  Kokkos::complex<Scalar>* result = nullptr;  ///< rows x columns of the spectrum; transposed, columns x rows
  std::int64_t result_pitch = 0;
};

/// What one processing unit does in a transform: pass 1 over its rows of the input, pass 2 over its columns of the
/// spectrum, and putting what arrives into its part of the result. All matrices lie in host memory, pinned where there
/// is a device, and the result takes the place of the input.
template <class Execution, class Scalar>
class UnitTransform {
 public:
  using Complex = Kokkos::complex<Scalar>;
  using Blocks = std::span<const BlockBuffer<Scalar>>;
  using Units = std::span<const UnitMatrices<Scalar>>;

  /// Allocates and touches; on the unit's own thread. @param unit index among those of the plans
  UnitTransform(const Problem& problem, const PassPlans& plans, std::size_t unit, const RowFftChoice& choice)
      : problem_(problem), rank_rows_(plans.rows.rows_of_rank(plans.rows.rank_of_unit[unit])) {
    own_.rows = plans.rows.rows[unit];
    own_.columns = plans.rows.columns[unit];
    own_.middle_pitch = padded_pitch<Complex>(rank_rows_.count);
    own_.result_pitch = padded_pitch<Complex>(problem.transposed ? problem.rows : problem.spectrum_columns());
    const std::int64_t stored = problem.transposed ? own_.columns.count : own_.rows.count;
    const std::int64_t numbers = own_.rows.count * problem.columns;
    const std::int64_t input = problem.real ? (numbers + 1) / 2 : numbers;
    field_ = touched_array<Execution, Scalar>(space_, std::max(input, stored * own_.result_pitch));
    middle_ = touched_array<Execution, Scalar>(space_, own_.columns.count * own_.middle_pitch);
    own_.middle = middle_.elements(0, 1).data();
    own_.result = field_.elements(0, 1).data();
    make_passes(longest(plans.rows.batches[unit]), longest(plans.columns.batches[unit]), choice);
  }

  const UnitMatrices<Scalar>& matrices() const { return own_; }
  /// Rows of the input as numbers, a complex one as two.
  std::span<Scalar> input() {
    return {reinterpret_cast<Scalar*>(own_.result),
            static_cast<std::size_t>(own_.rows.count * problem_.columns * (problem_.real ? 1 : 2))};
  }

  /// Pass 1 over a batch of rows. @param units of this rank @param sends of this batch
  void transform_rows(const Range& batch, Units units, Blocks sends) {
    std::vector<StoredPiece<Complex>> out = pieces_of(sends);
    for (const UnitMatrices<Scalar>& unit : units) {
      out.push_back(
          {unit.middle + (batch.first - rank_rows_.first), unit.middle_pitch, unit.columns.first, unit.columns.count});
    }
    const std::int64_t start = (batch.first - own_.rows.first) * problem_.columns;
    if (problem_.real) {
      const RowPiece<Scalar> in{input().data() + start, problem_.columns, 0, problem_.columns};
      real_row_pass_->run(0, batch.count, std::span(&in, 1), out);
    } else {
      const RowPiece<Complex> in{own_.result + start, problem_.columns, 0, problem_.columns};
      row_pass_->run(0, batch.count, std::span(&in, 1), out);
    }
  }

  /// Pass 2 over a batch of columns. @param arrived from pass 1
  void transform_columns(const Range& batch, Units units, Blocks arrived, Blocks sends) {
    const std::int64_t start = batch.first - own_.columns.first;
    std::vector<RowPiece<Complex>> in;
    in.push_back({own_.middle + start * own_.middle_pitch, own_.middle_pitch, rank_rows_.first, rank_rows_.count});
    for (const BlockBuffer<Scalar>& block : arrived) {
      const Range& rows = block.message->rows;
      const std::int64_t column = batch.first - block.message->columns.first;
      in.push_back({block.data + column * rows.count, rows.count, rows.first, rows.count});
    }
    std::erase_if(in, [](const RowPiece<Complex>& piece) { return piece.count == 0; });
    std::sort(in.begin(), in.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<StoredPiece<Complex>> out = pieces_of(sends);
    if (problem_.transposed) {
      out.push_back({own_.result + start * own_.result_pitch, own_.result_pitch, 0, problem_.rows});
    } else {
      for (const UnitMatrices<Scalar>& unit : units) {
        out.push_back({unit.result + batch.first, unit.result_pitch, unit.rows.first, unit.rows.count});
      }
    }
    column_pass_->run(0, batch.count, in, out);
  }

  /// Copies blocks into rows of the unit's result. @param arrived from pass 2
  void unpack(Blocks arrived) const {
    for_each_on_host("steelyard::fft2d::unpack", space_, own_.rows.count,
                     [arrived, own = own_](const std::int64_t row) {
                       for (const BlockBuffer<Scalar>& block : arrived) {
                         const BlockMessage& message = *block.message;
                         const std::int64_t column = own.rows.first + row - message.columns.first;
                         std::copy_n(block.data + column * message.rows.count, message.rows.count,
                                     own.result + row * own.result_pitch + message.rows.first);
                       }
                     });
  }

 private:
  void make_passes(std::int64_t most_rows, std::int64_t most_columns, const RowFftChoice& choice) {
    const RowTransformation row{problem_.columns, problem_.direction};
    const double scale = problem_.direction == Direction::inverse ? 1.0 / problem_.points() : 1.0;
    const RowTransformation column{problem_.rows, problem_.direction, scale, !problem_.transposed};
    if (!own_.rows.empty() && problem_.real) {
      real_row_pass_ = make_row_pass<Execution, Scalar>(space_, row, most_rows, choice);
    } else if (!own_.rows.empty()) {
      row_pass_ = make_row_pass<Execution, Complex>(space_, row, most_rows, choice);
    }
    if (!own_.columns.empty()) column_pass_ = make_row_pass<Execution, Complex>(space_, column, most_columns, choice);
  }

  static std::int64_t longest(const std::vector<Range>& batches) {
    std::int64_t rows = 0;
    for (const Range& batch : batches) rows = std::max(rows, batch.count);
    return rows;
  }

  static std::vector<StoredPiece<Complex>> pieces_of(Blocks sends) {
    std::vector<StoredPiece<Complex>> pieces;
    for (const BlockBuffer<Scalar>& block : sends) {
      const BlockMessage& message = *block.message;
      pieces.push_back({block.data, message.rows.count, message.columns.first, message.columns.count});
    }
    return pieces;
  }

  Execution space_;
  Problem problem_;
  Range rank_rows_;
  UnitMatrices<Scalar> own_;
  HostArray<Complex> field_;
  HostArray<Complex> middle_;
  std::unique_ptr<RowPass<Scalar>> real_row_pass_;  ///< of real input; otherwise …
  std::unique_ptr<RowPass<Complex>> row_pass_;      ///< … this one
  std::unique_ptr<RowPass<Complex>> column_pass_;
};

}  // namespace steelyard::fft2d
