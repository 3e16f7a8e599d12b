#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "comm/mpi_check.hpp"
#include "comm/unit_exchange.hpp"
#include "core/co_execution.hpp"
#include "core/timing.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/wave2d/unit_field.hpp"

namespace steelyard::wave2d {

/// Seconds that a rank spent in the parts of its passes.
struct StepTimes {
  double kernels_s = 0.0;     ///< of the unit that drives MPI, outside the exchange; it waits for the other's border
  double exchange_s = 0.0;    ///< starting messages and waiting for them
  UnitSeconds unit_s;         ///< of each unit's own work, with what an emulated slowdown adds
  PerUnit<UnitTimes> phases;  ///< the same by phase, without what a slowdown adds
};

/// The wave equation on the units of all ranks.
template <class Scalar>
class Simulation {
 public:
  using Rectangle = partition::Rectangle;
  /// Fills a rectangle of a level, row after row without gaps; both units of a rank call it at the same time.
  using Source = std::function<void(Level level, const Rectangle& part, std::span<Scalar> values)>;
  /// Gets rectangles of the current level, some rows at a time.
  using Sink = std::function<void(const Rectangle& part, std::span<const Scalar> values)>;
  /// Is called between two passes with the seconds of this rank's units in the last one, and the steps that are left.
  /// @return whether the passes go on
  using BetweenPasses = std::function<bool(const UnitSeconds& pass_s, std::int64_t steps_left)>;

  /// @param rectangles of every slot; together they cover the grid once
  /// @param time_tile steps per pass
  Simulation(Frame& frame, const Problem& problem, const std::vector<Rectangle>& rectangles, int time_tile,
             Overlap overlap)
      : frame_(frame),
        group_(frame.comm(), frame.co_execution(), frame.units(), frame.slots()),
        problem_(problem),
        time_tile_(time_tile),
        overlap_(overlap) {
    allocate(rectangles);
  }

  /// Whether halos leave from a device's memory on some rank. Collective.
  bool has_direct_halos() const { return frame_.max(halos_->uses_device_memory() ? 1.0 : 0.0) > 0.0; }

  /// Sets both levels, halos included.
  void load(const Source& source) {
    group_.run([&](const auto& peer) {
      auto& unit = units_[peer];
      for (const Level level : {Level::previous, Level::current}) {
        for_staged_rows(unit.held(), [&](const Rectangle& part, std::span<Scalar> values) {
          source(level, part, values);
          unit.load(level, part, values.data());
        });
      }
    });
    halos_->forget();
  }

  /// Hands out this rank's own points of a level, a unit's rows in order.
  void store(const Sink& sink, Level level = Level::current) const {
    units_.for_each([&](const auto& unit) {
      for_staged_rows(unit.owned(), [&](const Rectangle& part, std::span<Scalar> values) {
        unit.store(level, part, values.data());
        sink(part, values);
      });
    });
  }

  /// Collective. @param between_passes may call redistribute()
  StepTimes advance(std::int64_t steps, const BetweenPasses& between_passes = {}) {
    StepTimes times;
    const std::int64_t at_once = between_passes ? time_tile_ : steps;
    for (std::int64_t done = 0; done < steps;) {
      const std::int64_t now = std::min(steps - done, at_once);
      const UnitSeconds seconds = advance_passes(done, now, times);
      done += now;
      if (done < steps && !between_passes(seconds, steps - done)) break;
    }
    return times;
  }

  /// Gives the units other rectangles and moves both levels to their new owners, through host memory; needs memory
  /// for a rank's old rectangles besides its new ones. Collective; returns this rank's seconds.
  /// @throws CollectiveError where memory is short
  double redistribute(const std::vector<Rectangle>& rectangles) {
    const double start_s = now_s();
    std::vector<Piece> pieces = pieces_to_move(rectangles);
    frame_.collectively([&] {
      for (Piece& piece : pieces) {
        piece.memory = Pinned("steelyard::wave2d::halo", static_cast<std::size_t>(piece.part.area()));
      }
      group_.run([&](const auto& peer) {
        for (const Piece& piece : pieces) {
          if (piece.from == peer.slot()) units_[peer].store(piece.level, piece.part, piece.memory.data());
        }
      });
      allocate(rectangles);
    });
    std::vector<UnitMessage> messages;
    for (const Piece& piece : pieces) {
      const std::int64_t bytes = piece.part.area() * static_cast<std::int64_t>(sizeof(Scalar));
      messages.push_back({piece.from, piece.to, bytes, {piece.memory.data()}});
    }
    UnitExchange exchange(group_, messages);
    group_.run([&](const auto& peer) {
      exchange.begin(peer.kind());
      exchange.finish(peer.kind());
      for (const Piece& piece : pieces) {
        if (piece.to == peer.slot()) units_[peer].load(piece.level, piece.part, piece.memory.data());
      }
    });
    return now_s() - start_s;
  }

 private:
  using Pinned = UntouchedArray<Scalar, PinnedMemory>;
  template <class Execution>
  using Unit = UnitField<Execution, Scalar>;
  /// Part of a level that goes from its old owner to a unit that owns it now or reads it; slots.
  struct Piece {
    int from = 0;
    int to = 0;
    Level level = Level::current;
    Rectangle part;
    Pinned memory = {};
  };

