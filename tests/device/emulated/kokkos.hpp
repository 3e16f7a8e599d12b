#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/device/emulated/team.hpp"

// The emulated device as a memory and an execution space of Kokkos 4.5, in terms of what Kokkos has for its own back
// ends and changes from version to version; nothing else of the suite is. It has parallel_for over ranges, tiles and
// teams, with the loops and reductions inside teams that the suite uses. What is missing does not compile.

namespace steelyard {

namespace emulated {
class Queue;
}
class EmulatedDevice;

/// Memory of an emulated device, which the host cannot touch.
class EmulatedMemory {
 public:
  using memory_space = EmulatedMemory;
  using execution_space = EmulatedDevice;
  using device_type = Kokkos::Device<EmulatedDevice, EmulatedMemory>;
  using size_type = std::size_t;

  /// Allocates on the calling thread's device. The first `bytes - device_bytes` are Kokkos' own, and the host's.
  void* allocate(const char* label, std::size_t bytes, std::size_t device_bytes) const;
  /// On the queue's device.
  void* allocate(const EmulatedDevice& space, const char* label, std::size_t bytes, std::size_t device_bytes) const;
  template <class Execution>
  void* allocate(const Execution& /*space*/, const char* label, std::size_t bytes, std::size_t device_bytes) const {
    return allocate(label, bytes, device_bytes);
  }
  void deallocate(const char* label, void* memory, std::size_t bytes, std::size_t device_bytes) const;
  static constexpr const char* name() { return "Emulated"; }
};

/// A queue of an emulated device. Work that is given to it is done later, by the queue's own thread.
class EmulatedDevice {
 public:
  using execution_space = EmulatedDevice;
  using memory_space = EmulatedMemory;
  using device_type = Kokkos::Device<EmulatedDevice, EmulatedMemory>;
  using size_type = std::size_t;
  using array_layout = Kokkos::LayoutLeft;
  using scratch_memory_space = Kokkos::ScratchMemorySpace<EmulatedDevice>;

  /// The queue of the device that Kokkos was initialised with.
  EmulatedDevice();
  explicit EmulatedDevice(std::shared_ptr<emulated::Queue> queue) : queue_(std::move(queue)) {}

  emulated::Queue& queue() const { return *queue_; }
  void fence(const std::string& label = "") const;
  /// Gives work to the queue, with the label that Kokkos was told.
  void give(std::function<void()> work) const;

  int concurrency() const { return 2048; }
  void print_configuration(std::ostream& stream, bool detail = false) const;
  static const char* name() { return "Emulated"; }
  friend bool operator==(const EmulatedDevice&, const EmulatedDevice&) = default;

  std::uint32_t impl_instance_id() const noexcept;
  static void impl_initialize(const Kokkos::InitializationSettings& settings);
  static bool impl_is_initialized();
  static void impl_finalize();
  static void impl_static_fence(const std::string& label);

 private:
  std::shared_ptr<emulated::Queue> queue_;
};

namespace emulated {

/// @throws std::runtime_error, as Kokkos does, for a team that the device cannot run
void check_team(int team_size, int lanes, std::size_t scratch_bytes);
/// Calls `run(i)` for pieces of [0, count), in an order that the seed chooses.
void in_any_order(std::int64_t count, const std::function<void(std::int64_t)>& run);
/// A number for each team that the seed chooses.
std::uint64_t order_of_team(int league_rank);
/// On the queue.
void copy(const EmulatedDevice& space, void* to, const void* from, std::size_t bytes);
/// Waits for all queues before, and for the copy.
void copy_and_wait(void* to, const void* from, std::size_t bytes);

template <class Execution>
void copy_in_order(const Execution& space, void* to, const void* from, std::size_t bytes) {
  if constexpr (std::is_same_v<Execution, EmulatedDevice>) {
    copy(space, to, from, bytes);
  } else {
    space.fence();
    copy_and_wait(to, from, bytes);
  }
}

}  // namespace emulated

/// One lane of one thread of a team. As on a GPU every lane runs all of the kernel but what is in vector loops.
class EmulatedMember {
 public:
  using execution_space = EmulatedDevice;
  using scratch_memory_space = EmulatedDevice::scratch_memory_space;
  using team_handle = EmulatedMember;

