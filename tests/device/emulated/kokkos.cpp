#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <ostream>
#include <random>
#include <stdexcept>
#include <vector>

#define KOKKOS_IMPL_PUBLIC_INCLUDE
#include <impl/Kokkos_ExecSpaceManager.hpp>
#include <impl/Kokkos_SharedAlloc_timpl.hpp>
#undef KOKKOS_IMPL_PUBLIC_INCLUDE

#include "tests/device/emulated/calls.hpp"
#include "tests/device/emulated/facts.hpp"
#include "tests/device/emulated/kokkos.hpp"
#include "tests/device/emulated/queue.hpp"

KOKKOS_IMPL_SHARED_ALLOCATION_RECORD_EXPLICIT_INSTANTIATION(steelyard::EmulatedMemory);

namespace steelyard {
namespace {

/// The queue that EmulatedDevice() stands for, from Kokkos' start to its end.
std::shared_ptr<emulated::Queue>& default_queue() {
  static std::shared_ptr<emulated::Queue> queue;
  return queue;
}

/// Has Kokkos start, fence and end the emulated device with its own spaces, and tell it the labels of kernels, unless a
/// tool asks for these. Otherwise Kokkos would fence before it tells them, and no program could forget to.
const bool registered = [] {
  Kokkos::Impl::initialize_space_factory<EmulatedDevice>("400_Emulated");
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback(
      [](const char* label, std::uint32_t /*device*/, std::uint64_t* /*kernel*/) { emulated::name_next_work(label); });
  tools::set_request_tool_settings_callback(
      [](std::uint32_t /*count*/, Kokkos_Tools_ToolSettings* own) { own->requires_global_fencing = false; });
  return true;
}();

}  // namespace

void* EmulatedMemory::allocate(const EmulatedDevice& space, const char* label, std::size_t bytes,
                               std::size_t device_bytes) const {
  const emulated::SelectedDevice of_queue(space.queue().device());
  return allocate(label, bytes, device_bytes);
}

void* EmulatedMemory::allocate(const char* label, std::size_t bytes, std::size_t device_bytes) const {
  try {
    const std::size_t header_bytes = bytes - device_bytes;
    auto* const memory = static_cast<std::byte*>(emulated::allocate(label, header_bytes, device_bytes)) - header_bytes;
    if (Kokkos::Tools::profileLibraryLoaded()) {
      Kokkos::Tools::allocateData(Kokkos::Tools::make_space_handle(name()), label, memory, device_bytes);
    }
    return memory;
  } catch (const std::bad_alloc&) {
    Kokkos::Impl::throw_bad_alloc(name(), bytes, label);
  }
}

void EmulatedMemory::deallocate(const char* label, void* memory, std::size_t bytes, std::size_t device_bytes) const {
  if (Kokkos::Tools::profileLibraryLoaded()) {
    Kokkos::Tools::deallocateData(Kokkos::Tools::make_space_handle(name()), label, memory, device_bytes);
  }
  emulated::deallocate(static_cast<std::byte*>(memory) + (bytes - device_bytes));
}

EmulatedDevice::EmulatedDevice() : queue_(default_queue()) {}

void EmulatedDevice::fence(const std::string& /*label*/) const {
  if (!emulated::loses(emulated::Mistake::fence)) queue_->wait();
}
void EmulatedDevice::give(std::function<void()> work) const { queue_->give("", std::move(work)); }
std::uint32_t EmulatedDevice::impl_instance_id() const noexcept { return queue_->number(); }

void EmulatedDevice::impl_initialize(const Kokkos::InitializationSettings& settings) {
  emulated::select_device(settings.has_device_id() ? settings.get_device_id() : 0);
  default_queue() = std::make_shared<emulated::Queue>(emulated::selected_device());
}
void EmulatedDevice::impl_finalize() { default_queue().reset(); }
void EmulatedDevice::impl_static_fence(const std::string& /*label*/) { emulated::Queue::wait_for_all(); }
bool EmulatedDevice::impl_is_initialized() { return default_queue() != nullptr; }

void EmulatedDevice::print_configuration(std::ostream& stream, bool /*detail*/) const {
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
  space.queue().give_copy(to, from, bytes, [to, from, bytes] { std::memcpy(to, from, bytes); });
}

void copy_and_wait(void* to, const void* from, std::size_t bytes) {
  Queue::wait_for_all();
  const MemoryAccess access(selected_device());
  std::memcpy(to, from, bytes);
}

}  // namespace emulated
}  // namespace steelyard

namespace Kokkos {

int Tools::Experimental::DeviceTypeTraits<steelyard::EmulatedDevice>::device_id(
    const steelyard::EmulatedDevice& space) {
  return space.queue().device();
}

std::vector<steelyard::EmulatedDevice> Experimental::partition_space(const steelyard::EmulatedDevice& space,
                                                                     const std::vector<int>& weights) {
  std::vector<steelyard::EmulatedDevice> queues;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    queues.emplace_back(std::make_shared<steelyard::emulated::Queue>(space.queue().device()));
  }
  return queues;
}

}  // namespace Kokkos
