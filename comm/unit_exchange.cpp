#include "comm/unit_exchange.hpp"

#include <map>

#include "comm/mpi_check.hpp"

namespace steelyard {
namespace {

/// Tags of other messages on the same communicator are below.
constexpr int first_tag = 11;
/// Bytes of a piece of a message at most, since MPI counts with an int.
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

}  // namespace

UnitExchange::~UnitExchange() {
  for (std::vector<Requests>& batches : requests_) {
    for (Requests& batch : batches) {
      for (MPI_Request& request : batch) MPI_Request_free(&request);
    }
  }
}

void UnitExchange::connect(std::span<const UnitMessage> messages) {
  std::map<std::pair<int, int>, int> tags;  // the next one from one rank to another
  for (const auto& [from_slot, to_slot, bytes, data, part] : messages) {
    const Slot& from = group_.slots()[static_cast<std::size_t>(from_slot)];
    const Slot& to = group_.slots()[static_cast<std::size_t>(to_slot)];
    const bool leaves = from.rank == group_.rank(), arrives = to.rank == group_.rank();
    const auto parts = static_cast<std::uint64_t>(part) + 1;
    if (leaves) unit(from.kind).parts = std::max(unit(from.kind).parts, parts);
    in_turns_ = in_turns_ || data[1] != nullptr;
    in_parts_ = in_parts_ || (leaves && part > 0);
    if (leaves == arrives) continue;
    int& tag = tags[{from.rank, to.rank}];
    const std::size_t batch = arrives ? 0 : 2 * parts - 1 + unit_index(from.kind);
    for (std::int64_t begin = 0; begin < bytes; begin += most_bytes, ++tag) {
      const int count = static_cast<int>(std::min(bytes - begin, most_bytes));
      for (const std::size_t turn : {0, 1}) {
        if (data[turn] == nullptr) continue;
        std::byte* const piece = static_cast<std::byte*>(data[turn]) + begin;
        if (requests_[turn].size() <= batch) requests_[turn].resize(batch + 1);
        MPI_Request& request = requests_[turn][batch].emplace_back(MPI_REQUEST_NULL);
        if (arrives) {
          STEELYARD_MPI(MPI_Recv_init(piece, count, MPI_BYTE, from.rank, first_tag + tag, group_.comm(), &request));
        } else {
          STEELYARD_MPI(MPI_Send_init(piece, count, MPI_BYTE, to.rank, first_tag + tag, group_.comm(), &request));
        }
        has_links_ = true;
      }
    }
  }
}

/// Requests of the exchange under way.
std::vector<UnitExchange::Requests>& UnitExchange::requests() {
  return requests_[in_turns_ ? driving_unit().exchanges % 2 : 0];
}

void UnitExchange::start(std::size_t batch) {
  if (batch >= requests().size() || requests()[batch].empty()) return;
  Requests& started = requests()[batch];
  STEELYARD_MPI(MPI_Startall(static_cast<int>(started.size()), started.data()));
}

/// Sends what both units have packed; also lets MPI go on with messages in parts, for a library without a thread of its
/// own moves nothing otherwise.
void UnitExchange::send_packed() {
  for (const std::size_t kind : {0, 1}) {
    Unit& from = units_[kind];
    const std::uint64_t all = driving_unit().exchanges * from.parts;
    for (; from.sent < all && from.packed.reached(from.sent + 1); ++from.sent) {
      start(1 + 2 * (from.sent % from.parts) + kind);
    }
  }
  if (!in_parts_) return;
  for (Requests& batch : requests()) {
    int done = 0;
    STEELYARD_MPI(MPI_Testall(static_cast<int>(batch.size()), batch.data(), &done, MPI_STATUSES_IGNORE));
  }
}

void UnitExchange::begin(Kind kind) {
  ++unit(kind).exchanges;
  if (group_.drives(kind)) start(0);
}

void UnitExchange::packed(Kind kind, int parts) {
  Unit& own = unit(kind);
  const std::uint64_t count = (own.exchanges - 1) * own.parts + std::min(static_cast<std::uint64_t>(parts), own.parts);
  if (!own.packed.reached(count)) own.packed.raise(count);
  if (group_.drives(kind)) send_packed();
}

void UnitExchange::await_other(Kind kind) {
  if (!group_.drives(kind) || group_.unit_count() == 1) return;
  const std::uint64_t count = unit(kind).exchanges * other(kind).parts;
  const auto meanwhile = in_parts_ ? CoExecution::Work([&] { send_packed(); }) : nullptr;
  group_.await(other(kind).packed, count, meanwhile);
}

void UnitExchange::finish(Kind kind) {
  const std::uint64_t exchange = unit(kind).exchanges;
  await_other(kind);
  packed(kind);
  if (!group_.drives(kind)) {
    group_.await(has_links_ ? arrived_ : other(kind).packed, has_links_ ? exchange : exchange * other(kind).parts);
    return;
  }
  for (Requests& batch : requests()) {
    if (!batch.empty()) wait_all(batch, group_.may_spin());
  }
  arrived_.raise(exchange);
}

}  // namespace steelyard
