#include "miniapps/summa/pivot_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"

namespace steelyard::summa {
namespace {

std::size_t index(Pivot pivot) { return static_cast<std::size_t>(pivot); }
int tag(Pivot pivot) { return 31 + static_cast<int>(pivot); }

}  // namespace

/// This rank's part of pivot k in block rows (of a column) or block columns [first, first + count).
struct PivotExchange::Part {
  Part(const PivotExchange& of, Pivot pivot, const PivotPanels& panels, std::int64_t k, std::int64_t first,
       std::int64_t count) {
    const std::int64_t begin = of.problem_.first_row(first), length = of.problem_.first_row(first + count) - begin;
    const std::int64_t depth = of.problem_.depth(k);
    const bool is_column = pivot == Pivot::column;
    const std::int64_t before = is_column ? (begin - of.tile_.row) * depth : begin - of.tile_.column;
    const std::int64_t rows = is_column ? length : depth, columns = is_column ? depth : length;
    const std::int64_t pitch = is_column ? depth : of.tile_.columns;
    data = static_cast<std::byte*>(is_column ? panels.column : panels.row) + before * of.element_bytes_;
    STEELYARD_MPI(MPI_Type_vector(static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(pitch),
                                  of.element_, &type));
    STEELYARD_MPI(MPI_Type_commit(&type));
  }
  ~Part() { MPI_Type_free(&type); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  void* data;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

PivotExchange::PivotExchange(Communication communication, MPI_Comm comm, const Problem& problem,
                             std::vector<partition::Rectangle> rectangles, MPI_Datatype element)
    : communication_(communication),
      comm_(comm),
      problem_(problem),
      rectangles_(std::move(rectangles)),
      element_(element),
      rank_(rank_in(comm)) {
  STEELYARD_MPI(MPI_Type_size(element, &element_bytes_));
  if (const int ranks = size_of(comm); std::ssize(rectangles_) != ranks) {
    throw InvalidArgument(fmt::format("{} rectangles for {} ranks (expected one each)", rectangles_.size(), ranks));
  }
  require_countable_pivots(problem_, rectangles_);
  const auto own = static_cast<std::size_t>(rank_);
  tile_ = problem_.tile(rectangles_[own]);
  partners_ = {partition::row_overlaps(rectangles_)[own], partition::column_overlaps(rectangles_)[own]};
  if (communication != Communication::bcast) return;
  for (const Pivot pivot : both_pivots) {
    for (const partition::Band& band :
         pivot == Pivot::column ? partition::row_bands(rectangles_) : partition::column_bands(rectangles_)) {
      if (band.units.size() == 1) continue;
      const bool is_in = std::ranges::count(band.units, rank_) > 0;
      auto comm_of_band = std::make_unique<Communicator>(comm, is_in ? 1 : 0);
      if (is_in) bands_[index(pivot)].push_back({band, std::move(comm_of_band)});
    }
  }
}

/// In the order of the bands, which is the same on all ranks: so no ranks wait for each other in a circle.
void PivotExchange::broadcast(Pivot pivot, std::int64_t k, const PivotPanels& panels) const {
  for (const SharedBand& shared : bands_[index(pivot)]) {
    const std::vector<int>& ranks = shared.band.units;
    const auto root = std::find_if(ranks.begin(), ranks.end(), [&](int rank) { return owns(rank, pivot, k); });
    const Part sent(*this, pivot, panels, k, shared.band.first, shared.band.count);
    STEELYARD_MPI(MPI_Bcast(sent.data, 1, sent.type, static_cast<int>(root - ranks.begin()), shared.comm->get()));
  }
}

void PivotExchange::receive(Pivot pivot, std::int64_t k, const PivotPanels& panels) {
  for (const partition::Overlap& with : partners_[index(pivot)]) {
    if (!owns(with.unit, pivot, k)) continue;
    const Part received(*this, pivot, panels, k, with.first, with.count);
    STEELYARD_MPI(MPI_Irecv(received.data, 1, received.type, with.unit, tag(pivot), comm_, &receives_.emplace_back()));
  }
}

void PivotExchange::send(Pivot pivot, std::int64_t k, const PivotPanels& panels) {
  if (!owns(rank_, pivot, k)) return;
  for (const partition::Overlap& with : partners_[index(pivot)]) {
    const Part sent(*this, pivot, panels, k, with.first, with.count);
    if (communication_ == Communication::paper && pivot == Pivot::row) {
      STEELYARD_MPI(MPI_Send(sent.data, 1, sent.type, with.unit, tag(pivot), comm_));
    } else {
      STEELYARD_MPI(MPI_Isend(sent.data, 1, sent.type, with.unit, tag(pivot), comm_, &sends(k).emplace_back()));
    }
  }
}

void PivotExchange::start(std::int64_t k, const PivotPanels& panels) {
  if (communication_ == Communication::bcast) {
    for (const Pivot pivot : both_pivots) broadcast(pivot, k, panels);
    return;
  }
  // All receives are posted before the first send: no sender waits for them, and a rank that receives from several
  // cannot lock.
  for (const Pivot pivot : both_pivots) receive(pivot, k, panels);
  for (const Pivot pivot : both_pivots) send(pivot, k, panels);
  if (communication_ == Communication::paper) {
    wait();
    release(k);
  }
}

bool PivotExchange::progress() {
  bool left = false;
  for (Requests* requests : {&receives_, &sends_[0], &sends_[1]}) {
    int done = 1;
    STEELYARD_MPI(MPI_Testall(static_cast<int>(requests->size()), requests->data(), &done, MPI_STATUSES_IGNORE));
    if (done != 0) requests->clear();
    left = left || done == 0;
  }
  return left;
}

void PivotExchange::wait(Requests& requests) {
  STEELYARD_MPI(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  requests.clear();
}

void require_countable_pivots(const Problem& problem, const std::vector<partition::Rectangle>& rectangles) {
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    const Tile tile = problem.tile(rectangles[i]);
    const std::int64_t most = std::max(tile.rows, tile.columns);
    if (most > std::numeric_limits<int>::max() / problem.depth(0)) {
      throw InvalidArgument(
          fmt::format("rank {}: {} rows or columns of pivots {} deep (expected messages of less than 2^31 elements: "
                      "smaller blocks)",
                      i, most, problem.depth(0)));
    }
  }
}

}  // namespace steelyard::summa
