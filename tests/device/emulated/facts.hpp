#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace steelyard::emulated {

/// What a program can forget.
enum class Mistake { none, fence, event, copy, barrier };

/// What the emulated device pretends to be: STEELYARD_EMULATED_DEVICE=memory=64MiB,devices=2,scratch=48KiB,seed=7
struct Facts {
  double memory_bytes = 1073741824.0;     ///< `memory`, of each device
  int devices = 1;                        ///< `devices`
  std::size_t scratch_bytes = 48 * 1024;  ///< `scratch`, of a team
  std::uint64_t seed = 1;                 ///< `seed` of delays and orders; 0: neither, and work starts when it is given
  Mistake lost = Mistake::none;           ///< `lose=fence|event|copy|barrier`: the device takes all of them for nothing
  bool mpi_aware = false;                 ///< `mpi=aware`: MPI takes device memory, which the host can then touch
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

}  // namespace steelyard::emulated
