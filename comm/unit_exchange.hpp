#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "comm/unit_group.hpp"
#include "core/memory/host_copy.hpp"
#include "core/memory/untouched_array.hpp"

namespace steelyard {

/// Whether the MPI library sends from and receives into the memory of the device that Kokkos was built for, so that
/// nothing needs to be staged in host memory: what Open MPI and its relatives tell at run time, no where a library does
/// not tell, and no in a host build. In core/device/device_aware.cpp, beside all else that a back end decides.
bool mpi_takes_device_memory();

/// A message from one unit to another and where it lies on this rank. Units of one rank have the same memory.
struct UnitMessage {
  int from = 0;  ///< slot
  int to = 0;
  std::int64_t bytes = 0;          ///< any number: MPI moves long messages in pieces; nothing is sent of an empty one
  std::array<void*, 2> data = {};  ///< of exchanges of even and of odd number; where all have one, the second is null
  int part = 0;                    ///< 0, 1, 2, … of what `from` packs, which can leave part by part
};

/// Messages between the units of a group, the same in every exchange: halos, panels, blocks of a transposition, slices
/// that are gathered. Each unit calls
///   begin(), packs its messages, packed(), computes something else, finish(), takes what has arrived.
/// The unit that drives MPI moves what comes from and goes to other ranks; the units of one rank read what the other
/// one has packed where it lies. With buffers in turns a unit may go on and pack while the other one still reads. One
/// object of a rank serves both of its units; only one exchange of a group may be under way. Waiting ends when the
/// other unit fails. Source: 000, Algorithms 2 and 3 (LC); 003, algorithm 5; 001, section 4.2 (arbitrary neighbours).
class UnitExchange {
 public:
  using Kind = ProcessingUnit::Kind;
  static constexpr int all_parts = std::numeric_limits<int>::max();

  /// @param messages that this rank's units send or receive, and any others; those between two ranks come in the same
  /// order on both. @throws MpiError
  UnitExchange(UnitGroup& group, std::span<const UnitMessage> messages) : group_(group) { connect(messages); }
  ~UnitExchange();
  UnitExchange(const UnitExchange&) = delete;
  UnitExchange& operator=(const UnitExchange&) = delete;

  /// Begins an exchange: messages may arrive, and be packed.
  void begin(Kind kind);
  /// Tells that the unit has packed its first `parts` parts; on the unit that drives MPI, sends all that both have
  /// packed so far. They must not be written to before finish() has returned.
  void packed(Kind kind, int parts = all_parts);
  /// On the unit that drives MPI, returns when the other unit of the rank has packed everything; sends nothing, but for
  /// messages in parts. On the other unit returns at once.
  void await_other(Kind kind);
  /// Returns when what the unit has sent has left and all messages to the rank have arrived; packed() is implied.
  void finish(Kind kind);

  /// Exchanges that the unit has begun so far.
  std::uint64_t exchanges(Kind kind) const { return units_[unit_index(kind)].exchanges; }

 protected:
  explicit UnitExchange(UnitGroup& group) : group_(group) {}
  void connect(std::span<const UnitMessage> messages);
  UnitGroup& group() const { return group_; }

 private:
  using Requests = std::vector<MPI_Request>;
  struct Unit {
    std::uint64_t parts = 1;      ///< of an exchange
    std::uint64_t exchanges = 0;  ///< of the unit's own thread
    UnitGroup::Signal packed;     ///< parts of all exchanges
    std::uint64_t sent = 0;       ///< of these are under way; of the thread that drives MPI, as all below
  };

  Unit& unit(Kind kind) { return units_[unit_index(kind)]; }
  Unit& other(Kind kind) { return units_[1 - unit_index(kind)]; }
  const Unit& driving_unit() const { return units_[group_.drives(Kind::companion) ? 1 : 0]; }
  std::vector<Requests>& requests();
  void start(std::size_t batch);
  void send_packed();

  UnitGroup& group_;
  std::array<Unit, 2> units_;  ///< by kind
  /// By turn and batch: what arrives, then what leaves of part 0 of the host unit, of part 0 of the companion, of part
  /// 1 of the host unit, …
  std::array<std::vector<Requests>, 2> requests_;
  bool in_turns_ = false;   ///< buffers take turns
  bool in_parts_ = false;   ///< some unit has several
  bool has_links_ = false;  ///< with other ranks
  UnitGroup::Signal arrived_;
};

/// An exchange with buffers of its own, in turns.
/// @tparam Message has the slots `from` and `to`, and `points()`, its length in Elements
template <class Element, class Message>
class BufferedExchange : public UnitExchange {
 public:
  using Buffers = std::vector<MessageBuffer<Element, Message>>;