  struct Place {
    int league_rank = 0, league_size = 1, team_size = 1, lanes = 1;
    void* scratch[2] = {nullptr, nullptr};
    std::size_t scratch_bytes[2] = {0, 0};
  };

  EmulatedMember(emulated::Team& team, const Place& place, int thread, int lane)
      : team_(&team),
        place_(place),
        thread_(thread),
        lane_(lane),
        scratch_(place.scratch[0], place.scratch_bytes[0], place.scratch[1], place.scratch_bytes[1]) {}

  int league_rank() const { return place_.league_rank; }
  int league_size() const { return place_.league_size; }
  int team_rank() const { return thread_; }
  int team_size() const { return place_.team_size; }
  int lane() const { return lane_; }
  int lanes() const { return place_.lanes; }

  const scratch_memory_space& team_scratch(int level) const { return scratch_.set_team_thread_mode(level, 1, 0); }

  void team_barrier() const { team_->team_barrier(); }
  void lane_barrier() const {
    if (place_.lanes > 1) team_->lane_barrier();
  }

  /// Of what the lanes of this thread have.
  template <class Value>
  Value sum_of_lanes(const Value& own) const {
    static_assert(most_lanes * sizeof(Value) <= emulated::Team::bytes_per_thread);
    auto* const of_lanes = reinterpret_cast<Value*>(team_->shared(thread_));
    of_lanes[lane_] = own;
    lane_barrier();
    Value sum = of_lanes[0];
    for (int lane = 1; lane < place_.lanes; ++lane) sum += of_lanes[lane];
    lane_barrier();
    return sum;
  }

 private:
  static constexpr std::size_t most_lanes = 32;

  emulated::Team* team_;
  Place place_;
  int thread_, lane_;
  scratch_memory_space scratch_;
};

}  // namespace steelyard

KOKKOS_IMPL_SHARED_ALLOCATION_SPECIALIZATION(steelyard::EmulatedMemory);

namespace Kokkos {
namespace Tools::Experimental {

template <>
struct DeviceTypeTraits<steelyard::EmulatedDevice> {
  static constexpr DeviceType id = DeviceType::Unknown;
  static int device_id(const steelyard::EmulatedDevice& space);
};

}  // namespace Tools::Experimental

namespace Experimental {

/// Returns as many queues of the same device as there are weights.
std::vector<steelyard::EmulatedDevice> partition_space(const steelyard::EmulatedDevice& space,
                                                       const std::vector<int>& weights);

}  // namespace Experimental

namespace Impl {

template <>
struct MemorySpaceAccess<HostSpace, steelyard::EmulatedMemory> {
  enum : bool { assignable = false, accessible = false, deepcopy = true };
};
template <>
struct MemorySpaceAccess<steelyard::EmulatedMemory, HostSpace> {
  enum : bool { assignable = false, accessible = false, deepcopy = true };
};

/// The check at each access of a View takes kernels of the emulated device for code of the host; pages do its work.
template <class Access>
struct RuntimeCheckViewMemoryAccessViolation<steelyard::EmulatedMemory, Access, false> {
  template <class Track, class Map>
  RuntimeCheckViewMemoryAccessViolation(const char* /*message*/, const Track& /*track*/, const Map& /*map*/) {}
};

template <>
struct ZeroMemset<steelyard::EmulatedDevice> {
  ZeroMemset(const steelyard::EmulatedDevice& space, void* to, std::size_t bytes) {
    space.give([to, bytes] { std::memset(to, 0, bytes); });
  }
};

template <class Execution>
struct DeepCopy<steelyard::EmulatedMemory, steelyard::EmulatedMemory, Execution> {
  DeepCopy(void* to, const void* from, std::size_t bytes) { steelyard::emulated::copy_and_wait(to, from, bytes); }
  DeepCopy(const Execution& space, void* to, const void* from, std::size_t bytes) {
    steelyard::emulated::copy_in_order(space, to, from, bytes);
  }
};
template <class Execution>
struct DeepCopy<steelyard::EmulatedMemory, HostSpace, Execution>
    : DeepCopy<steelyard::EmulatedMemory, steelyard::EmulatedMemory, Execution> {
  using DeepCopy<steelyard::EmulatedMemory, steelyard::EmulatedMemory, Execution>::DeepCopy;
};
template <class Execution>
struct DeepCopy<HostSpace, steelyard::EmulatedMemory, Execution>
    : DeepCopy<steelyard::EmulatedMemory, steelyard::EmulatedMemory, Execution> {
  using DeepCopy<steelyard::EmulatedMemory, steelyard::EmulatedMemory, Execution>::DeepCopy;
};

template <class Functor, class... Traits>
class ParallelFor<Functor, RangePolicy<Traits...>, steelyard::EmulatedDevice> {
 public:
  using Policy = RangePolicy<Traits...>;
  ParallelFor(const Functor& functor, const Policy& policy) : functor_(functor), policy_(policy) {}

