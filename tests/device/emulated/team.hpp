#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace steelyard::emulated {

/// Runs the lanes of one team of a kernel after the other on the calling thread, each until its next barrier. Which
/// lane goes first is for the seed to say and changes at every barrier, so that one that is missing shows.
class Team {
 public:
  Team();
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Calls `body(thread, lane)` for all lanes of all threads. A barrier that some do not reach ends the program.
  void run(int threads, int lanes, std::uint64_t order, const std::function<void(int, int)>& body);
  /// To be called by the body: goes on when all lanes of all threads are here.
  void team_barrier();
  /// The same for the lanes of one thread.
  void lane_barrier();

  /// Memory that the team's lanes share: as many bytes for each thread, for reductions.
  static constexpr std::size_t bytes_per_thread = 256;
  std::byte* shared(int thread);
  /// Scratch memory of at least so many bytes, filled with what is no number.
  std::byte* scratch(std::size_t bytes);

 private:
  class Lanes;
  std::unique_ptr<Lanes> lanes_;
};

/// That of the calling thread.
Team& team_of_this_thread();

}  // namespace steelyard::emulated
