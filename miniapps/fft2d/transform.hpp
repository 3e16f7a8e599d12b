#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/collective.hpp"
#include "comm/unit_exchange.hpp"
#include "comm/unit_group.hpp"
#include "core/memory/matrix.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/timing.hpp"
#include "miniapps/fft2d/plan.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// Seconds of a transform on a rank.
struct TransformTimes {
  /// From the start until pass 1 was done on all of its units, everything was sent and received, pass 2 was done, and
  /// everything was sent, received and put into place.
  std::array<double, 4> ends_s = {};
  UnitSeconds passes;  ///< that its units were busy with both, a slowdown included
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
  Transform(UnitGroup& group, const Problem& problem, const Shares& shares, Exchange exchange,
            const RowFftChoice& fft = {})
      : group_(group),
        problem_(problem),
        pipelined_(exchange == Exchange::pipelined),
        plans_(plan_passes(problem, shares, group.slots(), exchange)),
        rows_(plans_.rows.rows_of_rank[static_cast<std::size_t>(group.rank())]),
        between_pitch_(padded_pitch<Complex>(rows_.count)),
        result_length_(problem.transposed ? problem.rows : problem.spectrum_columns()),
        result_pitch_(padded_pitch<Complex>(result_length_)) {
    list_blocks(plans_.rows, first_);
    list_blocks(plans_.columns, second_);
    collectively(group.comm(), [&] {
      group.run([&](const auto& peer) { allocate(peer, fft); });
      // What pass 2 sends back for this rank's rows is as much as pass 1 has sent of them, and takes its place.
      allocate({&first_.sent, &second_.received});
      allocate({&first_.received});
      allocate({&second_.sent});
    });
    connect(first_);
    connect(second_);
  }

  const Problem& problem() const { return problem_; }
  /// Rows of the input that this rank's units own.
  const Range& rows() const { return rows_; }
  /// Complex numbers of a row of the result.
  std::int64_t result_length() const { return result_length_; }

  /// Sets the input, which run() does not keep.
  void load(const Source& source) {
    for (const Unit* unit : {&units_.host, &units_.companion}) {
      const std::int64_t numbers = unit->rows.count * problem_.columns * (problem_.real ? 1 : 2);
      if (numbers > 0) source(unit->rows.first, {input(*unit), static_cast<std::size_t>(numbers)});
    }
  }

  /// Collective.
  TransformTimes run() {
    const double start_s = now_s();
    TransformTimes times;
    times.passes = group_.run([&](const auto& peer) {
      // A unit without rows is not busy while it waits for the other one.
      peer.compute([] {});
      const Unit& unit = units_[peer.kind()];
      run_pass(peer, plans_.rows, first_,
               [&](const Range& batch, const StoredPieces& sends) { transform_rows(unit, batch, sends); });
      run_pass(peer, plans_.columns, second_,
               [&](const Range& batch, const StoredPieces& sends) { transform_columns(unit, batch, sends); });
    });
    if (!second_.received.empty()) {
      group_.run([&](const auto& peer) { peer.compute([&] { unpack(peer); }); });
    }
    times.ends_s = {first_.finished_s - start_s, first_.arrived_s - start_s, second_.finished_s - start_s,
                    now_s() - start_s};
    return times;
  }

  /// Hands out this rank's part of the result.
  void store(const Sink& sink) const {
    constexpr std::int64_t staging_bytes = 4 << 20;
    const std::int64_t row_bytes = result_length_ * static_cast<std::int64_t>(sizeof(Complex));
    const std::int64_t most = std::max<std::int64_t>(1, staging_bytes / row_bytes);
    for (const Unit* unit : {&units_.host, &units_.companion}) {
      const Range& rows = problem_.transposed ? unit->columns : unit->rows;
      std::vector<std::complex<Scalar>> staging;
      for (std::int64_t row = 0; row < rows.count; row += most) {
        const std::int64_t count = std::min(most, rows.count - row);
        staging.resize(static_cast<std::size_t>(count * result_length_));
        for (std::int64_t i = 0; i < count; ++i) {
          const Complex* const from = unit->field.data() + (row + i) * result_pitch_;
          std::copy_n(reinterpret_cast<const std::complex<Scalar>*>(from), result_length_,
                      staging.begin() + i * result_length_);
        }
        sink(rows.first + row, staging);
      }
    }
  }

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

