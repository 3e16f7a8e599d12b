#include "tests/device/emulated/team.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/stack_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/device/emulated/facts.hpp"

namespace steelyard::emulated {
namespace {

constexpr std::size_t stack_bytes = 64 * 1024;

/// Stacks stay where they are.
struct KeepStack {
  void deallocate(boost::context::stack_context& /*stack*/) const {}
};

enum class Stop { team_barrier, lane_barrier, end };

}  // namespace

class Team::Lanes {
 public:
  void run(int threads, int lanes, std::uint64_t order, const std::function<void(int, int)>& body) {
    const int count = threads * lanes;
    while (static_cast<int>(lanes_.size()) < count) lanes_.push_back(std::make_unique<Lane>());
    shared_.resize(static_cast<std::size_t>(threads) * bytes_per_thread);
    for (int i = 0; i < count; ++i) start(*lanes_[static_cast<std::size_t>(i)], i / lanes, i % lanes, body);
    for (std::uint64_t round = order;; ++round) {
      int ended = 0;
      for (int i = 0; i < threads; ++i) ended += advance_thread(nth(i, threads, round), lanes, round);
      if (ended == threads) return;
      if (ended != 0) refuse("a team's barrier that some of its threads do not reach");
    }
  }

  void stop(Stop stop) {
    Lane& lane = *running_;
    lane.stop = stop;
    lane.back = std::move(lane.back).resume();
  }

  std::vector<std::byte> shared_;
  std::vector<std::byte> scratch_;

 private:
  struct Lane {
    boost::context::fiber fiber, back;
    Stop stop = Stop::end;
    std::unique_ptr<std::byte[]> stack{new std::byte[stack_bytes]};
  };

  [[noreturn]] static void refuse(const char* what) {
    std::fprintf(stderr, "steelyard: a kernel of the emulated device has %s\n", what);
    std::abort();
  }

  /// The i-th of so many, forwards in even rounds and backwards in odd ones, from a place that changes.
  static int nth(int i, int count, std::uint64_t round) {
    const auto shift = static_cast<int>(round * 7919 % static_cast<std::uint64_t>(count));
    const int at = (i + shift) % count;
    return round % 2 == 0 ? at : count - 1 - at;
  }

  static void start(Lane& lane, int thread, int number, const std::function<void(int, int)>& body) {
    boost::context::stack_context stack;
    stack.size = stack_bytes;
    stack.sp = lane.stack.get() + stack_bytes;
    lane.fiber = boost::context::fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
                                       KeepStack(), [&lane, &body, thread, number](boost::context::fiber&& back) {
                                         lane.back = std::move(back);
                                         body(thread, number);
                                         lane.stop = Stop::end;
                                         return std::move(lane.back);
                                       });
  }

  /// Runs a thread's lanes to the next barrier of the team, or to their end. Returns 1 for the end, 0 otherwise.
  int advance_thread(int thread, int lanes, std::uint64_t round) {
    for (;; ++round) {
      int at_lane_barrier = 0, ended = 0;
      for (int i = 0; i < lanes; ++i) {
        Lane& lane = *lanes_[static_cast<std::size_t>(thread * lanes + nth(i, lanes, round))];
        running_ = &lane;
        lane.fiber = std::move(lane.fiber).resume();
        at_lane_barrier += lane.stop == Stop::lane_barrier ? 1 : 0;
        ended += lane.stop == Stop::end ? 1 : 0;
      }
      if (at_lane_barrier == lanes) continue;
      if (at_lane_barrier != 0) refuse("a vector loop that some lanes of a thread do not reach");
      if (ended == lanes) return 1;
      if (ended == 0) return 0;
      refuse("a team's barrier that some lanes of a thread do not reach");
    }
  }

  std::vector<std::unique_ptr<Lane>> lanes_;
  Lane* running_ = nullptr;
};

Team::Team() : lanes_(std::make_unique<Lanes>()) {}
Team::~Team() = default;

void Team::run(int threads, int lanes, std::uint64_t order, const std::function<void(int, int)>& body) {
  lanes_->run(threads, lanes, order, body);
}

void Team::team_barrier() {
  if (!loses(Mistake::barrier)) lanes_->stop(Stop::team_barrier);
}
void Team::lane_barrier() { lanes_->stop(Stop::lane_barrier); }

std::byte* Team::shared(int thread) {
  return lanes_->shared_.data() + static_cast<std::size_t>(thread) * bytes_per_thread;
}

std::byte* Team::scratch(std::size_t bytes) {
  if (lanes_->scratch_.size() < bytes) lanes_->scratch_.resize(bytes);
  constexpr int not_a_number = 0xff;
  std::memset(lanes_->scratch_.data(), not_a_number, bytes);
  return lanes_->scratch_.data();
}

Team& team_of_this_thread() {
  thread_local Team team;
  return team;
}

}  // namespace steelyard::emulated
