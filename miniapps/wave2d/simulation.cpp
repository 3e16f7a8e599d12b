#include "miniapps/wave2d/simulation.hpp"

#include <algorithm>
#include <optional>

#include "comm/collective.hpp"
#include "comm/halo_exchange.hpp"
#include "core/timing.hpp"

namespace steelyard::wave2d {
namespace {

constexpr std::int64_t staging_bytes = 4 << 20;

template <class Scalar>
using HostSlice = FieldSlice<HostExecution, Scalar>;
template <class Scalar>
using CompanionSlice = FieldSlice<CompanionExecution, Scalar>;

/// Calls `use(first, count)` for pieces of the rows [begin, end) that fit into the staging buffer.
template <class Use>
void for_pieces(std::int64_t begin, std::int64_t end, std::int64_t row_bytes, const Use& use) {
  const std::int64_t piece = std::max<std::int64_t>(1, staging_bytes / row_bytes);
  for (std::int64_t first = begin; first < end; first += piece) use(first, std::min(piece, end - first));
}

}  // namespace

template <class Scalar>
class Simulation<Scalar>::State {
 public:
  State(const Session& session, CoExecution& co_execution, const Problem& problem, const std::vector<Slot>& slots,
        const std::vector<std::int64_t>& rows)
      : co_execution_(co_execution), problem_(problem), slots_(slots), rank_(session.rank()) {
    const std::vector<partition::Slice> slices = partition::make_slices(rows);
    std::optional<partition::Slice> host;
    std::optional<partition::Slice> companion;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].rank != rank_ || rows[i] == 0) continue;
      (slots[i].kind == ProcessingUnit::Kind::host ? host : companion) = slices[i];
    }
    // Each unit allocates on its own thread, for its own threads touch the memory first.
    co_execution_.run(
        [&] {
          if (host) host_.emplace(HostExecution(), problem, *host);
        },
        [&] {
          if (companion) companion_.emplace(CompanionExecution(), problem, *companion);
        });
    for (const int parity : {0, 1}) {
      std::vector<HaloLink> links;
      if (host_) add_links(*host_, parity, links);
      if (companion_) add_links(*companion_, parity, links);
      exchanges_.emplace_back(session.comm(), links);
    }
    has_borders_ = (host_ && (host->above >= 0 || host->below >= 0)) ||
                   (companion_ && (companion->above >= 0 || companion->below >= 0));
  }

  void load(const Source& source) {
    if (host_) load_slice(*host_, source);
    if (companion_) load_slice(*companion_, source);
    halos_are_stale_ = false;
  }

  void store(const Sink& sink) const {
    if (host_) store_slice(*host_, sink);
    if (companion_) store_slice(*companion_, sink);
  }

  StepTimes advance(std::int64_t steps) {
    StepTimes times;
    for (std::int64_t step = 0; step < steps; ++step) {
      if (has_borders_) {
        const double start_s = now_s();
        add(times, co_execution_.run(
                       [&] {
                         if (host_) advance_borders(*host_);
                       },
                       [&] {
                         if (companion_) advance_borders(*companion_);
                       }));
        const double packed_s = now_s();
        exchanges_[parity_].start();
        times.kernels_s += packed_s - start_s;
        times.exchange_s += now_s() - packed_s;
      }
      const double start_s = now_s();
      add(times, co_execution_.run(
                     [&] {
                       if (host_) host_->advance_interior();
                     },
                     [&] {
                       if (companion_) companion_->advance_interior();
                     }));
      const double computed_s = now_s();
      times.kernels_s += computed_s - start_s;
      if (has_borders_) exchanges_[parity_].wait();
      times.exchange_s += now_s() - computed_s;
      if (host_) host_->rotate();
      if (companion_) companion_->rotate();
      parity_ = 1 - parity_;
      halos_are_stale_ = true;
    }
    return times;
  }

 private:
  static void add(StepTimes& times, const UnitSeconds& seconds) {
    times.host_s += seconds.host_s;
    times.companion_s += seconds.companion_s;
  }

  int neighbour_rank(int slot) const { return slots_[static_cast<std::size_t>(slot)].rank; }

  template <class Slice>
  void add_links(const Slice& slice, int parity, std::vector<HaloLink>& links) const {
    const auto bytes = static_cast<std::size_t>(problem_.columns) * sizeof(Scalar);
    for (const auto side : {Slice::above, Slice::below}) {
      const int slot = side == Slice::above ? slice.slice().above : slice.slice().below;
      if (slot < 0 || neighbour_rank(slot) == rank_) continue;
      links.push_back({neighbour_rank(slot), side == Slice::above ? HaloLink::Side::above : HaloLink::Side::below,
                       slice.border(side, parity), slice.halo(side), bytes});
    }
  }

  /// The neighbour's border of the last step: in the other unit's buffer on the same rank, or received.
  template <class Slice>
  const Scalar* neighbour_border(const Slice& slice, typename Slice::Side side) const {
    const int slot = side == Slice::above ? slice.slice().above : slice.slice().below;
    if (neighbour_rank(slot) != rank_) return slice.halo(side);
    // Packed with the last step's parity: this step's borders go to the other buffers, so nobody overwrites them now.
    const int last = 1 - parity_;
    if constexpr (std::is_same_v<Slice, HostSlice<Scalar>>) {
      return companion_->border(side == Slice::above ? CompanionSlice<Scalar>::below : CompanionSlice<Scalar>::above,
                                last);
    } else {
      return host_->border(side == Slice::above ? HostSlice<Scalar>::below : HostSlice<Scalar>::above, last);
    }
  }

  template <class Slice>
  void advance_borders(Slice& slice) const {
    for (const auto side : {Slice::above, Slice::below}) {
      if (halos_are_stale_ && slice.has_neighbour(side)) slice.take_halo(side, neighbour_border(slice, side));
    }
    slice.advance_borders(parity_);
  }

  template <class Slice>
  void load_slice(Slice& slice, const Source& source) const {
    const std::int64_t columns = problem_.columns;
    Kokkos::View<Scalar*, PinnedMemory> staging(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::wave2d::staging"),
        static_cast<std::size_t>(std::max<std::int64_t>(columns, staging_bytes / sizeof(Scalar))));
    const std::int64_t begin = std::max<std::int64_t>(0, slice.slice().first - 1);
    const std::int64_t end = std::min(problem_.rows, slice.slice().end() + 1);
    for (const Level level : {Level::previous, Level::current}) {
      for_pieces(begin, end, columns * static_cast<std::int64_t>(sizeof(Scalar)),
                 [&](std::int64_t first, std::int64_t count) {
                   source(level, first, count, {staging.data(), static_cast<std::size_t>(count * columns)});
                   for (std::int64_t r = 0; r < count; ++r)
                     slice.load_row(level, first + r, staging.data() + r * columns);
                 });
    }
  }

  template <class Slice>
  void store_slice(const Slice& slice, const Sink& sink) const {
    const std::int64_t columns = problem_.columns;
    Kokkos::View<Scalar*, PinnedMemory> staging(
        Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::wave2d::staging"),
        static_cast<std::size_t>(std::max<std::int64_t>(columns, staging_bytes / sizeof(Scalar))));
    for_pieces(slice.slice().first, slice.slice().end(), columns * static_cast<std::int64_t>(sizeof(Scalar)),
               [&](std::int64_t first, std::int64_t count) {
                 for (std::int64_t r = 0; r < count; ++r) {
                   slice.store_row(Level::current, first + r, staging.data() + r * columns);
                 }
                 sink(first, count, {staging.data(), static_cast<std::size_t>(count * columns)});
               });
  }

  CoExecution& co_execution_;
  Problem problem_;
  std::vector<Slot> slots_;
  int rank_;
  std::optional<HostSlice<Scalar>> host_;
  std::optional<CompanionSlice<Scalar>> companion_;
  std::vector<HaloExchange> exchanges_;  ///< by parity of the step
  bool has_borders_ = false;
  bool halos_are_stale_ = false;
  int parity_ = 0;
};

template <class Scalar>
Simulation<Scalar>::Simulation(const Session& session, CoExecution& co_execution, const Problem& problem,
                               const std::vector<Slot>& slots, const std::vector<std::int64_t>& rows)
    : state_(std::make_unique<State>(session, co_execution, problem, slots, rows)) {}
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
StepTimes Simulation<Scalar>::advance(std::int64_t steps) {
  return state_->advance(steps);
}

template class Simulation<double>;
template class Simulation<float>;

}  // namespace steelyard::wave2d
