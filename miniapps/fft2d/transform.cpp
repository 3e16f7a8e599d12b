#include "miniapps/fft2d/transform.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <thread>

#include "comm/block_exchange.hpp"
#include "comm/collective.hpp"
#include "core/timing.hpp"
#include "miniapps/fft2d/unit_transform.hpp"

namespace steelyard::fft2d {
namespace {

constexpr std::int64_t staging_bytes = 4 << 20;

enum { host_unit = 0, companion_unit = 1 };

std::size_t unit_of(ProcessingUnit::Kind kind) {
  return kind == ProcessingUnit::Kind::host ? host_unit : companion_unit;
}

/// Batches that one unit has finished, said by its thread and asked by the one that drives MPI.
class Finished {
 public:
  void start() {
    count_ = 0;
    ended_ = false;
  }
  void add() { count_.fetch_add(1, std::memory_order_release); }
  void end() { ended_.store(true, std::memory_order_release); }
  int count() const { return count_.load(std::memory_order_acquire); }
  bool ended() const { return ended_.load(std::memory_order_acquire); }

 private:
  std::atomic<int> count_{0};
  std::atomic<bool> ended_{false};
};

/// Says that a unit has ended, with an error too, or the other would wait for ever.
class EndOfWork {
 public:
  explicit EndOfWork(Finished& finished) : finished_(finished) {}
  ~EndOfWork() { finished_.end(); }
  EndOfWork(const EndOfWork&) = delete;
  EndOfWork& operator=(const EndOfWork&) = delete;