  void execute() const {
    policy_.space().give([functor = functor_, begin = policy_.begin(), end = policy_.end()] {
      using Index = typename Policy::member_type;
      constexpr std::int64_t piece = 256;
      const auto count = static_cast<std::int64_t>(end - begin);
      steelyard::emulated::in_any_order((count + piece - 1) / piece, [&](std::int64_t number) {
        const Index last = begin + static_cast<Index>(std::min(count, (number + 1) * piece));
        for (Index i = begin + static_cast<Index>(number * piece); i < last; ++i) {
          if constexpr (std::is_void_v<typename Policy::work_tag>) {
            functor(i);
          } else {
            functor(typename Policy::work_tag(), i);
          }
        }
      });
    });
  }

 private:
  const Functor functor_;
  const Policy policy_;
};

/// To a result in host memory, for which it waits.
template <class FunctorReducer, class... Traits>
class ParallelReduce<FunctorReducer, RangePolicy<Traits...>, steelyard::EmulatedDevice> {
 public:
  using Policy = RangePolicy<Traits...>;
  using Value = typename FunctorReducer::reducer_type::value_type;

  template <class Result>
  ParallelReduce(const FunctorReducer& functor, const Policy& policy, const Result& result)
      : functor_(functor), policy_(policy), result_(result.data()) {}

  void execute() const {
    Value total;
    functor_.get_reducer().init(&total);
    policy_.space().give([this, &total] {
      steelyard::emulated::in_any_order(
          static_cast<std::int64_t>(policy_.end() - policy_.begin()), [&](std::int64_t i) {
            functor_.get_functor()(policy_.begin() + static_cast<typename Policy::member_type>(i), total);
          });
    });
    policy_.space().fence();
    *result_ = total;
  }

 private:
  const FunctorReducer functor_;
  const Policy policy_;
  Value* const result_;
};

template <class Functor, class... Traits>
class ParallelFor<Functor, MDRangePolicy<Traits...>, steelyard::EmulatedDevice> {
 public:
  using Policy = MDRangePolicy<Traits...>;
  ParallelFor(const Functor& functor, const Policy& policy) : functor_(functor), policy_(policy) {}

  template <class AnyPolicy, class AnyFunctor>
  static int max_tile_size_product(const AnyPolicy& /*policy*/, const AnyFunctor& /*functor*/) {
    return 1024;
  }
  void execute() const {
    policy_.m_space.give([functor = functor_, policy = policy_] {
      const HostIterateTile<Policy, Functor, typename Policy::work_tag, void> iterate(policy, functor);
      steelyard::emulated::in_any_order(static_cast<std::int64_t>(policy.m_num_tiles), [&](std::int64_t tile) {
        iterate(static_cast<typename Policy::index_type>(tile));
      });
    });
  }

 private:
  const Functor functor_;
  const Policy policy_;
};

template <class... Properties>
class TeamPolicyInternal<steelyard::EmulatedDevice, Properties...> : public PolicyTraits<Properties...> {
 public:
  using execution_policy = TeamPolicyInternal;
  using execution_space = steelyard::EmulatedDevice;
  using traits = PolicyTraits<Properties...>;
  using member_type = steelyard::EmulatedMember;

  TeamPolicyInternal(const execution_space& space, int league_size, int team_size, int lanes = 1)
      : space_(space), league_size_(league_size), team_size_(team_size), lanes_(lanes) {}

  const execution_space& space() const { return space_; }
  int league_size() const { return league_size_; }
  int team_size() const { return team_size_; }
  int impl_vector_length() const { return lanes_; }
  bool impl_auto_team_size() const { return false; }
  bool impl_auto_vector_length() const { return false; }
  std::size_t scratch_size(int level, int /*team_size*/ = 0) const { return scratch_bytes_[level]; }
  TeamPolicyInternal& set_scratch_size(const int& level, const PerTeamValue& per_team) {
    scratch_bytes_[level] = static_cast<std::size_t>(per_team.value);
    return *this;
  }

