#pragma once

#include <cstddef>

namespace steelyard::emulated {

/// Memory of the calling thread's device, filled with what is no number. The `header_bytes` before it belong to the
/// host, which cannot touch the memory itself: that ends the program, with the label of the memory on standard error.
/// @throws std::bad_alloc where the device has no more
void* allocate(const char* label, std::size_t header_bytes, std::size_t bytes);

/// Waits for all work first, as the vendors' calls do. @param memory of allocate()
void deallocate(void* memory);

/// Bytes that this process has allocated on a device.
std::size_t allocated_bytes(int device);

/// Labels of copies between the host's memory and that of devices.
inline constexpr const char *copy_to_device = "copy to the device", *copy_to_host = "copy to the host",
                            *copy_on_device = "copy on the device";
const char* copy_label(const void* to, const void* from);

/// While one lives, the memory of a device can be touched: by its own kernels and copies.
class MemoryAccess {
 public:
  explicit MemoryAccess(int device);
  ~MemoryAccess();
  MemoryAccess(const MemoryAccess&) = delete;
  MemoryAccess& operator=(const MemoryAccess&) = delete;

 private:
  int device_;
};

}  // namespace steelyard::emulated
