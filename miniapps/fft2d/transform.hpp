#pragma once

#include <atomic>
#include <complex>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "comm/block_exchange.hpp"
#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "miniapps/fft2d/exchange_plan.hpp"
#include "miniapps/fft2d/problem.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"
#include "miniapps/fft2d/unit_transform.hpp"

namespace steelyard::fft2d {

/// How a transform is carried out.
struct TransformChoice {
  ExchangeChoice exchange;
  RowFftChoice fft;
};

/// Seconds from the start of a transform until a rank was done with each phase, and what its units were busy with.
struct TransformTimes {
  double rows_s = 0.0;             ///< pass 1 on all of its units
  double first_exchange_s = 0.0;   ///< everything sent and received
  double columns_s = 0.0;          ///< pass 2
  double second_exchange_s = 0.0;  ///< everything sent, received and put into place; columns_s where there is none
  UnitSeconds row_pass;            ///< a slowdown included
  UnitSeconds column_pass;
};

/// Batches of a pass that one unit has finished, counted by its thread and read by the one that drives MPI.
class FinishedBatches {
 public:
  /// Before a pass.
  void start() {
    count_ = 0;
    ended_ = false;
    sent = 0;
  }
  void add() { count_.fetch_add(1, std::memory_order_release); }
  void end() { ended_.store(true, std::memory_order_release); }
  int count() const { return count_.load(std::memory_order_acquire); }
  bool ended() const { return ended_.load(std::memory_order_acquire); }

  int sent = 0;  ///< so many of them are on their way; of the thread that drives MPI

 private:
  std::atomic<int> count_{0};
  std::atomic<bool> ended_{false};
};

/// The 2D transform on one rank's units, and its part of the exchanges with the others: rows, exchange, columns,
/// exchange back.
/// Source: 002, section 1 (row-column method).
template <class Scalar>
class Transform {
 public:
  /// Fills whole rows of the input, from a row on; complex numbers are pairs.
  using Source = std::function<void(std::int64_t first_row, std::span<Scalar> values)>;
  /// Gets whole rows of the result, from a row on, some at a time; where it is left transposed, its columns as rows.
  using Sink = std::function<void(std::int64_t first_row, std::span<const std::complex<Scalar>> values)>;

  /// Allocates and plans on each unit. Collective. @throws CollectiveError where that fails on any rank
  Transform(const Session& session, CoExecution& co_execution, const Problem& problem, const std::vector<Slot>& slots,
            const Shares& shares, const TransformChoice& choice);

  /// Sets the input, which run() does not keep.
  void load(const Source& source);
  /// Collective.
  TransformTimes run();
  /// Hands out this rank's part of the result.
  void store(const Sink& sink) const;

 private:
  using Complex = Kokkos::complex<Scalar>;
  using Kind = ProcessingUnit::Kind;
  using Buffers = std::vector<BlockBuffer<Scalar>>;

  /// The exchange behind a pass.
  struct PassExchange {
    Buffers sent;
    Buffers received;
    std::optional<BlockExchange> blocks;
  };

  template <class Unit>
  void emplace(std::optional<Unit>& unit, Kind kind);
  Buffers blocks(const PassPlan& plan, bool sent) const;
  void allocate(std::initializer_list<Buffers*> lists);
  void connect(MPI_Comm comm, const PassPlan& plan, PassExchange& exchange);
  template <class TransformBatch>
  UnitSeconds run_pass(const PassPlan& plan, PassExchange& exchange, const TransformBatch& transform_batch);
  void send_finished(PassExchange& exchange);

  int rank_;
  CoExecution& co_execution_;
  Problem problem_;
  TransformChoice choice_;
  PassPlans plans_;
  PerUnit<std::optional<std::size_t>> index_;  ///< of this rank's units among those of all
  Kind driver_ = Kind::companion;              ///< the unit whose thread drives MPI
  std::optional<UnitTransform<HostExecution, Scalar>> host_;
  std::optional<UnitTransform<CompanionExecution, Scalar>> companion_;
  std::vector<UnitMatrices<Scalar>> matrices_;  ///< of this rank's units
  std::vector<HostArray<Complex>> memory_;      ///< of the blocks
  PassExchange first_, second_;
  PerUnit<FinishedBatches> finished_;
};

}  // namespace steelyard::fft2d
