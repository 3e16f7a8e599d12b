#include "tests/device/emulated/queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "core/base/errors.hpp"
#include "core/timing.hpp"
#include "tests/device/emulated/facts.hpp"

namespace steelyard::emulated {
namespace {

/// The longest delay of work that no thread waits for. Where a wait is lost on purpose, the delay also exceeds the time
/// for which a busy machine keeps the thread that should have waited from its core.
std::chrono::steady_clock::duration most_delay() {
  const bool loses_waits = loses(Mistake::fence) || loses(Mistake::event);
  return std::chrono::milliseconds{loses_waits ? 100 : 1};
}

thread_local bool thread_of_a_queue = false;
thread_local std::string next_label;

thread_local bool records_orders = false;
thread_local std::vector<Order> orders;

void record(Order::Kind kind, std::uint32_t queue, int device, std::uint64_t event = 0, const std::string& label = {},
            double amount = 0.0) {
  if (records_orders) orders.push_back({kind, label, queue, device, event, amount});
}

/// Waits until the link has carried a copy that is given to it now, behind those of other queues if it is shared.
void carry(int device, bool to_device, std::size_t bytes) {
  if (!(facts().link_bytes_per_s > 0.0)) return;
  using Clock = std::chrono::steady_clock;
  static std::mutex mutex;
  static std::map<std::pair<int, bool>, Clock::time_point> free_at;
  Clock::time_point end;
  {
    const std::scoped_lock lock(mutex);
    Clock::time_point& free = free_at[{facts().shares_link ? 0 : device, to_device}];
    const std::chrono::duration<double> time(static_cast<double>(bytes) / facts().link_bytes_per_s);
    free = end = std::max(free, Clock::now()) + std::chrono::duration_cast<Clock::duration>(time);
  }
  std::this_thread::sleep_until(end);
}

/// Whether the work that is given now is the one that fails.
bool fails_now() {
  if (facts().failing == 0) return false;
  static std::atomic<std::uint64_t> given{0};
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const bool is_here = facts().failing_rank < 0 || facts().failing_rank == (rank == nullptr ? 0 : std::atoi(rank));
  return is_here && ++given == facts().failing;
}

}  // namespace

class Queue::State {
 public:
  State(int device, std::uint32_t number)
      : device_(device), number_(number), random_(facts().seed * 1000003 + number), thread_([this] { serve(); }) {}
  ~State() {
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    given_more_.notify_one();
    thread_.join();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  int device() const { return device_; }
  std::uint32_t number() const { return number_; }

  /// Returns the number of the work, from 1. @param is_mark nothing that a device would need time for
  std::uint64_t give(const std::string& label, std::function<void()> work, bool is_mark) {
    if (selected_device() != device_) {
      throw RuntimeFailure(
          fmt::format("emulated device: work \"{}\" was given to a queue of device {} by a thread whose "
                      "device is {}",
                      label, device_, selected_device()));
    }
    if (fails_now()) throw RuntimeFailure(fmt::format("emulated device: work \"{}\" fails, as fail= says", label));
    const std::scoped_lock lock(mutex_);
    // A program may have one fence only: where it is lost, its work is late whatever the seed.
    const bool delayed = !is_mark && facts().seed != 0 && (loses(Mistake::fence) || random_() % 2 == 0);
    tasks_.push_back({std::move(work), is_mark, Clock::now() + (delayed ? most_delay() : Clock::duration::zero())});
    if (!delayed || sleeps_) given_more_.notify_one();
    return ++given_;
  }

  /// The waiting thread does the work itself unless the queue's thread does some, which is sooner than to wake it up;
  /// but not where a mistake is to be found, which shows the better the later work is done.
  void wait_for(std::uint64_t number) {
    std::unique_lock lock(mutex_);
    wanted_ = std::max(wanted_, number);
    while (done_ < number) {
      if (!busy_ && facts().lost == Mistake::none) {
        do_first(lock);
      } else {
        given_more_.notify_one();
        done_more_.wait(lock);
      }
    }
  }
  /// The number of the last work.
  std::uint64_t given() {
    const std::scoped_lock lock(mutex_);
    return given_;
  }
  void wait() { wait_for(given()); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Task {
    std::function<void()> work;
    bool is_mark = false;
    Clock::time_point start;  ///< at the latest
  };
  /// Makes the calling thread one of the device's for as long as this lives.
  class OnDevice {
   public:
    explicit OnDevice(int device) : selected_(device), was_(std::exchange(thread_of_a_queue, true)) {}
    ~OnDevice() { thread_of_a_queue = was_; }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

   private:
    SelectedDevice selected_;
    bool was_;
  };

  void serve() {
    std::unique_lock lock(mutex_);
    while (!ending_ || !tasks_.empty()) {
      if (tasks_.empty() || busy_) {
        sleeps_ = true;
        given_more_.wait(lock, [&] { return ending_ || (!tasks_.empty() && !busy_); });
        sleeps_ = false;
      } else if (wanted_ <= done_ && Clock::now() < tasks_.front().start) {
        // By then a thread that waits may have done this and more.
        given_more_.wait_until(lock, tasks_.front().start);
      } else {
        do_first(lock);
      }
    }
  }

  /// @param lock held before and after, but not while the work is done
  void do_first(std::unique_lock<std::mutex>& lock) noexcept {
    busy_ = true;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    run(task);
    lock.lock();
    if (tasks_.empty() && access_ && closes_memory()) {
      lock.unlock();
      access_.reset();
      lock.lock();
    }
    busy_ = false;
    ++done_;
    done_more_.notify_all();
    if (sleeps_ && !tasks_.empty()) given_more_.notify_one();
  }

  /// Closing and opening takes longer than a small kernel: a queue that has often been idle leaves it at some times.
  bool closes_memory() {
    constexpr std::uint64_t always = 64, then = 128;
    ++idle_;
    return idle_ <= always || idle_ % then == 0;
  }

  void run(Task& task) {
    const OnDevice on_device(device_);
    if (!task.is_mark && !access_) access_.emplace(device_);
    task.work();
    task.work = nullptr;
  }

  int device_;
  std::uint32_t number_;
  std::mt19937_64 random_;
  std::mutex mutex_;
  std::condition_variable given_more_;  ///< for the queue's thread
  std::condition_variable done_more_;   ///< for threads that wait
  std::deque<Task> tasks_;
  std::uint64_t given_ = 0, done_ = 0, wanted_ = 0, idle_ = 0;
  bool busy_ = false;    ///< a thread does work
  bool sleeps_ = false;  ///< the queue's thread, until there is work
  bool ending_ = false;
  std::optional<MemoryAccess>
      access_;          ///< of the thread that is busy: from the first work to the last before it is idle
  std::thread thread_;  // last: it uses everything above
};

struct Queue::Registry {
  std::mutex mutex;
  std::uint32_t next = 0;
  std::vector<std::weak_ptr<State>> queues;

  static Registry& instance() {
    static auto* const registry = new Registry;
    return *registry;
  }
};

Queue::Queue(int device) {
  Registry& registry = Registry::instance();
  const std::scoped_lock lock(registry.mutex);
  std::erase_if(registry.queues, [](const auto& queue) { return queue.expired(); });
  state_ = std::make_shared<State>(device, registry.next++);
  registry.queues.push_back(state_);
}
Queue::~Queue() { state_->wait(); }

int Queue::device() const { return state_->device(); }
std::uint32_t Queue::number() const { return state_->number(); }
void Queue::give(std::string label, std::function<void()> work, double amount) {
  if (label.empty()) label = std::exchange(next_label, {});
  record(Order::Kind::work, number(), device(), 0, label, amount);
  state_->give(label, std::move(work), false);
}
void Queue::give_copy(const void* to, const void* from, std::size_t bytes, std::function<void()> work) {
  const std::string label = copy_label(to, from);
  const auto carried = [work = std::move(work), device = device(), to_device = label == copy_to_device,
                        bytes = label == copy_on_device ? 0 : bytes] {
    carry(device, to_device, bytes);
    work();
  };
  give(label, carried, static_cast<double>(bytes));
}
void Queue::wait() {
  record(Order::Kind::fence, number(), device());
  state_->wait();
}

struct Event::Moment {
  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> next{0};
    return ++next;
  }
  std::uint64_t id = next_id();
  std::shared_ptr<Queue::State> queue;
  std::uint64_t number = 0;
  std::atomic<double> time_s{0.0};
};

void Event::record(Queue& queue) {
  moment_ = std::make_shared<Moment>();
  moment_->queue = queue.state_;
  emulated::record(Order::Kind::record, queue.number(), queue.device(), moment_->id);
  // What the queue keeps must not keep the queue.
  const std::weak_ptr<Moment> moment = moment_;
  moment_->number = queue.state_->give(
      "event",
      [moment] {
        if (const auto recorded = moment.lock()) recorded->time_s = now_s();
      },
      true);
}

void Event::make_wait(Queue& queue) const {
  if (moment_->queue == queue.state_) return;
  emulated::record(Order::Kind::wait, queue.number(), queue.device(), moment_->id);
  queue.state_->give(
      "wait", [moment = moment_] { moment->queue->wait_for(moment->number); }, true);
}

double Event::time_s() const {
  moment_->queue->wait_for(moment_->number);
  return moment_->time_s;
}

void Queue::wait_for_all() {
  std::vector<std::weak_ptr<State>> queues;
  {
    const std::scoped_lock lock(Registry::instance().mutex);
    queues = Registry::instance().queues;
  }
  for (const std::weak_ptr<State>& queue : queues) {
    const std::shared_ptr<State> state = queue.lock();
    if (!state) continue;
    record(Order::Kind::fence, state->number(), state->device());
    state->wait();
  }
}

void name_next_work(const char* label) { next_label = label; }

bool on_device() { return thread_of_a_queue; }

std::vector<Order> recorded_operations() {
  records_orders = true;
  return std::exchange(orders, {});
}

}  // namespace steelyard::emulated