  /// Calls body(i) for all i < count, for data in host memory: with the threads of a unit on the host, for a device
  /// with the calling thread. Fences.
  template <class Execution, class Body>
  static void for_each_on_host(const char* label, const Execution& space, std::int64_t count, const Body& body) {
    if constexpr (runs_on_host<Execution>) {
      using Policy = Kokkos::RangePolicy<Execution, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;
      Kokkos::parallel_for(label, Policy(space, 0, count), body);
      space.fence();
    } else {
      for (std::int64_t i = 0; i < count; ++i) body(i);
    }
  }

  /// Zeros in host memory, first touched by the unit's own threads, so that their pages are near these.
  template <class Execution>
  static Memory touched_memory(const Execution& space, std::int64_t points) {
    Memory memory("steelyard::fft2d::matrix", static_cast<std::size_t>(points));
    for_each_on_host("steelyard::fft2d::touch", space, points,
                     [data = memory.data()](const std::int64_t i) { data[i] = Complex(0); });
    return memory;
  }

  /// Allocates, touches and plans for a unit, on its own thread.
  template <class Execution>
  void allocate(const UnitPeer<Execution>& peer, const RowFftChoice& fft) {
    Unit& unit = units_[peer.kind()];
    const auto slot = static_cast<std::size_t>(peer.slot());
    unit.rows = plans_.rows.rows[slot];
    unit.columns = plans_.columns.rows[slot];
    const std::int64_t numbers = unit.rows.count * problem_.columns;
    const std::int64_t input_points = problem_.real ? (numbers + 1) / 2 : numbers;
    const std::int64_t stored_rows = problem_.transposed ? unit.columns.count : unit.rows.count;
    unit.field = touched_memory(peer.space(), std::max(input_points, stored_rows * result_pitch_));
    unit.between = touched_memory(peer.space(), unit.columns.count * between_pitch_);
    // A unit without rows has no pass.
    const auto make = [&]<class Element>(std::unique_ptr<RowPass<Element>>& pass, const PassPlan& plan,
                                         const RowTransformation& what) {
      const std::vector<Range>& batches = plan.batches[slot];
      if (batches.empty()) return;
      pass = RowPass<Element>::make(peer.kind(), what, std::ranges::max(batches, {}, &Range::count).count, fft);
    };
    const RowTransformation row{problem_.columns, problem_.direction};
    const double scale = problem_.direction == Direction::inverse ? 1.0 / problem_.points() : 1.0;
    const RowTransformation column{problem_.rows, problem_.direction, scale, !problem_.transposed};
    problem_.real ? make(unit.real_row_pass, plans_.rows, row) : make(unit.row_pass, plans_.rows, row);
    make(unit.column_pass, plans_.columns, column);
  }

  /// Lists the blocks that this rank sends or receives, without their memory.
  void list_blocks(const PassPlan& plan, PassExchange& exchange) const {
    for (const BlockMessage& message : plan.messages) {
      if (message.from_rank == group_.rank()) exchange.sent.push_back({&message, nullptr});
      if (message.to_rank == group_.rank()) exchange.received.push_back({&message, nullptr});
    }
  }

  /// Allocates memory that lists of blocks take at different times: blocks one behind the other, each at a cache line
  /// of its own.
  void allocate(std::initializer_list<Blocks*> lists) {
    const auto room = [](const Block& block) { return padded_pitch<Complex>(block.message->points()); };
    std::int64_t most = 0;
    for (const Blocks* list : lists) {
      std::int64_t points = 0;
      for (const Block& block : *list) points += room(block);
      most = std::max(most, points);
    }
    memory_.push_back(touched_memory(HostExecution(), most));
    for (Blocks* list : lists) {
      Complex* data = memory_.back().data();
      for (Block& block : *list) {
        block.data = data;
        data += room(block);
      }
    }
  }

  /// Messages to a rank go to its first unit: all of a rank's units wait for them and read them.
  void connect(PassExchange& exchange) {
    std::vector<UnitMessage> messages;
    for (const Blocks* blocks : {&exchange.sent, &exchange.received}) {
      for (const auto& [message, data] : *blocks) {
        const std::int64_t bytes = message->points() * static_cast<std::int64_t>(sizeof(Complex));
        const auto to =
            std::ranges::lower_bound(group_.slots(), message->to_rank, {}, &Slot::rank) - group_.slots().begin();
        messages.push_back({message->from, static_cast<int>(to), bytes, {data}, pipelined_ ? message->batch : 0});
      }
    }
    exchange.exchange.emplace(group_, messages);
  }

  Scalar* input(const Unit& unit) const { return reinterpret_cast<Scalar*>(unit.field.data()); }

