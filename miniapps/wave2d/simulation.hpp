#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "comm/device_aware.hpp"
#include "comm/halo_exchange.hpp"
#include "core/untouched_array.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/wave2d/problem.hpp"
#include "miniapps/wave2d/unit_field.hpp"
#include "partition/rectangle.hpp"

namespace steelyard::wave2d {

/// Seconds that a rank spent in the parts of its passes.
struct StepTimes {
  double kernels_s = 0.0;     ///< until the slower unit is done: borders with packing, and interior
  double exchange_s = 0.0;    ///< starting messages and waiting for them
  UnitSeconds unit_s;         ///< of each unit's own work, with what an emulated slowdown adds
  PerUnit<UnitTimes> phases;  ///< the same by phase, without what a slowdown adds
};

/// The wave equation on one rank's units, and its part of the exchange with the other ranks. Per pass of some steps
/// (003, algorithm 5): borders on both units, exchange started, interior on both units, exchange finished.
template <class Scalar>
class Simulation {
 public:
  /// Fills a rectangle of a level, row after row without gaps.
  using Source = std::function<void(Level level, const partition::Rectangle& part, std::span<Scalar> values)>;
  /// Gets rectangles of the current level, some rows at a time.
  using Sink = std::function<void(const partition::Rectangle& part, std::span<const Scalar> values)>;
  /// Is called between two passes with the seconds of this rank's units in the last one, and the steps that are left.
  using BetweenPasses = std::function<void(const UnitSeconds& pass_s, std::int64_t steps_left)>;

  /// @param rectangles of every slot; together they cover the grid once
  /// @param time_tile steps per pass
  Simulation(Frame& frame, const Problem& problem, const std::vector<partition::Rectangle>& rectangles, int time_tile,
             Overlap overlap);

  /// Sets both levels, halos included.
  void load(const Source& source);
  /// Hands out what this rank owns of the current level, a unit's rows in order.
  void store(const Sink& sink) const;
  /// Collective. @param between_passes may call redistribute()
  StepTimes advance(std::int64_t steps, const BetweenPasses& between_passes = {});
  /// Gives the units other rectangles and moves both levels to their new owners, through host memory; needs room for
  /// what a rank owned besides what it owns then. Collective; returns this rank's seconds.
  /// @throws CollectiveError where memory is short
  double redistribute(const std::vector<partition::Rectangle>& rectangles);

 private:
  using Kind = ProcessingUnit::Kind;
  using Pinned = UntouchedArray<Scalar, PinnedMemory>;
  using DeviceMemory = Kokkos::View<Scalar*, DeviceOf<CompanionExecution>>;
  using Buffers = std::vector<HaloBuffer<Scalar>>;
  /// Of one unit: what it packs in a pass, and what it takes in the next one.
  struct UnitBuffers {
    Buffers leaving;
    Buffers arrived;
  };
  /// Part of a level that goes from its old owner to a unit that owns it now or reads it.
  struct Piece {
    Slot from;
    Slot to;
    Level level = Level::current;
    partition::Rectangle part;
    Pinned memory = {};
  };

  void allocate(const std::vector<partition::Rectangle>& rectangles);
  void connect();
  Scalar* allocate_buffer(std::int64_t points, Home home);
  std::vector<Piece> pieces_to_move(const std::vector<partition::Rectangle>& rectangles) const;
  void exchange_pieces(const std::vector<Piece>& pieces) const;
  UnitSeconds advance_pass(int steps, StepTimes& times);

  /// Calls `use(unit)` for this rank's unit of a kind, where it has points.
  template <class Use>
  void with_unit(Kind kind, const Use& use) {
    if (kind == Kind::host && host_) use(*host_);
    if (kind == Kind::companion && companion_) use(*companion_);
  }

  Frame& frame_;
  Problem problem_;
  int time_tile_;
  Overlap overlap_;
  std::vector<partition::Rectangle> rectangles_;  ///< of every slot
  std::vector<HaloMessage> messages_;
  std::optional<UnitField<HostExecution, Scalar>> host_;
  std::optional<UnitField<CompanionExecution, Scalar>> companion_;
  bool reaches_device_ = mpi_takes_device_memory();
  std::vector<Pinned> memory_;
  std::vector<DeviceMemory> device_memory_;
  std::array<PerUnit<UnitBuffers>, 2> buffers_;  ///< by parity of the pass
  std::vector<HaloExchange> exchanges_;          ///< by parity of the pass
  bool halos_are_stale_ = false;
  std::size_t parity_ = 0;
};

}  // namespace steelyard::wave2d
