#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace steelyard::emulated {

/// What a program can forget.
enum class Mistake { none, fence, event, copy, barrier };

/// Properties of the emulated device: STEELYARD_EMULATED_DEVICE=memory=64MiB,devices=2,link=100MiB,seed=7
struct Facts {
  double memory_bytes = 1073741824.0;     ///< `memory`, of each device
  int devices = 1;                        ///< `devices`
  std::size_t scratch_bytes = 48 * 1024;  ///< `scratch`, of a team
  std::uint64_t seed = 1;                 ///< `seed` of delays and orders; 0: neither, and work starts when it is given
  Mistake lost = Mistake::none;           ///< `lose=fence|event|copy|barrier`: the device takes all of them for nothing
  std::uint64_t failing = 0;              ///< `fail=N`: the N-th work that this process gives to a queue; 0: none
  int failing_rank = -1;                  ///< `fail=N:R`, on rank R of Open MPI alone; -1: on all
  bool mpi_aware = false;                 ///< `mpi=aware`: MPI takes device memory, which the host can then touch
  double link_bytes_per_s = 0.0;          ///< `link` or `links`, in each direction; 0: as fast as the host copies
  bool shares_link = false;               ///< `link`: all devices have one together; with `links` each has its own
};

/// @throws InvalidArgument naming the word and what was expected
Facts parse_facts(const std::string& text);

/// Those of this process, from the environment. @throws InvalidArgument as parse_facts() does
const Facts& facts();

/// Whether the device does as if the program had not asked for this, for tests of what finds mistakes.
inline bool loses(Mistake what) { return facts().lost == what; }

/// The device of the calling thread: 0 until it selects another.
int selected_device();
/// @throws InvalidArgument for a device that is not there
void select_device(int device);

/// While one lives, the calling thread's device is this one.
class SelectedDevice {
 public:
  explicit SelectedDevice(int device) : before_(selected_device()) { select_device(device); }
  ~SelectedDevice() { select_device(before_); }
  SelectedDevice(const SelectedDevice&) = delete;
  SelectedDevice& operator=(const SelectedDevice&) = delete;

 private:
  int before_;
};

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
