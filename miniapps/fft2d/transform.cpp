#include "miniapps/fft2d/transform.hpp"

#include <algorithm>
#include <thread>

#include "comm/collective.hpp"
#include "core/timing.hpp"

namespace steelyard::fft2d {
namespace {

constexpr std::int64_t staging_bytes = 4 << 20;

/// Marks a unit as ended, after an error too, or the other one would wait for ever.
class EndOfWork {
 public:
  explicit EndOfWork(FinishedBatches& finished) : finished_(finished) {}
  ~EndOfWork() { finished_.end(); }
  EndOfWork(const EndOfWork&) = delete;
  EndOfWork& operator=(const EndOfWork&) = delete;

 private:
  FinishedBatches& finished_;
};

std::vector<int> ranks_of(const std::vector<Slot>& slots) {
  std::vector<int> ranks;
  for (const Slot& slot : slots) ranks.push_back(slot.rank);
  return ranks;
}

/// Batches of the exchange: those of the host and of the companion take turns.
int batch_of_exchange(ProcessingUnit::Kind kind, int batch) { return 2 * batch + static_cast<int>(unit_index(kind)); }

}  // namespace

template <class Scalar>
Transform<Scalar>::Transform(const Session& session, CoExecution& co_execution, const Problem& problem,
                             const std::vector<Slot>& slots, const Shares& shares, const TransformChoice& choice)
    : rank_(session.rank()),
      co_execution_(co_execution),
      problem_(problem),
      choice_(choice),
      plans_(plan_passes(problem, shares, ranks_of(slots), choice.exchange)) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].rank != rank_) continue;
    index_[slots[i].kind] = i;
    // Without a host unit the calling thread is the companion's.
    if (slots[i].kind == Kind::host) driver_ = Kind::host;
  }
  first_.sent = blocks(plans_.rows, true);
  first_.received = blocks(plans_.rows, false);
  second_.sent = blocks(plans_.columns, true);
  second_.received = blocks(plans_.columns, false);
  collectively(session.comm(), [&] {
    co_execution_.run([&] { emplace(host_, Kind::host); }, [&] { emplace(companion_, Kind::companion); });
    if (host_) matrices_.push_back(host_->matrices());
    if (companion_) matrices_.push_back(companion_->matrices());
    // What pass 2 sends back for this rank's rows is as much as pass 1 has sent of them, and takes its place.
    allocate({&first_.sent, &second_.received});
    allocate({&first_.received});
    allocate({&second_.sent});
  });
  connect(session.comm(), plans_.rows, first_);
  connect(session.comm(), plans_.columns, second_);
}

template <class Scalar>
template <class Unit>
void Transform<Scalar>::emplace(std::optional<Unit>& unit, Kind kind) {
  if (index_[kind]) unit.emplace(problem_, plans_, *index_[kind], choice_.fft);
}

/// The blocks of an exchange that this rank sends or receives, without their memory.
template <class Scalar>
typename Transform<Scalar>::Buffers Transform<Scalar>::blocks(const PassPlan& plan, bool sent) const {
  Buffers own;
  for (const BlockMessage& message : plan.messages) {
    if ((sent ? plan.from_rank(message) : message.to_rank) == rank_) own.push_back({&message, nullptr});
  }
  return own;
}

/// Allocates memory that lists of blocks take at different times: blocks one behind the other, each at a cache line of
/// its own.
template <class Scalar>
void Transform<Scalar>::allocate(std::initializer_list<Buffers*> lists) {
  const auto room = [](const BlockBuffer<Scalar>& block) { return padded_pitch<Complex>(block.message->points()); };
  std::int64_t most = 0;
  for (const Buffers* list : lists) {
    std::int64_t points = 0;
    for (const BlockBuffer<Scalar>& block : *list) points += room(block);
    most = std::max(most, points);
  }
  memory_.push_back(touched_array<HostExecution, Scalar>(HostExecution(), most));
  for (Buffers* list : lists) {
    Complex* data = memory_.back().elements(0, 1).data();
    for (BlockBuffer<Scalar>& block : *list) {
      block.data = data;
      data += room(block);
    }
  }
}

template <class Scalar>
void Transform<Scalar>::connect(MPI_Comm comm, const PassPlan& plan, PassExchange& exchange) {
  std::vector<ExchangedBlock> sends, receives;
  for (const auto& [message, data] : exchange.sent) {
    const bool from_host = index_.host == static_cast<std::size_t>(message->from);
    const int batch = batch_of_exchange(from_host ? Kind::host : Kind::companion, message->batch);
    sends.push_back({message->to_rank, message->tag, data, message->points(), batch});
  }
  for (const auto& [message, data] : exchange.received) {
    receives.push_back({plan.from_rank(*message), message->tag, data, message->points(), 0});
  }
  exchange.blocks.emplace(comm, sizeof(Complex), sends, receives);
}

