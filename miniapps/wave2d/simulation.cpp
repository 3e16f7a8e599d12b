#include "miniapps/wave2d/simulation.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "comm/collective.hpp"
#include "comm/device_aware.hpp"
#include "comm/halo_exchange.hpp"
#include "comm/mpi_check.hpp"
#include "core/timing.hpp"
#include "core/untouched_array.hpp"

namespace steelyard::wave2d {
namespace {

using partition::Rectangle;

constexpr std::int64_t staging_bytes = 4 << 20;
/// Of a message that moves rows to another rank.
constexpr std::int64_t moving_bytes = 64 << 20;
constexpr int moving_tag = 21;

/// Calls `use(part)` for pieces of a rectangle, some rows each, that fit into the staging buffer.
template <class Use>
void for_pieces(const Rectangle& whole, std::int64_t most_elements, const Use& use) {
  if (whole.empty()) return;
  const std::int64_t rows = std::max<std::int64_t>(1, most_elements / whole.columns);
  for (std::int64_t row = whole.row; row < whole.end_row(); row += rows) {
    use(Rectangle{row, whole.column, std::min(rows, whole.end_row() - row), whole.columns});
  }
}

}  // namespace

StepTimes& StepTimes::operator+=(const StepTimes& other) {
  kernels_s += other.kernels_s;
  exchange_s += other.exchange_s;
  host_s += other.host_s;
  companion_s += other.companion_s;
  host += other.host;
  companion += other.companion;
  return *this;
}

template <class Scalar>
class Simulation<Scalar>::State {
 public:
  State(const Session& session, CoExecution& co_execution, const Problem& problem, const std::vector<Slot>& slots,
        const std::vector<Rectangle>& rectangles, int time_tile, Overlap overlap)
      : comm_(session.comm()),
        rank_(session.rank()),
        co_execution_(co_execution),
        problem_(problem),
        slots_(slots),
        time_tile_(time_tile),
        overlap_(overlap) {
    allocate(rectangles);
    connect();
  }

  void load(const Source& source) {
    if (host_) load_unit(*host_, source);
    if (companion_) load_unit(*companion_, source);
    halos_are_stale_ = false;
  }

  void store(const Sink& sink) const {
    if (host_) store_unit(*host_, sink);
    if (companion_) store_unit(*companion_, sink);
  }

  double redistribute(const std::vector<Rectangle>& rectangles) {
    const double start_s = now_s();
    std::vector<Piece> pieces = pieces_to_move(rectangles);
    collectively(comm_, [&] {
      for (Piece& piece : pieces) {
        piece.memory = make_pinned(piece.part.area());
        if (piece.from.rank != rank_) continue;
        with_unit(piece.from, [&](auto& unit) { unit.store(piece.level, piece.part, piece.memory.data()); });
      }
      allocate(rectangles);
    });
    std::vector<MPI_Request> requests;
    for (const Piece& piece : pieces) {
      if (piece.from.rank == piece.to.rank) continue;
      const int bytes = static_cast<int>(piece.part.area() * static_cast<std::int64_t>(sizeof(Scalar)));
      requests.push_back(MPI_REQUEST_NULL);
      // Pieces between two ranks are in the same order on both.
      if (piece.from.rank == rank_) {
        STEELYARD_MPI(
            MPI_Isend(piece.memory.data(), bytes, MPI_BYTE, piece.to.rank, moving_tag, comm_, &requests.back()));
      } else {
        STEELYARD_MPI(
            MPI_Irecv(piece.memory.data(), bytes, MPI_BYTE, piece.from.rank, moving_tag, comm_, &requests.back()));
      }
    }
    STEELYARD_MPI(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    for (const Piece& piece : pieces) {
      if (piece.to.rank != rank_) continue;
      with_unit(piece.to, [&](auto& unit) { unit.load(piece.level, piece.part, piece.memory.data()); });
    }
    connect();
    halos_are_stale_ = false;
    return now_s() - start_s;
  }

  StepTimes advance(std::int64_t steps) {
    StepTimes times;
    while (steps > 0) {
      const int pass = static_cast<int>(std::min<std::int64_t>(steps, time_tile_));
      advance_pass(pass, times);
      steps -= pass;
    }
    return times;
  }

 private:
  using Buffers = std::vector<HaloBuffer<Scalar>>;
  using Pinned = UntouchedArray<Scalar, PinnedMemory>;
  using DeviceMemory = Kokkos::View<Scalar*, DeviceOf<CompanionExecution>>;
  /// Of one unit: what it packs in a pass, and what it takes in the next one.
  struct UnitBuffers {
    Buffers leaving;
    Buffers arrived;
  };
  enum { host_unit = 0, companion_unit = 1 };

  /// Part of a level that goes from its old owner to somebody who owns it now or reads it.
  struct Piece {
    Slot from;
    Slot to;
    Level level = Level::current;
    Rectangle part;
    Pinned memory = {};
  };

  static int unit_of(const Slot& slot) { return slot.kind == ProcessingUnit::Kind::host ? host_unit : companion_unit; }

  static Pinned make_pinned(std::int64_t elements) {
    return Pinned("steelyard::wave2d::halo", static_cast<std::size_t>(elements));
  }

  static DeviceMemory make_device_memory(std::int64_t elements) {
    return DeviceMemory(Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::wave2d::device_halo"),
                        static_cast<std::size_t>(elements));
  }

  /// Each unit allocates on its own thread, for its own threads touch the memory first.
  void allocate(const std::vector<Rectangle>& rectangles) {
    rectangles_ = rectangles;
    const auto own = [&](ProcessingUnit::Kind kind) {
      for (std::size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].rank == rank_ && slots_[i].kind == kind) return rectangles_[i];
      }
      return Rectangle{};
    };
    const auto renew = [&](auto& unit, const Rectangle& rectangle) {
      unit.reset();
      if (!rectangle.empty()) unit.emplace(problem_, rectangle, time_tile_, overlap_);
    };
    co_execution_.run([&] { renew(host_, own(ProcessingUnit::Kind::host)); },
                      [&] { renew(companion_, own(ProcessingUnit::Kind::companion)); });
  }

