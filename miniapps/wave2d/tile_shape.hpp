#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/device/device.hpp"
#include "miniapps/wave2d/problem.hpp"

namespace steelyard::wave2d {

/// How a back end cuts a range of points into tiles, one per team.
template <class Execution>
struct TileShape {
  static constexpr bool on_host = runs_on_host<Execution>;
  /// Rows that one thread advances together, so that each loaded row serves several of them.
  static constexpr int rows_per_thread = on_host ? 4 : 1;
  static constexpr int team_size = on_host ? 1 : 8;
  static constexpr int vector_length = on_host ? 1 : 32;
  /// Scratch memory: cache on a host, the device's shared memory.
  static constexpr int scratch_level = on_host ? 1 : 0;
  /// Rows that a team advances together.
  static constexpr int rows_per_front = rows_per_thread * team_size;

  /// Rows and bytes of the ring in which a team keeps the steps between the first and the last: two levels of as many
  /// rows as all steps span, as wide as the first one.
  static int ring_rows(int steps, int radius) { return rows_per_front + steps * radius; }
  static std::int64_t ring_bytes(std::int64_t columns, int steps, int radius, std::size_t scalar_bytes) {
    return std::int64_t{2} * ring_rows(steps, radius) * (columns + std::int64_t{2} * radius * (steps - 1)) *
               static_cast<std::int64_t>(scalar_bytes) +
           64;
  }

  /// Points of a row that a team writes: on a host whole rows in a plain sweep; a few steps' rows must fit into the
  /// cache that a core has for itself, and on a device into scratch memory. 0 where no tile does.
  static std::int64_t columns(int steps, int radius, std::size_t scalar_bytes) {
    if (on_host) return steps == 1 ? std::int64_t{1} << 40 : 1024;
    if (steps == 1) return 512;
    const std::int64_t most_scratch_bytes = team_scratch_bytes(team_size);
    std::int64_t columns = 128;
    while (columns > 0 && ring_bytes(columns, steps, radius, scalar_bytes) > most_scratch_bytes) columns -= 8;
    return columns;
  }
  /// The longest pass, in steps, for which there is a tile.
  static int most_steps(int radius, std::size_t scalar_bytes) {
    int steps = most_steps_per_pass;
    while (columns(steps, radius, scalar_bytes) == 0) --steps;
    return steps;
  }
  /// Rows that a team writes: few enough to occupy all threads, enough to make the rows that two teams both read or
  /// compute a small part. @param region_rows of all teams together
  static std::int64_t rows(int steps, int radius, std::int64_t region_rows, std::int64_t threads) {
    if (steps > 1) return std::int64_t{on_host ? 32 : 16} * steps * radius;
    if (!on_host) return std::int64_t{2} * rows_per_front;
    return std::clamp<std::int64_t>(region_rows / (3 * threads), 48, 256);
  }
};

}  // namespace steelyard::wave2d
