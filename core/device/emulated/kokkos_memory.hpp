#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <string>

// The emulated device's memory as a memory space of Kokkos 3.4, through what Kokkos has for its own back ends.

namespace steelyard {

class EmulatedDevice;

/// Memory of an emulated device, which the host cannot touch.
class EmulatedMemory {
 public:
  using memory_space = EmulatedMemory;
  using execution_space = EmulatedDevice;
  using device_type = Kokkos::Device<EmulatedDevice, EmulatedMemory>;
  using size_type = std::size_t;

  /// Of the calling thread's device. The first `bytes - device_bytes` are Kokkos' own, and the host's.
  void* allocate(const char* label, std::size_t bytes, std::size_t device_bytes) const;
  void deallocate(const char* label, void* memory, std::size_t bytes, std::size_t device_bytes) const;
  static constexpr const char* name() { return "Emulated"; }
};

}  // namespace steelyard

namespace Kokkos::Impl {

template <>
struct MemorySpaceAccess<HostSpace, steelyard::EmulatedMemory> {
  enum : bool { assignable = false };
  enum : bool { accessible = false };
  enum : bool { deepcopy = true };
};
template <>
struct MemorySpaceAccess<steelyard::EmulatedMemory, HostSpace> {
  enum : bool { assignable = false };
  enum : bool { accessible = false };
  enum : bool { deepcopy = true };
};

/// The check at each access of a View takes kernels of the emulated device for code of the host; pages do its work.
template <>
struct verify_space<HostSpace, steelyard::EmulatedMemory, false> {
  static void check() {}
};

template <>
class SharedAllocationRecord<steelyard::EmulatedMemory, void>
    : public SharedAllocationRecordCommon<steelyard::EmulatedMemory> {
 private:
  friend class SharedAllocationRecordCommon<steelyard::EmulatedMemory>;
  using Common = SharedAllocationRecordCommon<steelyard::EmulatedMemory>;
  using RecordBase = SharedAllocationRecord<void, void>;

  const steelyard::EmulatedMemory m_space;

 protected:
  ~SharedAllocationRecord();
  SharedAllocationRecord(const steelyard::EmulatedMemory& space, const std::string& label, std::size_t bytes,
                         RecordBase::function_type release = &Common::deallocate);
};

}  // namespace Kokkos::Impl
