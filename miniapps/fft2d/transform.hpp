#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/unit_exchange.hpp"
#include "comm/unit_group.hpp"
#include "core/memory/untouched_array.hpp"
#include "miniapps/fft2d/exchange_plan.hpp"
#include "miniapps/fft2d/problem.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// How a transform is carried out.
struct TransformChoice {
  Exchange exchange = Exchange::at_once;
  RowFftChoice fft;
};

/// Seconds from the start of a transform until a rank was done with each phase, and what its units were busy with.
struct TransformTimes {
  double rows_s = 0.0;             ///< pass 1 on all of its units
  double first_exchange_s = 0.0;   ///< everything sent and received
  double columns_s = 0.0;          ///< pass 2
  double second_exchange_s = 0.0;  ///< everything sent, received and put into place
  UnitSeconds passes;              ///< both, a slowdown included
};

/// The 2D transform on one rank's units, and its part of the exchanges with the others: rows, exchange, columns,
/// exchange back. All matrices lie in host memory, pinned where there is a device, and the result takes the place of
/// the input.
/// Source: 002, section 1 (row-column method).
template <class Scalar>
class Transform {
 public:
  /// Fills whole rows of the input, from a row on; complex numbers are pairs.
  using Source = std::function<void(std::int64_t first_row, std::span<Scalar> values)>;
  /// Gets whole rows of the result, from a row on, some at a time; where it is left transposed, its columns as rows.
  using Sink = std::function<void(std::int64_t first_row, std::span<const std::complex<Scalar>> values)>;

  /// Allocates and plans on each unit. Collective. @throws CollectiveError where that fails on any rank
  Transform(UnitGroup& group, const Problem& problem, const Shares& shares, const TransformChoice& choice);

  /// Sets the input, which run() does not keep.
  void load(const Source& source);
  /// Collective.
  TransformTimes run();
  /// Hands out this rank's part of the result.
  void store(const Sink& sink) const;

 private:
  using Complex = Kokkos::complex<Scalar>;
  using Kind = ProcessingUnit::Kind;
  using Memory = UntouchedArray<Complex, PinnedMemory>;
  using StoredPieces = std::vector<StoredPiece<Complex>>;

  /// Rows that one unit transforms, and where all units of its rank store what belongs to it.
  struct Unit {
    Range rows;      ///< of the input
    Range columns;   ///< of the spectrum
    Memory field;    ///< input, then result: rows x columns of the spectrum; transposed, columns x rows
    Memory between;  ///< what pass 2 reads: columns x the rows of the rank
    std::unique_ptr<RowPass<Scalar>> real_row_pass;  ///< of real input; otherwise …
    std::unique_ptr<RowPass<Complex>> row_pass;      ///< … this one
    std::unique_ptr<RowPass<Complex>> column_pass;
  };
  /// Where a message of an exchange lies: column by column, each as long as the message has rows.
  struct Block {
    const BlockMessage* message = nullptr;
    Complex* data = nullptr;
    StoredPiece<Complex> piece() const {
      return {data, message->rows.count, message->columns.first, message->columns.count};
    }
  };
  using Blocks = std::vector<Block>;
  /// The exchange behind a pass.
  struct PassExchange {
    Blocks sent;
    Blocks received;
    std::optional<UnitExchange> exchange;
    double finished_s = 0.0;  ///< when all units of the rank had finished the last pass, by the clock of timing.hpp
    double arrived_s = 0.0;   ///< and everything was sent and received
  };

  template <class Execution>
  void allocate(const UnitPeer<Execution>& peer);
  Blocks blocks(const PassPlan& plan, bool sent) const;
  void allocate(std::initializer_list<Blocks*> lists);
  void connect(const PassPlan& plan, PassExchange& exchange);
  Scalar* input(const Unit& unit) const { return reinterpret_cast<Scalar*>(unit.field.data()); }
  void transform_rows(const Unit& unit, const Range& batch, StoredPieces out) const;
  void transform_columns(const Unit& unit, const Range& batch, StoredPieces out) const;
  template <class Execution, class TransformBatch>
  void run_pass(const UnitPeer<Execution>& peer, const PassPlan& plan, PassExchange& pass,
                const TransformBatch& transform_batch);
  template <class Execution>
  void unpack(const UnitPeer<Execution>& peer) const;

  UnitGroup& group_;
  Problem problem_;
  TransformChoice choice_;
  PassPlans plans_;
  Range rank_rows_;             ///< of the input: those of this rank's units
  std::int64_t between_pitch_;  ///< points from row to row of Unit::between
  std::int64_t result_pitch_;   ///< and of the result
  PerUnit<Unit> units_;
  std::vector<Memory> memory_;  ///< of the blocks
  PassExchange first_, second_;
};

}  // namespace steelyard::fft2d
