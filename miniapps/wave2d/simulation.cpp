#include "miniapps/wave2d/simulation.hpp"

#include <algorithm>

#include "comm/mpi_check.hpp"
#include "core/timing.hpp"

namespace steelyard::wave2d {
namespace {

using partition::Rectangle;

constexpr std::int64_t staging_bytes = 4 << 20;
/// Of a message that moves rows to another rank.
constexpr std::int64_t moving_bytes = 64 << 20;
constexpr int moving_tag = 21;

/// Calls `use(part)` for pieces of a rectangle, some rows each, of at most so many elements, but a row at least.
template <class Use>
void for_pieces(const Rectangle& whole, std::int64_t most_elements, const Use& use) {
  if (whole.empty()) return;
  const std::int64_t rows = std::max<std::int64_t>(1, most_elements / whole.columns);
  for (std::int64_t row = whole.row; row < whole.end_row(); row += rows) {
    use(Rectangle{row, whole.column, std::min(rows, whole.end_row() - row), whole.columns});
  }
}

/// The same with host memory for a piece at a time: `use(part, memory)`.
template <class Scalar, class Use>
void for_staged_pieces(const Rectangle& whole, const Use& use) {
  const std::int64_t elements = std::max<std::int64_t>(whole.columns, staging_bytes / sizeof(Scalar));
  const UntouchedArray<Scalar, PinnedMemory> staging("steelyard::wave2d::halo", static_cast<std::size_t>(elements));
  for_pieces(whole, elements, [&](const Rectangle& part) {
    use(part, std::span<Scalar>(staging.data(), static_cast<std::size_t>(part.area())));
  });
}

}  // namespace

template <class Scalar>
Simulation<Scalar>::Simulation(Frame& frame, const Problem& problem, const std::vector<Rectangle>& rectangles,
                               int time_tile, Overlap overlap)
    : frame_(frame), problem_(problem), time_tile_(time_tile), overlap_(overlap) {
  allocate(rectangles);
  connect();
}

/// Each unit allocates on its own thread, for its own threads touch the memory first.
template <class Scalar>
void Simulation<Scalar>::allocate(const std::vector<Rectangle>& rectangles) {
  rectangles_ = rectangles;
  const auto renew = [&](auto& unit, Kind kind) {
    unit.reset();
    for (std::size_t i = 0; i < rectangles.size(); ++i) {
      const Slot& slot = frame_.slots()[i];
      const bool is_own = slot.rank == frame_.session().rank() && slot.kind == kind;
      if (is_own && !rectangles[i].empty()) unit.emplace(problem_, rectangles[i], time_tile_, overlap_);
    }
  };
  frame_.co_execution().run([&] { renew(host_, Kind::host); }, [&] { renew(companion_, Kind::companion); });
}

template <class Scalar>
Scalar* Simulation<Scalar>::allocate_buffer(std::int64_t points, Home home) {
  const auto count = static_cast<std::size_t>(points);
  if (home == Home::host) return memory_.emplace_back("steelyard::wave2d::halo", count).data();
  const auto properties = Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::wave2d::device_halo");
  return device_memory_.emplace_back(properties, count).data();
}

/// What leaves has two buffers that take turns: the other unit may still be reading the last pass's. What a device
/// exchanges with other ranks stays in its memory where MPI can reach it there.
template <class Scalar>
void Simulation<Scalar>::connect() {
  messages_ = halo_messages(problem_, rectangles_, time_tile_);
  memory_.clear();
  device_memory_.clear();
  exchanges_.clear();
  buffers_ = {};
  parity_ = 0;
  const int rank = frame_.session().rank();
  std::array<std::vector<HaloLink>, 2> links;
  for (const HaloMessage& message : messages_) {
    const Slot& from = frame_.slots()[static_cast<std::size_t>(message.from)];
    const Slot& to = frame_.slots()[static_cast<std::size_t>(message.to)];
    const bool leaves = from.rank == rank, arrives = to.rank == rank;
    if (!leaves && !arrives) continue;
    const bool stays = leaves && arrives;
    const Kind own_kind = leaves ? from.kind : to.kind;
    const Home home = !stays && own_kind == Kind::companion && reaches_device_ ? Home::unit : Home::host;
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

template <class Scalar>
void Simulation<Scalar>::load(const Source& source) {
  const auto load_unit = [&](auto& unit) {
    for (const Level level : {Level::previous, Level::current}) {
      for_staged_pieces<Scalar>(unit.field().held(), [&](const Rectangle& part, std::span<Scalar> values) {
        source(level, part, values);
        unit.load(level, part, values.data());
      });
    }
  };
  for (const Kind kind : {Kind::host, Kind::companion}) with_unit(kind, load_unit);
  halos_are_stale_ = false;
}

template <class Scalar>
void Simulation<Scalar>::store(const Sink& sink) const {
  const auto store_unit = [&](const auto& unit) {
    for_staged_pieces<Scalar>(unit.field().owned(), [&](const Rectangle& part, std::span<Scalar> values) {
      unit.store(Level::current, part, values.data());
      sink(part, values);
    });
  };
  if (host_) store_unit(*host_);
  if (companion_) store_unit(*companion_);
}

template <class Scalar>
StepTimes Simulation<Scalar>::advance(std::int64_t steps, const BetweenPasses& between_passes) {
  StepTimes times;
  while (steps > 0) {
    const int pass = static_cast<int>(std::min<std::int64_t>(steps, time_tile_));
    const UnitSeconds pass_s = advance_pass(pass, times);
    steps -= pass;
    if (between_passes && steps > 0) between_passes(pass_s, steps);
  }
  return times;
}

template <class Scalar>
UnitSeconds Simulation<Scalar>::advance_pass(int steps, StepTimes& times) {
  const auto begin = [&](Kind kind) {
    static const Buffers none;
    // This pass packs into the other buffers than those that arrived, so nothing overwrites what is being read.
    const Buffers& arrived = halos_are_stale_ ? buffers_[1 - parity_][kind].arrived : none;
    const Buffers& leaving = buffers_[parity_][kind].leaving;
    with_unit(kind, [&](auto& unit) { unit.begin(steps, arrived, leaving, times.phases[kind]); });
  };
  const auto finish = [&](Kind kind) { with_unit(kind, [&](auto& unit) { unit.finish(steps, times.phases[kind]); }); };
  HaloExchange& exchange = exchanges_[parity_];
  const double start_s = now_s();
  const UnitSeconds begin_s = frame_.co_execution().run([&] { begin(Kind::host); }, [&] { begin(Kind::companion); });
  const double packed_s = now_s();
  exchange.start();
  if (overlap_ == Overlap::none) {
    exchange.wait();
    STEELYARD_MPI(MPI_Barrier(frame_.comm()));
  }
  const double started_s = now_s();
  double waited_s = 0.0;
  // The host's thread drives MPI: it waits while the companion may still be at work.
  const UnitSeconds finish_s = frame_.co_execution().run([&] { finish(Kind::host); }, [&] { finish(Kind::companion); },
                                                         [&] {
                                                           const double wait_s = now_s();
                                                           if (overlap_ == Overlap::full) exchange.wait();
                                                           waited_s = now_s() - wait_s;
                                                         });
  times.kernels_s += packed_s - start_s + now_s() - started_s - waited_s;
  times.exchange_s += started_s - packed_s + waited_s;
  parity_ = 1 - parity_;
  halos_are_stale_ = true;
  const UnitSeconds pass_s{begin_s.host_s + finish_s.host_s, begin_s.companion_s + finish_s.companion_s};
  times.unit_s.host_s += pass_s.host_s;
  times.unit_s.companion_s += pass_s.companion_s;
  return pass_s;
}

template <class Scalar>
double Simulation<Scalar>::redistribute(const std::vector<Rectangle>& rectangles) {
  const double start_s = now_s();
  const int rank = frame_.session().rank();
  std::vector<Piece> pieces = pieces_to_move(rectangles);
  frame_.collectively([&] {
    for (Piece& piece : pieces) {
      piece.memory = Pinned("steelyard::wave2d::halo", static_cast<std::size_t>(piece.part.area()));
      if (piece.from.rank != rank) continue;
      with_unit(piece.from.kind, [&](auto& unit) { unit.store(piece.level, piece.part, piece.memory.data()); });
    }
    allocate(rectangles);
  });
  exchange_pieces(pieces);
  for (const Piece& piece : pieces) {
    if (piece.to.rank != rank) continue;
    with_unit(piece.to.kind, [&](auto& unit) { unit.load(piece.level, piece.part, piece.memory.data()); });
  }
  connect();
  halos_are_stale_ = false;
  return now_s() - start_s;
}

/// Those that this rank sends or takes, in an order that all ranks have.
template <class Scalar>
std::vector<typename Simulation<Scalar>::Piece> Simulation<Scalar>::pieces_to_move(
    const std::vector<Rectangle>& rectangles) const {
  std::vector<Piece> pieces;
  const int rank = frame_.session().rank();
  const std::vector<Slot>& slots = frame_.slots();
  const std::int64_t depth = halo_depth(problem_, time_tile_).current;
  constexpr auto most_elements = static_cast<std::int64_t>(moving_bytes / sizeof(Scalar));
  for (std::size_t from = 0; from < slots.size(); ++from) {
    for (std::size_t to = 0; to < slots.size(); ++to) {
      if (slots[from].rank != rank && slots[to].rank != rank) continue;
      const Rectangle part = common_part(rectangles_[from], widened(problem_, rectangles[to], depth));
      for (const Level level : {Level::previous, Level::current}) {
        for_pieces(part, most_elements, [&](const Rectangle& rows) {
          pieces.push_back({slots[from], slots[to], level, rows});
        });
      }
    }
  }
  return pieces;
}

/// Between ranks; pieces between two ranks are in the same order on both.
template <class Scalar>
void Simulation<Scalar>::exchange_pieces(const std::vector<Piece>& pieces) const {
  const MPI_Comm comm = frame_.comm();
  std::vector<MPI_Request> requests;
  for (const Piece& piece : pieces) {
    if (piece.from.rank == piece.to.rank) continue;
    const int bytes = static_cast<int>(piece.part.area() * static_cast<std::int64_t>(sizeof(Scalar)));
    Scalar* const data = piece.memory.data();
    MPI_Request& request = requests.emplace_back(MPI_REQUEST_NULL);
    if (piece.from.rank == frame_.session().rank()) {
      STEELYARD_MPI(MPI_Isend(data, bytes, MPI_BYTE, piece.to.rank, moving_tag, comm, &request));
    } else {
      STEELYARD_MPI(MPI_Irecv(data, bytes, MPI_BYTE, piece.from.rank, moving_tag, comm, &request));
    }
  }
  STEELYARD_MPI(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
}

template class Simulation<double>;
template class Simulation<float>;

}  // namespace steelyard::wave2d
