#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "comm/device_aware.hpp"
#include "comm/halo_exchange.hpp"
#include "comm/mpi_check.hpp"
#include "core/timing.hpp"
#include "core/untouched_array.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/wave2d/unit_field.hpp"

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
  using Rectangle = partition::Rectangle;
  /// Fills a rectangle of a level, row after row without gaps.
  using Source = std::function<void(Level level, const Rectangle& part, std::span<Scalar> values)>;
  /// Gets rectangles of the current level, some rows at a time.
  using Sink = std::function<void(const Rectangle& part, std::span<const Scalar> values)>;
  /// Is called between two passes with the seconds of this rank's units in the last one, and the steps that are left.
  using BetweenPasses = std::function<void(const UnitSeconds& pass_s, std::int64_t steps_left)>;

  /// @param rectangles of every slot; together they cover the grid once
  /// @param time_tile steps per pass
  Simulation(Frame& frame, const Problem& problem, const std::vector<Rectangle>& rectangles, int time_tile,
             Overlap overlap)
      : frame_(frame),
        rank_(frame.session().rank()),
        slots_(frame.slots()),
        problem_(problem),
        time_tile_(time_tile),
        overlap_(overlap) {
    allocate(rectangles);
    connect();
  }

  /// Sets both levels, halos included.
  void load(const Source& source) {
    const auto load_unit = [&](auto& unit) {
      for (const Level level : {Level::previous, Level::current}) {
        for_staged_pieces(unit.field().held(), [&](const Rectangle& part, std::span<Scalar> values) {
          source(level, part, values);
          unit.load(level, part, values.data());
        });
      }
    };
    if (host_) load_unit(*host_);
    if (companion_) load_unit(*companion_);
    halos_are_stale_ = false;
  }

  /// Hands out this rank's own points of the current level, a unit's rows in order.
  void store(const Sink& sink) const {
    const auto store_unit = [&](const auto& unit) {
      for_staged_pieces(unit.field().owned(), [&](const Rectangle& part, std::span<Scalar> values) {
        unit.store(Level::current, part, values.data());
        sink(part, values);
      });
    };
    if (host_) store_unit(*host_);
    if (companion_) store_unit(*companion_);
  }

  /// Collective. @param between_passes may call redistribute()
  StepTimes advance(std::int64_t steps, const BetweenPasses& between_passes = {}) {
    StepTimes times;
    while (steps > 0) {
      const int pass = static_cast<int>(std::min<std::int64_t>(steps, time_tile_));
      const UnitSeconds pass_s = advance_pass(pass, times);
      steps -= pass;
      if (between_passes && steps > 0) between_passes(pass_s, steps);
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
        if (piece.from.rank != rank_) continue;
        with_unit(piece.from.kind, [&](auto& unit) { unit.store(piece.level, piece.part, piece.memory.data()); });
      }
      allocate(rectangles);
    });
    exchange(pieces);
    for (const Piece& piece : pieces) {
      if (piece.to.rank != rank_) continue;
      with_unit(piece.to.kind, [&](auto& unit) { unit.load(piece.level, piece.part, piece.memory.data()); });
    }
    connect();
    halos_are_stale_ = false;
    return now_s() - start_s;
  }

 private:
  using Kind = ProcessingUnit::Kind;
  using Pinned = UntouchedArray<Scalar, PinnedMemory>;
  using DeviceMemory = Kokkos::View<Scalar*, DeviceOf<CompanionExecution>>;
  using Buffers = std::vector<HaloBuffer<Scalar>>;
  /// Of one unit: the messages that it packs in a pass, and those that it takes in the next one.
  struct UnitBuffers {
    Buffers leaving;
    Buffers arrived;
  };
  /// Part of a level that goes from its old owner to a unit that owns it now or reads it.
  struct Piece {
    Slot from;
    Slot to;
    Level level = Level::current;
    Rectangle part;
    Pinned memory = {};
  };

  static constexpr std::int64_t staged_elements = (4 << 20) / sizeof(Scalar);
  /// Of a message that moves rows to another rank.
  static constexpr std::int64_t moved_elements = (64 << 20) / sizeof(Scalar);

  /// Calls `use(part)` for pieces of a rectangle: as many rows each as have so many elements, but at least one.
  template <class Use>
  static void for_pieces(const Rectangle& whole, std::int64_t most_elements, const Use& use) {
    if (whole.empty()) return;
    const std::int64_t rows = std::max<std::int64_t>(1, most_elements / whole.columns);
    for (std::int64_t row = whole.row; row < whole.end_row(); row += rows) {
      use(Rectangle{row, whole.column, std::min(rows, whole.end_row() - row), whole.columns});
    }
  }

  /// The same with host memory for a piece at a time: `use(part, values)`.
  template <class Use>
  static void for_staged_pieces(const Rectangle& whole, const Use& use) {
    const std::int64_t elements = std::max(whole.columns, staged_elements);
    const Pinned staging("steelyard::wave2d::halo", static_cast<std::size_t>(elements));
    for_pieces(whole, elements, [&](const Rectangle& part) {
      use(part, std::span<Scalar>(staging.data(), static_cast<std::size_t>(part.area())));
    });
  }

  /// Calls `use(unit)` for this rank's unit of a kind, where it has points.
  template <class Use>
  void with_unit(Kind kind, const Use& use) {
    if (kind == Kind::host && host_) use(*host_);
    if (kind == Kind::companion && companion_) use(*companion_);
  }

  /// Each unit allocates on its own thread, for its own threads touch the memory first.
  void allocate(const std::vector<Rectangle>& rectangles) {
    rectangles_ = rectangles;
    const auto renew = [&](auto& unit, Kind kind) {
      unit.reset();
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        const bool is_own = slots_[i].rank == rank_ && slots_[i].kind == kind;
        if (is_own && !rectangles[i].empty()) unit.emplace(problem_, rectangles[i], time_tile_, overlap_);
      }
    };
    frame_.co_execution().run([&] { renew(host_, Kind::host); }, [&] { renew(companion_, Kind::companion); });
  }

  Scalar* allocate_buffer(std::int64_t points, Home home) {
    const auto count = static_cast<std::size_t>(points);
    if (home == Home::host) return memory_.emplace_back("steelyard::wave2d::halo", count).data();
    const auto properties = Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::wave2d::device_halo");
    return device_memory_.emplace_back(properties, count).data();
  }

  /// A message that leaves has two buffers that take turns: the other unit may still be reading the last pass's.
  /// Messages between a device and other ranks stay in its memory where MPI reaches them there.
  void connect() {
    messages_ = halo_messages(problem_, rectangles_, time_tile_);
    memory_.clear();
    device_memory_.clear();
    exchanges_.clear();
    buffers_ = {};
    parity_ = 0;
    std::array<std::vector<HaloLink>, 2> links;
    for (const HaloMessage& message : messages_) {
      const Slot& from = slots_[static_cast<std::size_t>(message.from)];
      const Slot& to = slots_[static_cast<std::size_t>(message.to)];
      const bool leaves = from.rank == rank_, arrives = to.rank == rank_;
      if (!leaves && !arrives) continue;
      const bool stays = leaves && arrives;
      const bool of_companion = (leaves ? from.kind : to.kind) == Kind::companion;
      const Home home = !stays && of_companion && reaches_device_ ? Home::unit : Home::host;
      const auto bytes = static_cast<std::size_t>(message.points()) * sizeof(Scalar);
      const int tag = static_cast<int>(2 * unit_index(from.kind) + unit_index(to.kind));
      Scalar* data = nullptr;
      for (const std::size_t parity : {0, 1}) {
        if (leaves || parity == 0) data = allocate_buffer(message.points(), home);
        if (leaves) buffers_[parity][from.kind].leaving.push_back({&message, data, home});
        if (arrives) buffers_[parity][to.kind].arrived.push_back({&message, data, home});
        if (stays) continue;
        const auto direction = leaves ? HaloLink::Direction::send : HaloLink::Direction::receive;
        links[parity].push_back({direction, leaves ? to.rank : from.rank, tag, data, bytes});
      }
    }
    for (const auto& of_parity : links) exchanges_.emplace_back(frame_.comm(), of_parity);
  }

  /// Adds to the times, and returns the seconds of this pass.
  UnitSeconds advance_pass(int steps, StepTimes& times) {
    const auto begin = [&](Kind kind) {
      static const Buffers none;
      // This pass packs into the other buffers than those that arrived, so nothing overwrites what is being read.
      const Buffers& arrived = halos_are_stale_ ? buffers_[1 - parity_][kind].arrived : none;
      const Buffers& leaving = buffers_[parity_][kind].leaving;
      with_unit(kind, [&](auto& unit) { unit.begin(steps, arrived, leaving, times.phases[kind]); });
    };
    const auto finish = [&](Kind kind) {
      with_unit(kind, [&](auto& unit) { unit.finish(steps, times.phases[kind]); });
    };
    CoExecution& co_execution = frame_.co_execution();
    HaloExchange& exchange = exchanges_[parity_];
    const double start_s = now_s();
    UnitSeconds pass_s = co_execution.run([&] { begin(Kind::host); }, [&] { begin(Kind::companion); });
    const double packed_s = now_s();
    exchange.start();
    if (overlap_ == Overlap::none) {
      exchange.wait();
      STEELYARD_MPI(MPI_Barrier(frame_.comm()));
    }
    const double started_s = now_s();
    double waited_s = 0.0;
    // The host's thread drives MPI: it waits while the companion may still be at work.
    const auto wait = [&] {
      const double wait_s = now_s();
      if (overlap_ == Overlap::full) exchange.wait();
      waited_s = now_s() - wait_s;
    };
    const UnitSeconds finish_s = co_execution.run([&] { finish(Kind::host); }, [&] { finish(Kind::companion); }, wait);
    times.kernels_s += packed_s - start_s + now_s() - started_s - waited_s;
    times.exchange_s += started_s - packed_s + waited_s;
    parity_ = 1 - parity_;
    halos_are_stale_ = true;
    pass_s.host_s += finish_s.host_s;
    pass_s.companion_s += finish_s.companion_s;
    times.unit_s.host_s += pass_s.host_s;
    times.unit_s.companion_s += pass_s.companion_s;
    return pass_s;
  }

  /// Those that this rank sends or takes, in an order that all ranks have.
  std::vector<Piece> pieces_to_move(const std::vector<Rectangle>& rectangles) const {
    std::vector<Piece> pieces;
    const std::int64_t depth = halo_depth(problem_, time_tile_).current;
    for (std::size_t from = 0; from < slots_.size(); ++from) {
      for (std::size_t to = 0; to < slots_.size(); ++to) {
        if (slots_[from].rank != rank_ && slots_[to].rank != rank_) continue;
        const Rectangle part = common_part(rectangles_[from], widened(problem_, rectangles[to], depth));
        for (const Level level : {Level::previous, Level::current}) {
          for_pieces(part, moved_elements, [&](const Rectangle& rows) {
            pieces.push_back({slots_[from], slots_[to], level, rows});
          });
        }
      }
    }
    return pieces;
  }

  /// Between ranks; pieces between two ranks are in the same order on both.
  void exchange(const std::vector<Piece>& pieces) const {
    std::vector<HaloLink> links;
    std::map<int, int> messages;  // with a rank so far
    for (const Piece& piece : pieces) {
      if (piece.from.rank == piece.to.rank) continue;
      const bool leaves = piece.from.rank == rank_;
      const int neighbour = leaves ? piece.to.rank : piece.from.rank;
      const auto direction = leaves ? HaloLink::Direction::send : HaloLink::Direction::receive;
      const std::size_t bytes = static_cast<std::size_t>(piece.part.area()) * sizeof(Scalar);
      links.push_back({direction, neighbour, messages[neighbour]++, piece.memory.data(), bytes});
    }
    HaloExchange exchange(frame_.comm(), links);
    exchange.start();
    exchange.wait();
  }

  Frame& frame_;
  int rank_;
  const std::vector<Slot>& slots_;
  Problem problem_;
  int time_tile_;
  Overlap overlap_;
  std::vector<Rectangle> rectangles_;  ///< of every slot
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
