#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/memory/matrix.hpp"

namespace steelyard::tests {

/// What an operation does; loads by what they fill.
enum class Work { load_a, load_b, load_c, multiply, store };

/// Operations of one kind that wait for operations of another.
struct Wait {
  Work waiting;
  Work awaited;
};

/// Engines whose work is all done in finish(), by one engine after the other as `next` picks from those whose next
/// operation may start: engine 0 loads, 1 multiplies, 2 stores. It also counts races: pairs of operations on the same
/// element, one of which changes it, that neither events nor an engine's own order keep in the order in which they were
/// asked for.
class DeferredEngines {
 public:
  using Execution = HostExecution;
  using Scalar = double;
  class Event {
    friend class DeferredEngines;
    std::size_t end_ = 0;  // one behind the operation; 0 for none
  };
  using Events = std::vector<Event>;
  using Pick = std::function<std::size_t(const std::vector<std::size_t>& ready)>;

  /// @param b, c where the device's buffers of B and of C begin, which lie behind those of A
  /// @param ignored events that are not waited for
  DeferredEngines(Pick next, const double* b, const double* c, std::optional<Wait> ignored = {})
      : next_(std::move(next)), b_(b), c_(c), ignored_(ignored) {}

  Event load(const Matrix<Execution, double>& to, const ConstMatrix<HostExecution, double>& from, const Events& after) {
    const Work work = to.data() >= c_ ? Work::load_c : to.data() >= b_ ? Work::load_b : Work::load_a;
    submit(work, after, [to, from] { copy(to, from); });
    reads(from);
    writes(to);
    return latest();
  }
  Event multiply(double alpha, const ConstMatrix<Execution, double>& a, const ConstMatrix<Execution, double>& b,
                 double beta, const Matrix<Execution, double>& c, const Events& after) {
    require_same(a.extent(0), c.extent(0));
    require_same(a.extent(1), b.extent(0));
    require_same(b.extent(1), c.extent(1));
    submit(Work::multiply, after, [=] { product(alpha, a, b, beta, c); });
    reads(a);
    reads(b);
    writes(c);
    return latest();
  }
  Event store(const Matrix<HostExecution, double>& to, const ConstMatrix<Execution, double>& from,
              const Events& after) {
    submit(Work::store, after, [to, from] { copy(to, from); });
    reads(from);
    writes(to);
    return latest();
  }
  void finish() {
    while (true) {
      std::vector<std::size_t> ready;
      for (std::size_t engine = 0; engine < queues_.size(); ++engine) {
        if (!queues_[engine].empty() && may_start(operations_[queues_[engine].front()])) ready.push_back(engine);
      }
      if (ready.empty()) break;
      std::deque<std::size_t>& queue = queues_[next_(ready)];
      Operation& operation = operations_[queue.front()];
      queue.pop_front();
      operation.action();
      operation.done = true;
    }
    for (const auto& queue : queues_) {
      if (!queue.empty()) throw std::logic_error("engines wait for each other");
    }
    uses_.clear();
  }

  std::size_t races() const { return races_; }

 private:
  static constexpr std::size_t engine_count = 3;
  struct Operation {
    Work work;
    std::vector<std::size_t> after;
    std::function<void()> action;
    std::size_t engine = 0;
    /// How many operations of each engine are certainly done when this one is.
    std::array<std::size_t, engine_count> done_before{};
    bool done = false;
  };
  struct Uses {
    std::optional<std::size_t> written;
    std::vector<std::size_t> read;
  };

  static void require_same(std::size_t one, std::size_t other) {
    if (one != other) throw std::logic_error("matrices do not fit together");
  }
  static void copy(const Matrix<HostExecution, double>& to, const ConstMatrix<HostExecution, double>& from) {
    require_same(to.extent(0), from.extent(0));
    require_same(to.extent(1), from.extent(1));
    for (std::size_t i = 0; i < to.extent(0); ++i) {
      for (std::size_t j = 0; j < to.extent(1); ++j) to(i, j) = from(i, j);
    }
  }
  static void product(double alpha, const ConstMatrix<HostExecution, double>& a,
                      const ConstMatrix<HostExecution, double>& b, double beta,
                      const Matrix<HostExecution, double>& c) {
    for (std::size_t i = 0; i < c.extent(0); ++i) {
      for (std::size_t j = 0; j < c.extent(1); ++j) {
        double sum = 0.0;
        for (std::size_t l = 0; l < a.extent(1); ++l) sum += a(i, l) * b(l, j);
        c(i, j) = alpha * sum + (beta == 0.0 ? 0.0 : beta * c(i, j));
      }
    }
  }

  bool may_start(const Operation& operation) const {
    return std::all_of(operation.after.begin(), operation.after.end(),
                       [&](std::size_t awaited) { return operations_[awaited].done; });
  }
  void submit(Work work, const Events& after, std::function<void()> action) {
    Operation operation{work, {}, std::move(action)};
    operation.engine = work == Work::multiply ? 1 : work == Work::store ? 2 : 0;
    for (const Event& event : after) {
      if (event.end_ == 0) continue;
      const std::size_t awaited = event.end_ - 1;
      const bool is_ignored = ignored_ && ignored_->waiting == work && ignored_->awaited == operations_[awaited].work;
      if (!is_ignored) operation.after.push_back(awaited);
    }
    const auto follow = [&](std::size_t earlier) {
      for (std::size_t i = 0; i < engine_count; ++i) {
        operation.done_before[i] = std::max(operation.done_before[i], operations_[earlier].done_before[i]);
      }
    };
    for (const std::size_t awaited : operation.after) follow(awaited);
    if (last_[operation.engine]) follow(*last_[operation.engine]);
    ++operation.done_before[operation.engine];
    last_[operation.engine] = operations_.size();
    queues_[operation.engine].push_back(operations_.size());
    operations_.push_back(std::move(operation));
  }
  Event latest() const {
    Event event;
    event.end_ = operations_.size();
    return event;
  }

  /// Whether an earlier operation is done when the latest one starts.
  bool precedes_latest(std::size_t earlier) const {
    const Operation& before = operations_[earlier];
    return before.done_before[before.engine] <= operations_.back().done_before[before.engine];
  }
  template <class AnyMatrix>
  void each_element(const AnyMatrix& matrix, const std::function<void(Uses&)>& visit) {
    for (std::size_t i = 0; i < matrix.extent(0); ++i) {
      for (std::size_t j = 0; j < matrix.extent(1); ++j) visit(uses_[&matrix(i, j)]);
    }
  }
  void reads(const ConstMatrix<HostExecution, double>& matrix) {
    each_element(matrix, [this](Uses& uses) {
      if (uses.written && !precedes_latest(*uses.written)) ++races_;
      uses.read.push_back(operations_.size() - 1);
    });
  }
  void writes(const ConstMatrix<HostExecution, double>& matrix) {
    each_element(matrix, [this](Uses& uses) {
      if (uses.written && !precedes_latest(*uses.written)) ++races_;
      for (const std::size_t reader : uses.read) races_ += precedes_latest(reader) ? 0 : 1;
      uses.written = operations_.size() - 1;
      uses.read.clear();
    });
  }

  Pick next_;
  const double *b_, *c_;
  std::optional<Wait> ignored_;
  std::vector<Operation> operations_;
  std::array<std::deque<std::size_t>, engine_count> queues_;
  std::array<std::optional<std::size_t>, engine_count> last_;
  std::unordered_map<const double*, Uses> uses_;
  std::size_t races_ = 0;
};

}  // namespace steelyard::tests