  /// What leaves has two buffers that take turns: the other unit may still be reading the last pass's. What a device
  /// exchanges with other ranks stays in its memory where MPI can reach it there.
  void connect() {
    messages_ = halo_messages(problem_, rectangles_, time_tile_);
    memory_.clear();
    exchanges_.clear();
    buffers_ = {};
    parity_ = 0;
    device_memory_.clear();
    const auto keep = [&](const HaloMessage& message, Home home) {
      if (home == Home::unit) {
        device_memory_.push_back(make_device_memory(message.points()));
        return device_memory_.back().data();
      }
      memory_.push_back(make_pinned(message.points()));
      return memory_.back().data();
    };
    std::array<std::vector<HaloLink>, 2> links;
    for (const HaloMessage& message : messages_) {
      const Slot& from = slots_[static_cast<std::size_t>(message.from)];
      const Slot& to = slots_[static_cast<std::size_t>(message.to)];
      if (from.rank != rank_ && to.rank != rank_) continue;
      const auto bytes = static_cast<std::size_t>(message.points()) * sizeof(Scalar);
      const int tag = 2 * unit_of(from) + unit_of(to);
      const Slot& own = from.rank == rank_ ? from : to;
      const bool direct = from.rank != to.rank && own.kind == ProcessingUnit::Kind::companion && reaches_device_;
      const Home home = direct ? Home::unit : Home::host;
      Scalar* const incoming = from.rank != rank_ ? keep(message, home) : nullptr;
      for (const std::size_t parity : {0, 1}) {
        Scalar* const data = from.rank == rank_ ? keep(message, home) : incoming;
        std::array<UnitBuffers, 2>& units = buffers_[parity];
        if (from.rank == rank_)
          units[static_cast<std::size_t>(unit_of(from))].leaving.push_back({&message, data, home});
        if (to.rank == rank_) units[static_cast<std::size_t>(unit_of(to))].arrived.push_back({&message, data, home});
        if (from.rank == to.rank) continue;
        if (from.rank == rank_) {
          links[parity].push_back({HaloLink::Direction::send, to.rank, tag, data, bytes});
        } else {
          links[parity].push_back({HaloLink::Direction::receive, from.rank, tag, data, bytes});
        }
      }
    }
    for (const auto& of_parity : links) exchanges_.emplace_back(comm_, of_parity);
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
          for_pieces(part, moving_bytes / static_cast<std::int64_t>(sizeof(Scalar)), [&](const Rectangle& rows) {
            pieces.push_back({slots_[from], slots_[to], level, rows});
          });
        }
      }
    }
    return pieces;
  }

  template <class Use>
  void with_unit(const Slot& slot, const Use& use) {
    if (slot.kind == ProcessingUnit::Kind::host) {
      use(*host_);
    } else {
      use(*companion_);
    }
  }

  void advance_pass(int steps, StepTimes& times) {
    const double start_s = now_s();
    add(times, co_execution_.run(
                   [&] {
                     if (host_) begin(*host_, host_unit, steps, times.host);
                   },
                   [&] {
                     if (companion_) begin(*companion_, companion_unit, steps, times.companion);
                   }));
    const double packed_s = now_s();
    exchanges_[parity_].start();
    if (overlap_ == Overlap::none) {
      exchanges_[parity_].wait();
      STEELYARD_MPI(MPI_Barrier(comm_));
    }
    const double started_s = now_s();
    double waited_s = 0.0;
    // The host's thread drives MPI: it waits while the companion may still be at work.
    add(times, co_execution_.run(
                   [&] {
                     if (host_) host_->finish(steps, times.host);
                   },
                   [&] {
                     if (companion_) companion_->finish(steps, times.companion);
                   },
                   [&] {
                     const double wait_s = now_s();
                     if (overlap_ == Overlap::full) exchanges_[parity_].wait();
                     waited_s = now_s() - wait_s;
                   }));
    times.kernels_s += packed_s - start_s + now_s() - started_s - waited_s;
    times.exchange_s += started_s - packed_s + waited_s;
    parity_ = 1 - parity_;
    halos_are_stale_ = true;
  }

  template <class Unit>
  void begin(Unit& unit, std::size_t which, int steps, UnitTimes& times) {
    static const Buffers none;
    // This pass packs into the other buffers than those that arrived, so nobody overwrites what is being read.
    const Buffers& arrived = halos_are_stale_ ? buffers_[1 - parity_][which].arrived : none;
    unit.begin(steps, arrived, buffers_[parity_][which].leaving, times);
  }

  static void add(StepTimes& times, const UnitSeconds& seconds) {
    times.host_s += seconds.host_s;
    times.companion_s += seconds.companion_s;
  }

  /// Of a buffer that holds a row at least.
  static std::int64_t staged_elements(std::int64_t columns) {
    return std::max<std::int64_t>(columns, staging_bytes / static_cast<std::int64_t>(sizeof(Scalar)));
  }

  template <class Unit>
  static void load_unit(Unit& unit, const Source& source) {
    const Rectangle& held = unit.field().held();
    const std::int64_t elements = staged_elements(held.columns);
    const Pinned staging = make_pinned(elements);
    for (const Level level : {Level::previous, Level::current}) {
      for_pieces(held, elements, [&](const Rectangle& part) {
        source(level, part, {staging.data(), static_cast<std::size_t>(part.area())});
        unit.load(level, part, staging.data());
      });
    }
  }

  template <class Unit>
  static void store_unit(const Unit& unit, const Sink& sink) {
    const Rectangle& owned = unit.field().owned();
    const std::int64_t elements = staged_elements(owned.columns);
    const Pinned staging = make_pinned(elements);
    for_pieces(owned, elements, [&](const Rectangle& part) {
      unit.store(Level::current, part, staging.data());
      sink(part, {staging.data(), static_cast<std::size_t>(part.area())});
    });
  }

  MPI_Comm comm_;
  int rank_;
  CoExecution& co_execution_;
  Problem problem_;
  std::vector<Slot> slots_;
  int time_tile_;
  Overlap overlap_;
  std::vector<Rectangle> rectangles_;  ///< of every slot
  std::vector<HaloMessage> messages_;
  std::optional<UnitField<HostExecution, Scalar>> host_;
  std::optional<UnitField<CompanionExecution, Scalar>> companion_;
  bool reaches_device_ = mpi_takes_device_memory();
  std::vector<Pinned> memory_;
  std::vector<DeviceMemory> device_memory_;
  std::array<std::array<UnitBuffers, 2>, 2> buffers_;  ///< by parity of the pass and unit
  std::vector<HaloExchange> exchanges_;                ///< by parity of the pass
  bool halos_are_stale_ = false;
  std::size_t parity_ = 0;
};

template <class Scalar>
Simulation<Scalar>::Simulation(const Session& session, CoExecution& co_execution, const Problem& problem,
                               const std::vector<Slot>& slots, const std::vector<partition::Rectangle>& rectangles,
                               int time_tile, Overlap overlap)
    : state_(std::make_unique<State>(session, co_execution, problem, slots, rectangles, time_tile, overlap)) {}
template <class Scalar>
Simulation<Scalar>::~Simulation() = default;
template <class Scalar>
void Simulation<Scalar>::load(const Source& source) {
  state_->load(source);
}
template <class Scalar>
void Simulation<Scalar>::store(const Sink& sink) const {
  state_->store(sink);
}
template <class Scalar>
double Simulation<Scalar>::redistribute(const std::vector<partition::Rectangle>& rectangles) {
  return state_->redistribute(rectangles);
}
template <class Scalar>
StepTimes Simulation<Scalar>::advance(std::int64_t steps) {
  return state_->advance(steps);
}

template class Simulation<double>;
template class Simulation<float>;

}  // namespace steelyard::wave2d