  /// A unit's part of a pass and of the exchange behind it. Where that is pipelined, batches of both units are sent as
  /// they are finished. Returns when both units have finished and all blocks have arrived.
  template <class Execution, class TransformBatch>
  void run_pass(const UnitPeer<Execution>& peer, const PassPlan& plan, PassExchange& pass,
                const TransformBatch& transform_batch) {
    const Kind kind = peer.kind();
    pass.exchange->begin(kind);
    const std::vector<Range>& batches = plan.batches[static_cast<std::size_t>(peer.slot())];
    for (std::size_t batch = 0; batch < batches.size(); ++batch) {
      peer.compute([&] {
        StoredPieces sends;
        for (const auto& [message, data] : pass.sent) {
          const bool of_batch = static_cast<std::size_t>(message->batch) == batch;
          if (!of_batch || message->from != peer.slot()) continue;
          sends.push_back({data, message->rows.count, message->columns.first, message->columns.count});
        }
        transform_batch(batches[batch], sends);
      });
      if (pipelined_) pass.exchange->packed(kind, static_cast<int>(batch) + 1);
    }
    pass.exchange->await_other(kind);
    if (group_.drives(kind)) pass.finished_s = now_s();
    pass.exchange->finish(kind);
    if (group_.drives(kind)) pass.arrived_s = now_s();
  }

  /// Pass 1 over a batch of rows. @param out pieces for other ranks, to which those for this one are added
  void transform_rows(const Unit& unit, const Range& batch, StoredPieces out) const {
    for (const Unit* to : {&units_.host, &units_.companion}) {
      if (to->columns.empty()) continue;
      out.push_back(
          {to->between.data() + (batch.first - rows_.first), between_pitch_, to->columns.first, to->columns.count});
    }
    const std::int64_t start = (batch.first - unit.rows.first) * problem_.columns;
    if (problem_.real) {
      const RowPiece<Scalar> in{input(unit) + start, problem_.columns, 0, problem_.columns};
      unit.real_row_pass->run(0, batch.count, std::span(&in, 1), out);
    } else {
      const RowPiece<Complex> in{unit.field.data() + start, problem_.columns, 0, problem_.columns};
      unit.row_pass->run(0, batch.count, std::span(&in, 1), out);
    }
  }

  /// Pass 2 over a batch of columns. @param out as of transform_rows()
  void transform_columns(const Unit& unit, const Range& batch, StoredPieces out) const {
    const std::int64_t start = batch.first - unit.columns.first;
    std::vector<RowPiece<Complex>> in{
        {unit.between.data() + start * between_pitch_, between_pitch_, rows_.first, rows_.count}};
    for (const auto& [message, data] : first_.received) {
      const Range& rows = message->rows;
      const std::int64_t column = batch.first - message->columns.first;
      in.push_back({data + column * rows.count, rows.count, rows.first, rows.count});
    }
    if (problem_.transposed) {
      out.push_back({unit.field.data() + start * result_pitch_, result_pitch_, 0, problem_.rows});
    } else {
      for (const Unit* to : {&units_.host, &units_.companion}) {
        if (to->rows.empty()) continue;
        out.push_back({to->field.data() + batch.first, result_pitch_, to->rows.first, to->rows.count});
      }
    }
    unit.column_pass->run(0, batch.count, in, out);
  }

  /// Copies the blocks of the second exchange into rows of the unit's result.
  template <class Execution>
  void unpack(const UnitPeer<Execution>& peer) const {
    const Unit& unit = units_[peer.kind()];
    for_each_on_host("steelyard::fft2d::unpack", peer.space(), unit.rows.count, [&](const std::int64_t row) {
      for (const auto& [message, data] : second_.received) {
        const std::int64_t column = unit.rows.first + row - message->columns.first;
        std::copy_n(data + column * message->rows.count, message->rows.count,
                    unit.field.data() + row * result_pitch_ + message->rows.first);
      }
    });
  }

  UnitGroup& group_;
  Problem problem_;
  bool pipelined_;
  PassPlans plans_;
  Range rows_;                  ///< of the input: those of this rank's units
  std::int64_t between_pitch_;  ///< points from row to row of Unit::between
  std::int64_t result_length_;  ///< points of a row of the result
  std::int64_t result_pitch_;   ///< and from row to row
  PerUnit<Unit> units_;
  std::vector<Memory> memory_;  ///< of the blocks
  PassExchange first_, second_;
};

}  // namespace steelyard::fft2d