  /// Calls `use(part, values)` for some rows of a rectangle after the other, with host memory for these.
  template <class Use>
  static void for_staged_rows(const Rectangle& whole, const Use& use) {
    if (whole.empty()) return;
    constexpr std::int64_t staged_elements = (4 << 20) / sizeof(Scalar);
    const std::int64_t most = std::clamp<std::int64_t>(staged_elements / whole.columns, 1, whole.rows);
    const Pinned staging("steelyard::wave2d::halo", static_cast<std::size_t>(most * whole.columns));
    for (std::int64_t row = whole.row; row < whole.end_row(); row += most) {
      const Rectangle part{row, whole.column, std::min(most, whole.end_row() - row), whole.columns};
      use(part, std::span<Scalar>(staging.data(), static_cast<std::size_t>(part.area())));
    }
  }

  /// Each unit allocates on its own thread, for its own threads touch the memory first.
  void allocate(const std::vector<Rectangle>& rectangles) {
    rectangles_ = rectangles;
    group_.run([&](const auto& peer) {
      const Rectangle& owned = rectangles_[static_cast<std::size_t>(peer.slot())];
      units_.emplace(peer, problem_, owned, time_tile_, overlap_);
    });
    halos_.emplace(group_, halo_messages(problem_, rectangles_, time_tile_),
                   [&](double bytes) { return frame_.sends_from_device(bytes); });
  }

  /// Passes without a stop, each as 003 has them: borders on both units of a rank, exchange started, interior on both
  /// units, exchange finished. Adds to the times. Source: 003, algorithm 5.
  /// @param done steps before these
  UnitSeconds advance_passes(std::int64_t done, std::int64_t steps, StepTimes& times) {
    const double start_s = now_s();
    double exchange_s = 0.0;  // of the unit that drives MPI
    const UnitSeconds unit_s = group_.run([&](const auto& peer) {
      const auto kind = peer.kind();
      auto& unit = units_[peer];
      UnitTimes& phases = times.phases[kind];
      for (std::int64_t left = steps; left > 0; left -= time_tile_) {
        const int pass = static_cast<int>(std::min<std::int64_t>(left, time_tile_));
        const auto& arrived = halos_->arrived(kind);
        halos_->begin(kind);
        // Not compute(), whose fence a device's interior would have to end before.
        CoExecution::timed_section([&] { unit.begin(pass, arrived, halos_->leaving(kind), phases); });
        halos_->await_other(kind);
        if (frame_.options().barrier) barrier(kind);
        timed(kind, exchange_s, [&] {
          halos_->packed(kind);
          if (overlap_ == Overlap::full) return;
          // By all ranks, so that phases can be timed apart.
          halos_->finish(kind);
          barrier(kind);
        });
        CoExecution::timed_section([&] { unit.finish(pass, phases); });
        if (overlap_ == Overlap::full) timed(kind, exchange_s, [&] { halos_->finish(kind); });
        if (group_.drives(kind)) frame_.step_done(done + steps - left + pass, frame_.options().steps);
      }
    });
    times.exchange_s += exchange_s;
    times.kernels_s += now_s() - start_s - exchange_s;
    times.unit_s += unit_s;
    return unit_s;
  }

  /// Barrier of all ranks, called by the units that drive MPI.
  void barrier(ProcessingUnit::Kind kind) const {
    if (group_.drives(kind)) STEELYARD_MPI(MPI_Barrier(group_.comm()));
  }
  /// Adds the seconds of `work` on the unit that drives MPI.
  template <class Work>
  void timed(ProcessingUnit::Kind kind, double& sum_s, const Work& work) const {
    const double start_s = now_s();
    work();
    if (group_.drives(kind)) sum_s += now_s() - start_s;
  }

  /// Pieces that this rank sends or takes, in an order that all ranks have.
  std::vector<Piece> pieces_to_move(const std::vector<Rectangle>& rectangles) const {
    std::vector<Piece> pieces;
    const std::int64_t depth = halo_depth(problem_, time_tile_);
    const int slots = static_cast<int>(rectangles.size());
    for (int from = 0; from < slots; ++from) {
      for (int to = 0; to < slots; ++to) {
        if (rank_of(from) != group_.rank() && rank_of(to) != group_.rank()) continue;
        const Rectangle wanted = widened(problem_, rectangles[static_cast<std::size_t>(to)], depth);
        const Rectangle part = common_part(rectangles_[static_cast<std::size_t>(from)], wanted);
        if (part.empty()) continue;
        for (const Level level : {Level::previous, Level::current}) pieces.push_back({from, to, level, part});
      }
    }
    return pieces;
  }

  int rank_of(int slot) const { return group_.slots()[static_cast<std::size_t>(slot)].rank; }

  Frame& frame_;
  UnitGroup group_;
  Problem problem_;
  int time_tile_;
  Overlap overlap_;
  std::vector<Rectangle> rectangles_;  ///< of every slot
  UnitData<Unit> units_;
  std::optional<BufferedExchange<Scalar, HaloMessage>> halos_;
};

}  // namespace steelyard::wave2d
