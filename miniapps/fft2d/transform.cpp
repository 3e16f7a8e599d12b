#include "miniapps/fft2d/transform.hpp"

#include <algorithm>

#include "comm/collective.hpp"
#include "core/memory/matrix.hpp"
#include "core/timing.hpp"

namespace steelyard::fft2d {
namespace {

constexpr std::int64_t staging_bytes = 4 << 20;

std::vector<int> ranks_of(const std::vector<Slot>& slots) {
  std::vector<int> ranks;
  for (const Slot& slot : slots) ranks.push_back(slot.rank);
  return ranks;
}

std::int64_t longest(const std::vector<Range>& batches) {
  std::int64_t rows = 0;
  for (const Range& batch : batches) rows = std::max(rows, batch.count);
  return rows;
}

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
template <class Complex, class Execution>
UntouchedArray<Complex, PinnedMemory> touched_array(const Execution& space, std::int64_t points) {
  UntouchedArray<Complex, PinnedMemory> array("steelyard::fft2d::matrix", static_cast<std::size_t>(points));
  for_each_on_host("steelyard::fft2d::touch", space, points,
                   [data = array.data()](const std::int64_t i) { data[i] = Complex(0); });
  return array;
}

}  // namespace

template <class Scalar>
Transform<Scalar>::Transform(UnitGroup& group, const Problem& problem, const Shares& shares,
                             const TransformChoice& choice)
    : group_(group),
      problem_(problem),
      choice_(choice),
      plans_(plan_passes(problem, shares, ranks_of(group.slots()), choice.exchange)),
      rank_rows_(plans_.rows.rows_of_rank(group.rank())),
      between_pitch_(padded_pitch<Complex>(rank_rows_.count)),
      result_pitch_(padded_pitch<Complex>(problem.transposed ? problem.rows : problem.spectrum_columns())) {
  first_.sent = blocks(plans_.rows, true);
  first_.received = blocks(plans_.rows, false);
  second_.sent = blocks(plans_.columns, true);
  second_.received = blocks(plans_.columns, false);
  collectively(group.comm(), [&] {
    group.run([&](const auto& peer) { allocate(peer); });
    // What pass 2 sends back for this rank's rows is as much as pass 1 has sent of them, and takes its place.
    allocate({&first_.sent, &second_.received});
    allocate({&first_.received});
    allocate({&second_.sent});
  });
  connect(plans_.rows, first_);
  connect(plans_.columns, second_);
}

/// Allocates, touches and plans for a unit, on its own thread.
template <class Scalar>
template <class Execution>
void Transform<Scalar>::allocate(const UnitPeer<Execution>& peer) {
  Unit& unit = units_[peer.kind()];
  const auto slot = static_cast<std::size_t>(peer.slot());
  unit.rows = plans_.rows.rows[slot];
  unit.columns = plans_.rows.columns[slot];
  const std::int64_t numbers = unit.rows.count * problem_.columns;
  const std::int64_t input_points = problem_.real ? (numbers + 1) / 2 : numbers;
  const std::int64_t stored_rows = problem_.transposed ? unit.columns.count : unit.rows.count;
  unit.field = touched_array<Complex>(peer.space(), std::max(input_points, stored_rows * result_pitch_));
  unit.between = touched_array<Complex>(peer.space(), unit.columns.count * between_pitch_);
  const RowTransformation row{problem_.columns, problem_.direction};
  const double scale = problem_.direction == Direction::inverse ? 1.0 / problem_.points() : 1.0;
  const RowTransformation column{problem_.rows, problem_.direction, scale, !problem_.transposed};
  const std::int64_t most_rows = longest(plans_.rows.batches[slot]),
                     most_columns = longest(plans_.columns.batches[slot]);
  if (!unit.rows.empty() && problem_.real) {
    unit.real_row_pass = make_row_pass<Scalar>(peer.kind(), row, most_rows, choice_.fft);
  } else if (!unit.rows.empty()) {
    unit.row_pass = make_row_pass<Complex>(peer.kind(), row, most_rows, choice_.fft);
  }
  if (!unit.columns.empty()) {
    unit.column_pass = make_row_pass<Complex>(peer.kind(), column, most_columns, choice_.fft);
  }
}

/// The blocks of an exchange that this rank sends or receives, without their memory.
template <class Scalar>
typename Transform<Scalar>::Blocks Transform<Scalar>::blocks(const PassPlan& plan, bool sent) const {
  Blocks own;
  for (const BlockMessage& message : plan.messages) {
    if ((sent ? plan.from_rank(message) : message.to_rank) == group_.rank()) own.push_back({&message, nullptr});
  }
  return own;
}

/// Allocates memory that lists of blocks take at different times: blocks one behind the other, each at a cache line of
/// its own.
template <class Scalar>
void Transform<Scalar>::allocate(std::initializer_list<Blocks*> lists) {
  const auto room = [](const Block& block) { return padded_pitch<Complex>(block.message->points()); };
  std::int64_t most = 0;
  for (const Blocks* list : lists) {
    std::int64_t points = 0;
    for (const Block& block : *list) points += room(block);
    most = std::max(most, points);
  }
  memory_.push_back(touched_array<Complex>(HostExecution(), most));
  for (Blocks* list : lists) {
    Complex* data = memory_.back().data();
    for (Block& block : *list) {
      block.data = data;
      data += room(block);
    }
  }
}

/// Messages to a rank go to its first unit: all of a rank's units wait for them and read them.
template <class Scalar>
void Transform<Scalar>::connect(const PassPlan& plan, PassExchange& exchange) {
  const bool pipelined = choice_.exchange == Exchange::pipelined;
  std::vector<UnitMessage> messages;
  for (const Blocks* blocks : {&exchange.sent, &exchange.received}) {
    for (const auto& [message, data] : *blocks) {
      const std::int64_t bytes = message->points() * static_cast<std::int64_t>(sizeof(Complex));
      const auto to = std::ranges::lower_bound(plan.rank_of_unit, message->to_rank) - plan.rank_of_unit.begin();
      messages.push_back({message->from, static_cast<int>(to), bytes, {data}, pipelined ? message->batch : 0});
    }
  }
  exchange.exchange.emplace(group_, messages);
}

template <class Scalar>
void Transform<Scalar>::load(const Source& source) {
  for (const Unit* unit : {&units_.host, &units_.companion}) {
    const std::int64_t numbers = unit->rows.count * problem_.columns * (problem_.real ? 1 : 2);
    if (numbers > 0) source(unit->rows.first, {input(*unit), static_cast<std::size_t>(numbers)});
  }
}

template <class Scalar>
TransformTimes Transform<Scalar>::run() {
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
  times.rows_s = first_.finished_s - start_s;
  times.first_exchange_s = first_.arrived_s - start_s;
  times.columns_s = second_.finished_s - start_s;
  times.second_exchange_s = now_s() - start_s;
  return times;
}

/// A unit's part of a pass and of the exchange behind it. Where that is pipelined, batches of both units are sent as
/// they are finished. Returns when both units have finished and all blocks have arrived.
template <class Scalar>
template <class Execution, class TransformBatch>
void Transform<Scalar>::run_pass(const UnitPeer<Execution>& peer, const PassPlan& plan, PassExchange& pass,
                                 const TransformBatch& transform_batch) {
  const Kind kind = peer.kind();
  pass.exchange->begin(kind);
  const std::vector<Range>& batches = plan.batches[static_cast<std::size_t>(peer.slot())];
  for (std::size_t batch = 0; batch < batches.size(); ++batch) {
    peer.compute([&] {
      StoredPieces sends;
      for (const Block& block : pass.sent) {
        const bool of_batch = static_cast<std::size_t>(block.message->batch) == batch;
        if (of_batch && block.message->from == peer.slot()) sends.push_back(block.piece());
      }
      transform_batch(batches[batch], sends);
    });
    if (choice_.exchange == Exchange::pipelined) pass.exchange->packed(kind, static_cast<int>(batch) + 1);
  }
  pass.exchange->await_other(kind);
  if (group_.drives(kind)) pass.finished_s = now_s();
  pass.exchange->finish(kind);
  if (group_.drives(kind)) pass.arrived_s = now_s();
}

/// Pass 1 over a batch of rows. @param out pieces for other ranks, to which those for this one are added
template <class Scalar>
void Transform<Scalar>::transform_rows(const Unit& unit, const Range& batch, StoredPieces out) const {
  for (const Unit* to : {&units_.host, &units_.companion}) {
    if (to->columns.empty()) continue;
    out.push_back(
        {to->between.data() + (batch.first - rank_rows_.first), between_pitch_, to->columns.first, to->columns.count});
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

/// Transforms a batch of columns, which is pass 2.
template <class Scalar>
void Transform<Scalar>::transform_columns(const Unit& unit, const Range& batch, StoredPieces out) const {
  const std::int64_t start = batch.first - unit.columns.first;
  std::vector<RowPiece<Complex>> in{
      {unit.between.data() + start * between_pitch_, between_pitch_, rank_rows_.first, rank_rows_.count}};
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
template <class Scalar>
template <class Execution>
void Transform<Scalar>::unpack(const UnitPeer<Execution>& peer) const {
  const Unit& unit = units_[peer.kind()];
  for_each_on_host("steelyard::fft2d::unpack", peer.space(), unit.rows.count, [&](const std::int64_t row) {
    for (const auto& [message, data] : second_.received) {
      const std::int64_t column = unit.rows.first + row - message->columns.first;
      std::copy_n(data + column * message->rows.count, message->rows.count,
                  unit.field.data() + row * result_pitch_ + message->rows.first);
    }
  });
}

template <class Scalar>
void Transform<Scalar>::store(const Sink& sink) const {
  for (const Unit* unit : {&units_.host, &units_.companion}) {
    const Range& rows = problem_.transposed ? unit->columns : unit->rows;
    const std::int64_t length = problem_.transposed ? problem_.rows : problem_.spectrum_columns();
    const std::int64_t most =
        std::max<std::int64_t>(1, staging_bytes / (length * static_cast<std::int64_t>(sizeof(Complex))));
    std::vector<std::complex<Scalar>> staging;
    for (std::int64_t row = 0; row < rows.count; row += most) {
      const std::int64_t count = std::min(most, rows.count - row);
      staging.resize(static_cast<std::size_t>(count * length));
      for (std::int64_t i = 0; i < count; ++i) {
        const auto* from =
            reinterpret_cast<const std::complex<Scalar>*>(unit->field.data() + (row + i) * result_pitch_);
        std::copy_n(from, length, staging.begin() + i * length);
      }
      sink(rows.first + row, staging);
    }
  }
}

template class Transform<double>;
template class Transform<float>;

}  // namespace steelyard::fft2d
