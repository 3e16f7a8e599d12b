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
#include "miniapps/fft2d/row_pass.hpp"
#include "miniapps/fft2d/touch.hpp"

namespace steelyard::fft2d {

/// Where a message of an exchange lies: column by column, each as long as the message has rows.
template <class Scalar>
struct BlockBuffer {
  const BlockMessage* message = nullptr;
  Kokkos::complex<Scalar>* data = nullptr;
};

/// What the units of a rank show each other: where the matrix of pass 2 and the result of every unit lie.
template <class Scalar>
struct UnitMatrices {
  Range rows;                                 ///< of the input
  Range columns;                              ///< of the spectrum
  Kokkos::complex<Scalar>* middle = nullptr;  ///< columns x the rows of the rank
  std::int64_t middle_pitch = 0;
  Kokkos::complex<Scalar>* result = nullptr;  ///< rows x columns of the spectrum; transposed, columns x rows
  std::int64_t result_pitch = 0;
};

/// Copies blocks that have arrived into rows of a unit's result.
template <class Scalar>
struct UnpackRow {
  const BlockBuffer<Scalar>* blocks;
  std::size_t count;
  std::int64_t first_row;
  Kokkos::complex<Scalar>* result;
  std::int64_t pitch;

  void operator()(const std::int64_t row) const {
    for (std::size_t i = 0; i < count; ++i) {
      const BlockMessage& message = *blocks[i].message;
      const std::int64_t column = first_row + row - message.columns.first;
      std::copy_n(blocks[i].data + column * message.rows.count, message.rows.count,
                  result + row * pitch + message.rows.first);
    }
  }
};

/// What one processing unit does in a transform: pass 1 over its rows of the input, pass 2 over its columns of the
/// spectrum, and putting what arrives into its part of the result. All matrices lie in host memory, pinned where there
/// is a device, and the result takes the place of the input.
template <class Execution, class Scalar>
class UnitTransform {
 public:
  using Complex = Kokkos::complex<Scalar>;

  /// Allocates and touches; on the unit's own thread. @param first, second the unit's part of the passes' plans
  UnitTransform(const Problem& problem, const PassPlan& first, const PassPlan& second, std::size_t unit,
                const RowFftChoice& choice)
      : problem_(problem), rank_rows_(first.rows_of_rank(first.rank_of_unit[unit])) {
    own_.rows = first.rows[unit];
    own_.columns = first.columns[unit];
    own_.middle_pitch = padded_pitch<Complex>(rank_rows_.count);
    own_.result_pitch = padded_pitch<Complex>(problem.transposed ? problem.rows : problem.spectrum_columns());
    const Range& stored = problem.transposed ? own_.columns : own_.rows;
    const std::int64_t input =
        problem.real ? (own_.rows.count * problem.columns + 1) / 2 : own_.rows.count * problem.columns;
    field_ = HostArray<Complex>(1, std::max(input, stored.count * own_.result_pitch));
    middle_ = HostArray<Complex>(1, own_.columns.count * own_.middle_pitch);
    own_.middle = middle_.elements(0, 1).data();
    own_.result = field_.elements(0, 1).data();
    touch(space_, field_.elements(0, 1), Complex(0, 0));
    touch(space_, middle_.elements(0, 1), Complex(0, 0));
    const RowTransformation row{problem.columns, problem.direction, problem.real, 1.0, true};
    const double scale = problem.direction == Direction::inverse ? 1.0 / problem.points() : 1.0;
    const RowTransformation column{problem.rows, problem.direction, false, scale, !problem.transposed};
    if (!own_.rows.empty()) {
      row_pass_ = make_row_pass<Execution, Scalar>(space_, row, longest(first.batches[unit]), choice);
    }
    if (!own_.columns.empty()) {
      column_pass_ = make_row_pass<Execution, Scalar>(space_, column, longest(second.batches[unit]), choice);
    }
  }

  const UnitMatrices<Scalar>& matrices() const { return own_; }
  /// Rows of the input as numbers, a complex one as two.
  std::span<Scalar> input() {
    return {reinterpret_cast<Scalar*>(own_.result),
            static_cast<std::size_t>(own_.rows.count * problem_.columns * (problem_.real ? 1 : 2))};
  }

