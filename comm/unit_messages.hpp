#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "comm/device_aware.hpp"
#include "comm/halo_exchange.hpp"
#include "comm/mpi_check.hpp"
#include "comm/unit_group.hpp"
#include "core/memory/home.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/timing.hpp"

namespace steelyard {

/// Messages of any lengths between the units of a group, the same in every pass of a program, and the order in which
/// units wait for each other. Once both units of a rank have packed, the one that drives MPI starts the exchange with
/// the other ranks, and waits for it behind what it computes meanwhile; the other unit goes on at once. One object of a
/// rank serves both of its units. Source: 003, algorithm 5; 001, section 4.2 (arbitrary neighbours).
/// @tparam Message has the slots `from` and `to`, and `points()`, its length in Scalars
template <class Scalar, class Message>
class UnitMessages {
 public:
  using Kind = ProcessingUnit::Kind;
  using Buffers = std::vector<MessageBuffer<Scalar, Message>>;

  /// Messages between a device and other ranks stay in its memory where MPI reaches them there.
  /// @param messages between all slots, in the same order on all ranks, at most one from a slot to another
  /// @param overlaps whether units compute while messages are on their way; otherwise start() waits for those of all
  /// ranks, so that phases can be timed apart
  /// @param barrier whether a barrier of all ranks, which does not count as exchange, comes before every exchange
  /// (001, section 5.4)
  UnitMessages(UnitGroup& group, std::vector<Message> messages, bool overlaps, bool barrier = false)
      : group_(group), overlaps_(overlaps), barrier_(barrier), messages_(std::move(messages)) {
    std::array<std::vector<HaloLink>, 2> links;
    for (const Message& message : messages_) {
      const Slot& from = group.slots()[static_cast<std::size_t>(message.from)];
      const Slot& to = group.slots()[static_cast<std::size_t>(message.to)];
      const bool leaves = from.rank == group.rank(), arrives = to.rank == group.rank();
      if (!leaves && !arrives) continue;
      const bool stays = leaves && arrives;
      const bool of_companion = (leaves ? from.kind : to.kind) == Kind::companion;
      const Home home = !stays && of_companion && mpi_takes_device_memory() ? Home::unit : Home::host;
      const auto count = static_cast<std::size_t>(message.points());
      const int tag = static_cast<int>(2 * unit_index(from.kind) + unit_index(to.kind));
      Scalar* data = nullptr;
      for (const std::size_t parity : {0, 1}) {
        // Two buffers of a message that leaves take turns: its receiver may still be reading the last pass's.
        if (leaves || parity == 0) data = allocate(count, home);
        if (leaves) unit(from.kind).leaving[parity].push_back({&message, data, home});
        if (arrives) unit(to.kind).arrived[parity].push_back({&message, data, home});
        if (stays) continue;
        const auto direction = leaves ? HaloLink::Direction::send : HaloLink::Direction::receive;
        links[parity].push_back({direction, leaves ? to.rank : from.rank, tag, data, count * sizeof(Scalar)});
      }
    }
    has_links_ = !links[0].empty();
    for (const auto& of_parity : links) exchanges_.emplace_back(group.comm(), of_parity);
  }

  /// Makes the last pass's messages void: the next pass takes none. Between two runs of the group.
  void forget() {
    for (Unit& unit : units_) unit.has_arrived = false;
  }

  /// What a unit takes in its next pass; nothing in the first one.
  const Buffers& arrived(Kind kind) {
    static const Buffers none;
    return unit(kind).has_arrived ? unit(kind).arrived[unit(kind).passes % 2] : none;
  }
  /// What it packs in its next pass.
  const Buffers& leaving(Kind kind) { return unit(kind).leaving[(unit(kind).passes + 1) % 2]; }

  /// By every unit, once it has taken what arrived and packed what leaves.
  void start(Kind kind) {
    Unit& own = unit(kind);
    own.has_arrived = true;
    own.packed.raise(++own.passes);
    if (group_.drives(kind)) {
      if (group_.unit_count() == 2) group_.await(other(kind).packed, own.passes);
      if (barrier_) STEELYARD_MPI(MPI_Barrier(group_.comm()));
      const double start_s = now_s();
      exchanges_[own.passes % 2].start();
      exchange_s_ += now_s() - start_s;
    }
    if (!overlaps_) receive(kind);
  }
  /// By every unit at the end of its pass: returns when the messages to it have arrived.
  void finish(Kind kind) {
    if (overlaps_) receive(kind);
  }

  /// Seconds that the unit which drives MPI has spent on messages of other ranks so far.
  double exchange_s() const { return exchange_s_; }

 private:
  struct Unit {
    std::array<Buffers, 2> leaving, arrived;  ///< by parity of the pass
    std::uint64_t passes = 0;
    bool has_arrived = false;  ///< in the last pass
    UnitGroup::Signal packed;
  };
  Unit& unit(Kind kind) { return units_[unit_index(kind)]; }
  Unit& other(Kind kind) { return units_[1 - unit_index(kind)]; }

  Scalar* allocate(std::size_t count, Home home) {
    if (home == Home::host) return memory_.emplace_back("steelyard::comm::messages", count).data();
    const auto properties = Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::comm::device_messages");
    return device_memory_.emplace_back(properties, count).data();
  }

  void receive(Kind kind) {
    const std::uint64_t pass = unit(kind).passes;
    if (!group_.drives(kind)) {
      group_.await(has_links_ ? arrived_ : other(kind).packed, pass);
      return;
    }
    const double start_s = now_s();
    exchanges_[pass % 2].wait(group_.may_spin());
    if (!overlaps_) STEELYARD_MPI(MPI_Barrier(group_.comm()));
    exchange_s_ += now_s() - start_s;
    arrived_.raise(pass);
  }

  UnitGroup& group_;
  bool overlaps_, barrier_;
  std::vector<Message> messages_;
  std::array<Unit, 2> units_;  ///< by kind
  std::vector<UntouchedArray<Scalar, PinnedMemory>> memory_;
  std::vector<Kokkos::View<Scalar*, DeviceOf<CompanionExecution>>> device_memory_;
  std::vector<HaloExchange> exchanges_;  ///< by parity of the pass
  bool has_links_ = false;               ///< with other ranks
  UnitGroup::Signal arrived_;
  double exchange_s_ = 0.0;
};

}  // namespace steelyard