template <class Scalar>
void Transform<Scalar>::load(const Source& source) {
  const auto load_unit = [&](auto& unit) {
    if (unit && !unit->matrices().rows.empty()) source(unit->matrices().rows.first, unit->input());
  };
  load_unit(host_);
  load_unit(companion_);
}

template <class Scalar>
TransformTimes Transform<Scalar>::run() {
  TransformTimes times;
  const double start_s = now_s();
  times.row_pass = run_pass(plans_.rows, first_, [&](auto& unit, const Range& rows, const Buffers& sends) {
    unit.transform_rows(rows, matrices_, sends);
  });
  times.rows_s = now_s() - start_s;
  send_finished(first_);
  first_.blocks->wait();
  times.first_exchange_s = now_s() - start_s;
  times.column_pass = run_pass(plans_.columns, second_, [&](auto& unit, const Range& columns, const Buffers& sends) {
    unit.transform_columns(columns, matrices_, first_.received, sends);
  });
  times.columns_s = now_s() - start_s;
  if (!problem_.transposed) {
    send_finished(second_);
    second_.blocks->wait();
    if (!second_.received.empty()) {
      co_execution_.run([&] { host_->unpack(second_.received); }, [&] { companion_->unpack(second_.received); });
    }
  }
  times.second_exchange_s = now_s() - start_s;
  return times;
}

/// Runs both units over all of their batches; where the exchange is pipelined, finished ones are sent on the way.
template <class Scalar>
template <class TransformBatch>
UnitSeconds Transform<Scalar>::run_pass(const PassPlan& plan, PassExchange& exchange,
                                        const TransformBatch& transform_batch) {
  exchange.blocks->start_receives();
  finished_.host.start();
  finished_.companion.start();
  const bool sends = choice_.exchange.exchange == Exchange::pipelined && !exchange.sent.empty();
  const auto work = [&](auto& unit, Kind kind) {
    const EndOfWork end(finished_[kind]);
    if (!unit) return;
    const std::vector<Range>& batches = plan.batches[*index_[kind]];
    for (std::size_t batch = 0; batch < batches.size(); ++batch) {
      co_execution_.part(kind, [&] {
        Buffers own;
        for (const BlockBuffer<Scalar>& block : exchange.sent) {
          const bool by_unit = index_[kind] == static_cast<std::size_t>(block.message->from);
          if (by_unit && static_cast<std::size_t>(block.message->batch) == batch) own.push_back(block);
        }
        transform_batch(*unit, batches[batch], own);
      });
      finished_[kind].add();
      if (sends && kind == driver_) send_finished(exchange);
    }
  };
  const auto send_companion = [&] {
    if (!sends || !index_.companion || driver_ != Kind::host) return;
    while (!finished_.companion.ended()) {
      send_finished(exchange);
      std::this_thread::yield();
    }
  };
  return co_execution_.run([&] { work(host_, Kind::host); }, [&] { work(companion_, Kind::companion); },
                           send_companion);
}

/// On the thread that drives MPI.
template <class Scalar>
void Transform<Scalar>::send_finished(PassExchange& exchange) {
  for (const Kind kind : {Kind::host, Kind::companion}) {
    FinishedBatches& finished = finished_[kind];
    for (; finished.sent < finished.count(); ++finished.sent) {
      exchange.blocks->send(batch_of_exchange(kind, finished.sent));
    }
  }
  exchange.blocks->progress();
}

template <class Scalar>
void Transform<Scalar>::store(const Sink& sink) const {
  for (const UnitMatrices<Scalar>& unit : matrices_) {
    const Range& rows = problem_.transposed ? unit.columns : unit.rows;
    const std::int64_t length = problem_.transposed ? problem_.rows : problem_.spectrum_columns();
    const std::int64_t most =
        std::max<std::int64_t>(1, staging_bytes / (length * static_cast<std::int64_t>(sizeof(Complex))));
    std::vector<std::complex<Scalar>> staging;
    for (std::int64_t row = 0; row < rows.count; row += most) {
      const std::int64_t count = std::min(most, rows.count - row);
      staging.resize(static_cast<std::size_t>(count * length));
      for (std::int64_t i = 0; i < count; ++i) {
        const auto* from = reinterpret_cast<const std::complex<Scalar>*>(unit.result + (row + i) * unit.result_pitch);
        std::copy_n(from, length, staging.begin() + i * length);
      }
      sink(rows.first + row, staging);
    }
  }
}

template class Transform<double>;
template class Transform<float>;

}  // namespace steelyard::fft2d
