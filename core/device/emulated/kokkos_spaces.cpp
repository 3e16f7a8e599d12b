#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <ostream>
#include <random>
#include <stdexcept>
#include <vector>

#include "core/device/emulated/facts.hpp"
#include "core/device/emulated/kokkos_execution.hpp"
#include "core/device/emulated/memory.hpp"
#include "core/device/emulated/queue.hpp"
#include "impl/Kokkos_SharedAlloc_timpl.hpp"

template class Kokkos::Impl::SharedAllocationRecordCommon<steelyard::EmulatedMemory>;

namespace Kokkos::Impl {

SharedAllocationRecord<steelyard::EmulatedMemory, void>::SharedAllocationRecord(const steelyard::EmulatedMemory& space,
                                                                                const std::string& label,
                                                                                std::size_t bytes,
                                                                                RecordBase::function_type release)
    : Common(
#ifdef KOKKOS_ENABLE_DEBUG
          nullptr,
#endif
          checked_allocation_with_header(space, label, bytes), sizeof(SharedAllocationHeader) + bytes, release),
      m_space(space) {
  Common::_fill_host_accessible_header_info(*RecordBase::m_alloc_ptr, label);
}

SharedAllocationRecord<steelyard::EmulatedMemory, void>::~SharedAllocationRecord() {
  m_space.deallocate(RecordBase::m_alloc_ptr->m_label, RecordBase::m_alloc_ptr, RecordBase::m_alloc_size,
                     RecordBase::m_alloc_size - sizeof(SharedAllocationHeader));
}

}  // namespace Kokkos::Impl

namespace steelyard {
namespace {

/// The queue that EmulatedDevice() stands for, from Kokkos' start to its end.
std::shared_ptr<emulated::Queue>& default_queue() {
  static std::shared_ptr<emulated::Queue> queue;
  return queue;
}

/// Has Kokkos start, fence and end the emulated device with its own spaces.
class Initializer : public Kokkos::Impl::ExecSpaceInitializerBase {
 public:
  void initialize(const Kokkos::InitArguments& arguments) final {
    emulated::select_device(std::max(arguments.device_id, 0));
    default_queue() = std::make_shared<emulated::Queue>(emulated::selected_device());
    if (!Kokkos::Tools::profileLibraryLoaded()) {
      Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
          [](const char* label, std::uint32_t /*device*/, std::uint64_t* /*kernel*/) {
            emulated::name_next_work(label);
          });
    }
  }
  void finalize(bool /*all_spaces*/) final { default_queue().reset(); }
  void fence() final { emulated::Queue::wait_for_all(); }
  void print_configuration(std::ostream& stream, bool detail) final {
    EmulatedDevice::print_configuration(stream, detail);
  }
};

const int registered = Kokkos::Impl::initialize_space_factory<Initializer>("400_Emulated");

}  // namespace

void* EmulatedMemory::allocate(const char* label, std::size_t bytes, std::size_t device_bytes) const {
  try {
    const std::size_t header_bytes = bytes - device_bytes;
    auto* const memory = static_cast<std::byte*>(emulated::allocate(label, header_bytes, device_bytes)) - header_bytes;
    if (Kokkos::Tools::profileLibraryLoaded()) {
      Kokkos::Tools::allocateData(Kokkos::Tools::make_space_handle(name()), label, memory, device_bytes);
    }
    return memory;
  } catch (const std::bad_alloc&) {
    throw Kokkos::Experimental::RawMemoryAllocationFailure(bytes, 1);
  }
}

void EmulatedMemory::deallocate(const char* label, void* memory, std::size_t bytes, std::size_t device_bytes) const {
  if (Kokkos::Tools::profileLibraryLoaded()) {
    Kokkos::Tools::deallocateData(Kokkos::Tools::make_space_handle(name()), label, memory, device_bytes);
  }
  emulated::deallocate(static_cast<std::byte*>(memory) + (bytes - device_bytes));
}

EmulatedDevice::EmulatedDevice() : queue_(default_queue()) {}

template <>
std::vector<EmulatedDevice> independent_instances<EmulatedDevice>(int count) {
  std::vector<EmulatedDevice> queues;
  const int device = EmulatedDevice().queue().device();
  for (int i = 0; i < count; ++i) queues.emplace_back(std::make_shared<emulated::Queue>(device));
  return queues;
}

void EmulatedDevice::fence() const {
  if (!emulated::loses(emulated::Mistake::fence)) queue_->wait();
}
void EmulatedDevice::give(std::function<void()> work) const { queue_->give("", std::move(work)); }
int EmulatedDevice::in_parallel() { return emulated::on_device() ? 1 : 0; }
std::uint32_t EmulatedDevice::impl_instance_id() const noexcept { return queue_->number(); }

bool EmulatedDevice::impl_is_initialized() { return default_queue() != nullptr; }

void EmulatedDevice::print_configuration(std::ostream& stream, bool /*detail*/) {
  const emulated::Facts& facts = emulated::facts();
  stream << fmt::format("emulated device: {} of {:.0f} MiB, {} bytes of scratch memory, seed {}\n", facts.devices,
                        facts.memory_bytes / 1048576.0, facts.scratch_bytes, facts.seed);
}

namespace emulated {

void check_team(int team_size, int lanes, std::size_t scratch_bytes) {
  constexpr int most_lanes = 32, most_threads = 1024;
  if (lanes < 1 || lanes > most_lanes || team_size < 1 || team_size * lanes > most_threads) {
    throw std::runtime_error(
        fmt::format("emulated device: a team of {} threads with {} lanes (expected at most {} lanes "
                    "and {} in all)",
                    team_size, lanes, most_lanes, most_threads));
  }
  // On a GPU Kokkos keeps some for reductions.
  const std::size_t needed = scratch_bytes + sizeof(double) * static_cast<std::size_t>(team_size + 2);
  if (needed > facts().scratch_bytes) {
    throw std::runtime_error(
        fmt::format("emulated device: a team wants {} bytes of scratch memory, {} with Kokkos' own "
                    "(expected at most {})",
                    scratch_bytes, needed, facts().scratch_bytes));
  }
}

void in_any_order(std::int64_t count, const std::function<void(std::int64_t)>& run) {
  thread_local std::mt19937_64 random(facts().seed);
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (facts().seed != 0) std::shuffle(order.begin(), order.end(), random);
  for (const std::int64_t i : order) run(i);
}

std::uint64_t order_of_team(int league_rank) {
  return facts().seed == 0 ? 0 : facts().seed * 31 + static_cast<std::uint64_t>(league_rank);
}

void copy(const EmulatedDevice& space, void* to, const void* from, std::size_t bytes) {
  if (loses(Mistake::copy)) return;
  space.queue().give(copy_label(to, from), [to, from, bytes] { std::memcpy(to, from, bytes); });
}

void copy_and_wait(void* to, const void* from, std::size_t bytes) {
  Queue::wait_for_all();
  const MemoryAccess access(selected_device());
  std::memcpy(to, from, bytes);
}

}  // namespace emulated
}  // namespace steelyard