 private:
  execution_space space_;
  int league_size_, team_size_, lanes_;
  std::size_t scratch_bytes_[2] = {0, 0};
};

template <class Functor, class... Properties>
class ParallelFor<Functor, TeamPolicy<Properties...>, steelyard::EmulatedDevice> {
 public:
  using Policy = TeamPolicyInternal<steelyard::EmulatedDevice, Properties...>;
  using Member = steelyard::EmulatedMember;

  ParallelFor(const Functor& functor, const Policy& policy) : functor_(functor), policy_(policy) {
    steelyard::emulated::check_team(policy.team_size(), policy.impl_vector_length(), policy.scratch_size(0));
  }

  void execute() const {
    policy_.space().give([functor = functor_, league_size = policy_.league_size(), team_size = policy_.team_size(),
                          lanes = policy_.impl_vector_length(), near = policy_.scratch_size(0),
                          far = policy_.scratch_size(1)] {
      steelyard::emulated::Team& team = steelyard::emulated::team_of_this_thread();
      steelyard::emulated::in_any_order(league_size, [&](std::int64_t rank) {
        std::byte* const scratch = team.scratch(near + far);
        const Member::Place place{static_cast<int>(rank),    league_size, team_size, lanes,
                                  {scratch, scratch + near}, {near, far}};
        team.run(team_size, lanes, steelyard::emulated::order_of_team(static_cast<int>(rank)),
                 [&](int thread, int lane) { functor(Member(team, place, thread, lane)); });
      });
    });
  }

 private:
  const Functor functor_;
  const Policy policy_;
};

template <>
struct is_thread_team_member<steelyard::EmulatedMember> : std::true_type {};

template <class Index>
struct ThreadVectorRangeBoundariesStruct<Index, steelyard::EmulatedMember> {
  using index_type = Index;
  ThreadVectorRangeBoundariesStruct(const steelyard::EmulatedMember& member_, Index count)
      : ThreadVectorRangeBoundariesStruct(member_, 0, count) {}
  ThreadVectorRangeBoundariesStruct(const steelyard::EmulatedMember& member_, Index begin, Index end_)
      : member(member_), start(begin), end(end_) {}

  const steelyard::EmulatedMember& member;
  const Index start, end;
};

}  // namespace Impl

template <class Index, class Closure>
void parallel_for(const Impl::TeamThreadRangeBoundariesStruct<Index, steelyard::EmulatedMember>& range,
                  const Closure& closure) {
  for (Index i = range.start; i < range.end; ++i) closure(i);
}

/// Lane by lane; as on a GPU none goes on before all have done their part.
template <class Index, class Closure>
void parallel_for(const Impl::ThreadVectorRangeBoundariesStruct<Index, steelyard::EmulatedMember>& range,
                  const Closure& closure) {
  const auto lane = static_cast<Index>(range.member.lane()), lanes = static_cast<Index>(range.member.lanes());
  for (Index i = range.start + lane; i < range.end; i += lanes) closure(i);
  range.member.lane_barrier();
}

/// The sum over the lanes, the same on all of them: in the order of the lanes, whatever theirs is.
template <class Index, class Closure, class Value>
void parallel_reduce(const Impl::ThreadVectorRangeBoundariesStruct<Index, steelyard::EmulatedMember>& range,
                     const Closure& closure, Value& total) {
  const steelyard::EmulatedMember& member = range.member;
  const auto lane = static_cast<Index>(member.lane()), lanes = static_cast<Index>(member.lanes());
  Value partial{};
  for (Index i = range.start + lane; i < range.end; i += lanes) closure(i, partial);
  total = member.sum_of_lanes(partial);
}

template <class Closure>
void single(const Impl::VectorSingleStruct<steelyard::EmulatedMember>& once, const Closure& closure) {
  if (once.team_member.lane() == 0) closure();
  once.team_member.lane_barrier();
}
template <class Closure>
void single(const Impl::ThreadSingleStruct<steelyard::EmulatedMember>& once, const Closure& closure) {
  if (once.team_member.team_rank() == 0 && once.team_member.lane() == 0) closure();
}

}  // namespace Kokkos