  /// Pass 1 over a batch of rows. @param units of this rank @param sends of this batch
  void transform_rows(const Range& batch, std::span<const UnitMatrices<Scalar>> units,
                      std::span<const BlockBuffer<Scalar>> sends) {
    std::vector<StoredPiece<Complex>> out;
    for (const UnitMatrices<Scalar>& unit : units) {
      out.push_back({unit.middle + (batch.first - rank_rows_.first), unit.middle_pitch, unit.columns.first,
                     unit.columns.count, Home::host});
    }
    add_sends(sends, out);
    const std::int64_t start = (batch.first - own_.rows.first) * problem_.columns;
    if (problem_.real) {
      const RowPiece<Scalar> in{input().data() + start, problem_.columns, 0, problem_.columns, Home::host};
      row_pass_->run(0, batch.count, std::span(&in, 1), out);
    } else {
      const RowPiece<Complex> in{own_.result + start, problem_.columns, 0, problem_.columns, Home::host};
      row_pass_->run(0, batch.count, std::span(&in, 1), out);
    }
  }

  /// Pass 2 over a batch of columns. @param arrived from pass 1
  void transform_columns(const Range& batch, std::span<const UnitMatrices<Scalar>> units,
                         std::span<const BlockBuffer<Scalar>> arrived, std::span<const BlockBuffer<Scalar>> sends) {
    const std::int64_t start = batch.first - own_.columns.first;
    std::vector<RowPiece<Complex>> in;
    in.push_back(
        {own_.middle + start * own_.middle_pitch, own_.middle_pitch, rank_rows_.first, rank_rows_.count, Home::host});
    for (const BlockBuffer<Scalar>& block : arrived) {
      const Range& rows = block.message->rows;
      const std::int64_t column = batch.first - block.message->columns.first;
      in.push_back({block.data + column * rows.count, rows.count, rows.first, rows.count, Home::host});
    }
    std::erase_if(in, [](const RowPiece<Complex>& piece) { return piece.count == 0; });
    std::sort(in.begin(), in.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<StoredPiece<Complex>> out;
    if (problem_.transposed) {
      out.push_back({own_.result + start * own_.result_pitch, own_.result_pitch, 0, problem_.rows, Home::host});
    } else {
      for (const UnitMatrices<Scalar>& unit : units) {
        out.push_back({unit.result + batch.first, unit.result_pitch, unit.rows.first, unit.rows.count, Home::host});
      }
      add_sends(sends, out);
    }
    column_pass_->run(0, batch.count, in, out);
  }

  /// @param arrived from pass 2
  void unpack(std::span<const BlockBuffer<Scalar>> arrived) const {
    const UnpackRow<Scalar> unpack_row{arrived.data(), arrived.size(), own_.rows.first, own_.result, own_.result_pitch};
    if (arrived.empty()) return;
    if constexpr (runs_on_host<Execution>) {
      using Policy = Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::int64_t>>;
      Kokkos::parallel_for("steelyard::fft2d::unpack", Policy(space_, 0, own_.rows.count), unpack_row);
      space_.fence();
    } else {
      // A device's part of the result lies in host memory.
      for (std::int64_t row = 0; row < own_.rows.count; ++row) unpack_row(row);
    }
  }

 private:
  static std::int64_t longest(const std::vector<Range>& batches) {
    std::int64_t rows = 0;
    for (const Range& batch : batches) rows = std::max(rows, batch.count);
    return rows;
  }

  static void add_sends(std::span<const BlockBuffer<Scalar>> sends, std::vector<StoredPiece<Complex>>& out) {
    for (const BlockBuffer<Scalar>& block : sends) {
      const BlockMessage& message = *block.message;
      out.push_back({block.data, message.rows.count, message.columns.first, message.columns.count, Home::host});
    }
    std::erase_if(out, [](const StoredPiece<Complex>& piece) { return piece.count == 0; });
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  Execution space_;
  Problem problem_;
  Range rank_rows_;
  UnitMatrices<Scalar> own_;
  HostArray<Complex> field_;
  HostArray<Complex> middle_;
  std::unique_ptr<RowPass<Scalar>> row_pass_;
  std::unique_ptr<RowPass<Scalar>> column_pass_;
};

}  // namespace steelyard::fft2d