  /// @param messages between all slots, in the same order on all ranks
  /// @param in_device_memory decides by its bytes whether a message between a device and another rank stays in the
  /// device's memory, where MPI must reach it; all others lie in host memory
  BufferedExchange(
      UnitGroup& group, std::vector<Message> messages,
      const std::function<bool(double bytes)>& in_device_memory = [](double) { return false; })
      : UnitExchange(group), messages_(std::move(messages)) {
    const auto rank_of = [&](int slot) { return group.slots()[static_cast<std::size_t>(slot)].rank; };
    std::array<std::int64_t, 2> room = {0, 0};  // by home
    std::vector<Place> places;
    for (const Message& message : messages_) {
      const bool leaves = rank_of(message.from) == group.rank(), arrives = rank_of(message.to) == group.rank();
      const bool of_companion = (leaves ? message.from : message.to) == group.slot(Kind::companion);
      if (!leaves && !arrives) continue;
      const bool is_direct = of_companion && leaves != arrives &&
                             in_device_memory(static_cast<double>(message.points()) * sizeof(Element));
      const Home home = is_direct ? Home::unit : Home::host;
      std::int64_t& taken = room[static_cast<std::size_t>(home)];
      places.push_back({&message, home, leaves, arrives, taken});
      taken += 2 * padded(message.points());
    }
    memory_ = {"steelyard::comm::messages", static_cast<std::size_t>(room[0])};
    if (room[1] > 0) {
      device_memory_ = decltype(device_memory_)(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::comm::device_messages"), room[1]);
    }
    std::vector<UnitMessage> unit_messages;
    for (const auto& [message, home, leaves, arrives, first] : places) {
      const std::int64_t points = message->points();
      UnitMessage& one = unit_messages.emplace_back(
          UnitMessage{message->from, message->to, points * static_cast<std::int64_t>(sizeof(Element))});
      for (const std::size_t turn : {0, 1}) {
        Element* const data = (home == Home::host ? memory_.data() : device_memory_.data()) + first +
                              static_cast<std::int64_t>(turn) * padded(points);
        one.data[turn] = data;
        if (leaves) leaving_[turn][index_of(message->from)].push_back({message, data, home});
        if (arrives) arrived_[turn][index_of(message->to)].push_back({message, data, home});
      }
    }
    connect(unit_messages);
  }

  /// Messages between all slots.
  const std::vector<Message>& messages() const { return messages_; }
  /// Whether messages of this rank stay in its device's memory.
  bool uses_device_memory() const { return device_memory_.extent(0) > 0; }
  /// Buffers that a unit packs in the exchange that it has begun.
  const Buffers& leaving(Kind kind) const { return leaving_[exchanges(kind) % 2][unit_index(kind)]; }
  /// Buffers that have arrived after finish(), valid until the unit begins the next exchange but one; none before the
  /// first exchange.
  const Buffers& arrived(Kind kind) const {
    static const Buffers none;
    return exchanges(kind) == forgotten_ ? none : arrived_[exchanges(kind) % 2][unit_index(kind)];
  }
  /// Makes the last exchange's messages void. Between two runs of the group.
  void forget() { forgotten_ = std::max(exchanges(Kind::host), exchanges(Kind::companion)); }

 private:
  struct Place {
    const Message* message;
    Home home;
    bool leaves, arrives;
    std::int64_t first;
  };
  using ByTurnAndKind = std::array<std::array<Buffers, 2>, 2>;

  std::size_t index_of(int slot) const { return slot == group().slot(Kind::host) ? 0 : 1; }
  /// Messages do not share cache lines.
  static std::int64_t padded(std::int64_t points) {
    constexpr auto apart = static_cast<std::int64_t>(UnitGroup::apart / sizeof(Element));
    return (points + apart - 1) / apart * apart;
  }

  std::vector<Message> messages_;
  ByTurnAndKind leaving_, arrived_;
  std::uint64_t forgotten_ = 0;  ///< exchanges
  UntouchedArray<Element, PinnedMemory> memory_;
  Kokkos::View<Element*, DeviceOf<CompanionExecution>> device_memory_;
};

}  // namespace steelyard