 private:
  Finished& finished_;
};

}  // namespace

template <class Scalar>
class Transform<Scalar>::State {
 public:
  State(const Session& session, CoExecution& co_execution, const Problem& problem, const std::vector<Slot>& slots,
        const Shares& shares, const TransformChoice& choice)
      : rank_(session.rank()), co_execution_(co_execution), problem_(problem), choice_(choice) {
    std::vector<int> ranks;
    for (const Slot& slot : slots) ranks.push_back(slot.rank);
    plans_[0] = plan_pass(shares.rows, shares.columns, ranks, choice.exchange.parts());
    plans_[1] = plan_pass(shares.columns, shares.rows, ranks, choice.exchange.parts());
    if (problem.transposed) plans_[1].messages.clear();
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].rank != rank_) continue;
      index_[unit_of(slots[i].kind)] = i;
      // Without a host unit the calling thread is the companion's.
      if (slots[i].kind == ProcessingUnit::Kind::host) driver_ = host_unit;
    }
    collectively(session.comm(), [&] {
      co_execution_.run([&] { emplace(host_, host_unit); }, [&] { emplace(companion_, companion_unit); });
      if (host_) matrices_.push_back(host_->matrices());
      if (companion_) matrices_.push_back(companion_->matrices());
      allocate_buffers();
    });
    for (std::size_t pass = 0; pass < 2; ++pass) connect(session.comm(), pass);
  }

  void load(const Source& source) {
    const auto load_unit = [&](auto& unit) {
      if (unit && !unit->matrices().rows.empty()) source(unit->matrices().rows.first, unit->input());
    };
    load_unit(host_);
    load_unit(companion_);
  }

  TransformTimes run() {
    TransformTimes times;
    const double start_s = now_s();
    times.row_pass = run_pass(0);
    times.rows_s = now_s() - start_s;
    finish_exchange(0);
    times.first_exchange_s = now_s() - start_s;
    times.column_pass = run_pass(1);
    times.columns_s = now_s() - start_s;
    if (!problem_.transposed) {
      finish_exchange(1);
      if (!received_[1].empty()) {
        co_execution_.run([&] { unpack(host_); }, [&] { unpack(companion_); });
      }
    }
    times.second_exchange_s = now_s() - start_s;
    return times;
  }

  void store(const Sink& sink) const {
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

 private:
  using Complex = Kokkos::complex<Scalar>;
  using Buffers = std::vector<BlockBuffer<Scalar>>;

  template <class Unit>
  void emplace(std::optional<Unit>& unit, std::size_t which) {
    if (index_[which]) unit.emplace(problem_, plans_[0], plans_[1], *index_[which], choice_.fft);
  }

  /// Blocks of an exchange that this rank sends, or takes.
  std::vector<const BlockMessage*> messages(std::size_t pass, bool sent) const {
    std::vector<const BlockMessage*> own;
    for (const BlockMessage& message : plans_[pass].messages) {
      const int rank = sent ? rank_of(pass, message) : message.to_rank;
      if (rank == rank_) own.push_back(&message);
    }
    return own;
  }
  int rank_of(std::size_t pass, const BlockMessage& message) const {
    return plans_[pass].rank_of_unit[static_cast<std::size_t>(message.from)];
  }

  /// Blocks one behind the other, each at a cache line of its own. @return points of all
  static std::int64_t lay_out(const std::vector<const BlockMessage*>& messages, Complex* data, Buffers* buffers) {
    std::int64_t points = 0;
    for (const BlockMessage* message : messages) {
      if (buffers != nullptr) buffers->push_back({message, data + points});
      points += padded_pitch<Complex>(message->points());
    }
    return points;
  }

  /// What pass 2 sends back for this rank's rows is as much as pass 1 has sent of them, and takes its place.
  void allocate_buffers() {
    const auto first_sent = messages(0, true), first_received = messages(0, false);
    const auto second_sent = messages(1, true), second_received = messages(1, false);
    const auto allocate = [](HostArray<Complex>& memory, std::int64_t points) {
      memory = HostArray<Complex>(1, points);
      touch(HostExecution(), memory.elements(0, 1), Complex(0, 0));
      return memory.elements(0, 1).data();
    };
    Complex* const shared = allocate(
        memory_[0], std::max(lay_out(first_sent, nullptr, nullptr), lay_out(second_received, nullptr, nullptr)));
    lay_out(first_sent, shared, &sent_[0]);
    lay_out(second_received, shared, &received_[1]);
    lay_out(first_received, allocate(memory_[1], lay_out(first_received, nullptr, nullptr)), &received_[0]);
    lay_out(second_sent, allocate(memory_[2], lay_out(second_sent, nullptr, nullptr)), &sent_[1]);
  }

  /// Batches of the exchange: those of the host and of the companion take turns.
  static int batch_of(std::size_t unit, int batch) { return 2 * batch + static_cast<int>(unit); }

  void connect(MPI_Comm comm, std::size_t pass) {
    std::vector<ExchangedBlock> sends, receives;
    for (const BlockBuffer<Scalar>& block : sent_[pass]) {
      const BlockMessage& message = *block.message;
      const bool from_host = index_[host_unit] == static_cast<std::size_t>(message.from);
      sends.push_back({message.to_rank, message.tag, block.data, message.points(),
                       batch_of(from_host ? host_unit : companion_unit, message.batch)});
    }
    for (const BlockBuffer<Scalar>& block : received_[pass]) {
      receives.push_back({rank_of(pass, *block.message), block.message->tag, block.data, block.message->points(), 0});
    }
    exchanges_[pass].emplace(comm, sizeof(Complex), sends, receives);
  }

  int batches(std::size_t pass, std::size_t unit) const {
    return index_[unit] ? static_cast<int>(plans_[pass].batches[*index_[unit]].size()) : 0;
  }
  bool pipelined() const { return choice_.exchange.exchange == Exchange::pipelined; }

  /// Both units over all of their batches; what they have finished is sent on the way where the user wants that.
  UnitSeconds run_pass(std::size_t pass) {
    exchanges_[pass]->start_receives();
    const bool sends = pipelined() && !sent_[pass].empty();
    for (std::size_t unit = 0; unit < 2; ++unit) {
      finished_[unit].start();
      sent_batches_[unit] = 0;
    }
    const auto work = [&](auto& unit, std::size_t which, ProcessingUnit::Kind kind) {
      const EndOfWork end(finished_[which]);
      if (!unit) return;
      for (int batch = 0; batch < batches(pass, which); ++batch) {
        co_execution_.part(kind, [&] { run_batch(*unit, which, pass, batch); });
        finished_[which].add();
        if (sends && which == driver_) send_finished(pass);
      }
    };
    return co_execution_.run([&] { work(host_, host_unit, ProcessingUnit::Kind::host); },
                             [&] { work(companion_, companion_unit, ProcessingUnit::Kind::companion); },
                             [&] {
                               if (!sends || !index_[companion_unit] || driver_ != host_unit) return;
                               while (!finished_[companion_unit].ended()) {
                                 send_finished(pass);
                                 std::this_thread::yield();
                               }
                             });
  }

  template <class Unit>
  void run_batch(Unit& unit, std::size_t which, std::size_t pass, int batch) {
    Buffers sends;
    for (const BlockBuffer<Scalar>& block : sent_[pass]) {
      const bool own = index_[which] == static_cast<std::size_t>(block.message->from);
      if (own && block.message->batch == batch) sends.push_back(block);
    }
    const Range& rows = plans_[pass].batches[*index_[which]][static_cast<std::size_t>(batch)];
    if (pass == 0) {
      unit.transform_rows(rows, matrices_, sends);
    } else {
      unit.transform_columns(rows, matrices_, received_[0], sends);
    }
  }

  /// On the thread that drives MPI.
  void send_finished(std::size_t pass) {
    for (std::size_t unit = 0; unit < 2; ++unit) {
      for (; sent_batches_[unit] < finished_[unit].count(); ++sent_batches_[unit]) {
        exchanges_[pass]->send(batch_of(unit, sent_batches_[unit]));
      }
    }
    exchanges_[pass]->progress();
  }

  void finish_exchange(std::size_t pass) {
    send_finished(pass);
    exchanges_[pass]->wait();
  }

  template <class Unit>
  void unpack(std::optional<Unit>& unit) {
    if (unit) unit->unpack(received_[1]);
  }

  int rank_;
  CoExecution& co_execution_;
  Problem problem_;
  TransformChoice choice_;
  std::array<PassPlan, 2> plans_;
  std::array<std::optional<std::size_t>, 2> index_;  ///< of this rank's units among all
  std::size_t driver_ = companion_unit;              ///< the unit whose thread drives MPI
  std::optional<UnitTransform<HostExecution, Scalar>> host_;
  std::optional<UnitTransform<CompanionExecution, Scalar>> companion_;
  std::vector<UnitMatrices<Scalar>> matrices_;  ///< of this rank's units
  std::array<HostArray<Complex>, 3> memory_;
  std::array<Buffers, 2> sent_;  ///< by pass
  std::array<Buffers, 2> received_;
  std::array<std::optional<BlockExchange>, 2> exchanges_;
  std::array<Finished, 2> finished_;
  std::array<int, 2> sent_batches_{};
};

template <class Scalar>
Transform<Scalar>::Transform(const Session& session, CoExecution& co_execution, const Problem& problem,
                             const std::vector<Slot>& slots, const Shares& shares, const TransformChoice& choice)
    : state_(std::make_unique<State>(session, co_execution, problem, slots, shares, choice)) {}

template <class Scalar>
Transform<Scalar>::~Transform() = default;

template <class Scalar>
void Transform<Scalar>::load(const Source& source) {
  state_->load(source);
}

template <class Scalar>
TransformTimes Transform<Scalar>::run() {
  return state_->run();
}

template <class Scalar>
void Transform<Scalar>::store(const Sink& sink) const {
  state_->store(sink);
}

template class Transform<double>;
template class Transform<float>;

}  // namespace steelyard::fft2d
