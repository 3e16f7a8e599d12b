#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "comm/device_aware.hpp"
#include "comm/halo_exchange.hpp"
#include "comm/mpi_check.hpp"
#include "comm/unit_group.hpp"
#include "core/timing.hpp"
#include "core/untouched_array.hpp"
#include "miniapps/wave2d/unit_field.hpp"

namespace steelyard::wave2d {

/// The messages that the units of all ranks send each other in every pass, and the order in which units wait for each
/// other. Once both units of a rank have packed, the one that drives MPI starts the exchange with the other ranks, and
/// waits for it behind its interior; the other unit goes on to its own interior at once.
template <class Scalar>
class UnitHalos {
 public:
  using Rectangle = partition::Rectangle;
  using Kind = ProcessingUnit::Kind;
  using Buffers = std::vector<HaloBuffer<Scalar>>;

  /// Messages between a device and other ranks stay in its memory where MPI reaches them there.
  /// @param rectangles of every slot @param time_tile the most steps that a pass makes
  UnitHalos(UnitGroup& group, const Problem& problem, const std::vector<Rectangle>& rectangles, int time_tile,
            Overlap overlap)
      : group_(group), overlap_(overlap), messages_(halo_messages(problem, rectangles, time_tile)) {
    std::array<std::vector<HaloLink>, 2> links;
    for (const HaloMessage& message : messages_) {
      const Slot& from = group.slots()[static_cast<std::size_t>(message.from)];
      const Slot& to = group.slots()[static_cast<std::size_t>(message.to)];
      const bool leaves = from.rank == group.rank(), arrives = to.rank == group.rank();
      if (!leaves && !arrives) continue;
      const bool stays = leaves && arrives;
      const bool of_companion = (leaves ? from.kind : to.kind) == Kind::companion;
      const Home home = !stays && of_companion && mpi_takes_device_memory() ? Home::unit : Home::host;
      const auto bytes = static_cast<std::size_t>(message.points()) * sizeof(Scalar);
      const int tag = static_cast<int>(2 * unit_index(from.kind) + unit_index(to.kind));
      Scalar* data = nullptr;
      for (const std::size_t parity : {0, 1}) {
        // Two buffers of a message that leaves take turns: its receiver may still be reading the last pass's.
        if (leaves || parity == 0) data = allocate(message.points(), home);
        if (leaves) unit(from.kind).leaving[parity].push_back({&message, data, home});
        if (arrives) unit(to.kind).arrived[parity].push_back({&message, data, home});
        if (stays) continue;
        const auto direction = leaves ? HaloLink::Direction::send : HaloLink::Direction::receive;
        links[parity].push_back({direction, leaves ? to.rank : from.rank, tag, data, bytes});
      }
    }
    has_messages_ = !links[0].empty();
    for (const auto& of_parity : links) exchanges_.emplace_back(group.comm(), of_parity);
  }

  /// Makes the last pass's messages void, for a field that is loaded anew with its halos.
  void forget() {
    for (Unit& unit : units_) unit.is_stale = false;
  }

  /// What a unit takes in its next pass.
  const Buffers& arrived(Kind kind) {
    static const Buffers none;
    return unit(kind).is_stale ? unit(kind).arrived[unit(kind).passes % 2] : none;
  }
  /// What it packs in its next pass.
  const Buffers& leaving(Kind kind) { return unit(kind).leaving[(unit(kind).passes + 1) % 2]; }

  /// By every unit, once it has packed. Phases that do not overlap wait here for all messages of all ranks.
  void start(Kind kind) {
    Unit& own = unit(kind);
    own.is_stale = true;
    own.packed.raise(++own.passes);
    if (group_.drives(kind)) {
      if (group_.unit_count() == 2) group_.await(other(kind).packed, own.passes);
      const double start_s = now_s();
      exchanges_[own.passes % 2].start();
      exchange_s_ += now_s() - start_s;
    }
    if (overlap_ == Overlap::none) receive(kind);
  }
  /// By every unit behind its interior: returns when the messages to it have arrived.
  void finish(Kind kind) {
    if (overlap_ == Overlap::full) receive(kind);
  }

  /// Seconds that the unit which drives MPI has spent on messages of other ranks.
  double exchange_s() const { return exchange_s_; }

 private:
  struct Unit {
    std::array<Buffers, 2> leaving, arrived;  ///< by parity of the pass
    std::uint64_t passes = 0;
    bool is_stale = false;  ///< what is around its rectangle; its messages are newer
    UnitGroup::Signal packed;
  };
  Unit& unit(Kind kind) { return units_[unit_index(kind)]; }
  Unit& other(Kind kind) { return units_[1 - unit_index(kind)]; }

  Scalar* allocate(std::int64_t points, Home home) {
    const auto count = static_cast<std::size_t>(points);
    if (home == Home::host) return memory_.emplace_back("steelyard::wave2d::halo", count).data();
    const auto properties = Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::wave2d::device_halo");
    return device_memory_.emplace_back(properties, count).data();
  }

  void receive(Kind kind) {
    const std::uint64_t pass = unit(kind).passes;
    if (!group_.drives(kind)) {
      group_.await(has_messages_ ? arrived_ : other(kind).packed, pass);
      return;
    }
    const double start_s = now_s();
    exchanges_[pass % 2].wait();
    if (overlap_ == Overlap::none) STEELYARD_MPI(MPI_Barrier(group_.comm()));
    exchange_s_ += now_s() - start_s;
    arrived_.raise(pass);
  }

  UnitGroup& group_;
  Overlap overlap_;
  std::vector<HaloMessage> messages_;
  std::array<Unit, 2> units_;  ///< by kind
  std::vector<UntouchedArray<Scalar, PinnedMemory>> memory_;
  std::vector<Kokkos::View<Scalar*, DeviceOf<CompanionExecution>>> device_memory_;
  std::vector<HaloExchange> exchanges_;  ///< by parity of the pass
  bool has_messages_ = false;            ///< with other ranks
  UnitGroup::Signal arrived_;
  double exchange_s_ = 0.0;
};

}  // namespace steelyard::wave2d
