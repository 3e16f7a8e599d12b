#include "miniapps/summa/pivot_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "partition/bands.hpp"
#include "partition/rectangle_neighbours.hpp"

namespace steelyard::summa {
namespace {

using partition::Band;
using partition::Overlap;
using partition::Rectangle;

constexpr int column_tag = 31;
constexpr int row_tag = 32;

/// What is sent or received in one piece: rows of elements, `pitch` elements apart. Freed when messages are done.
class Datatype {
 public:
  Datatype(std::int64_t rows, std::int64_t columns, std::int64_t pitch, MPI_Datatype element) {
    if (columns == pitch) {
      STEELYARD_MPI(MPI_Type_contiguous(static_cast<int>(rows * columns), element, &type_));
    } else {
      STEELYARD_MPI(
          MPI_Type_vector(static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(pitch), element, &type_));
    }
    STEELYARD_MPI(MPI_Type_commit(&type_));
  }
  ~Datatype() { MPI_Type_free(&type_); }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Part of a panel: where it is, and its shape.
struct Part {
  void* data;
  Datatype type;
};

class Requests {
 public:
  void receive(const Part& part, int from, int tag, MPI_Comm comm) {
    STEELYARD_MPI(MPI_Irecv(part.data, 1, part.type.get(), from, tag, comm, &requests_.emplace_back()));
  }
  void send(const Part& part, int to, int tag, MPI_Comm comm) {
    STEELYARD_MPI(MPI_Isend(part.data, 1, part.type.get(), to, tag, comm, &requests_.emplace_back()));
  }
  void wait() {
    STEELYARD_MPI(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    requests_.clear();
  }
  /// @return whether there are any left
  bool progress() {
    if (requests_.empty()) return false;
    int done = 0;
    STEELYARD_MPI(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE));
    if (done != 0) requests_.clear();
    return done == 0;
  }

 private:
  std::vector<MPI_Request> requests_;
};

/// The parts of the pivots that this rank needs or owns, and the ranks that it shares them with.
class Pivots {
 public:
  Pivots(MPI_Comm comm, const Problem& problem, std::vector<Rectangle> rectangles, MPI_Datatype element)
      : comm_(comm), problem_(problem), rectangles_(std::move(rectangles)), element_(element) {
    int size = 0, bytes = 0;
    STEELYARD_MPI(MPI_Comm_rank(comm, &rank_));
    STEELYARD_MPI(MPI_Comm_size(comm, &size));
    STEELYARD_MPI(MPI_Type_size(element, &bytes));
    element_bytes_ = static_cast<std::size_t>(bytes);
    if (rectangles_.size() != static_cast<std::size_t>(size)) {
      throw InvalidArgument(fmt::format("{} rectangles for {} ranks (expected one each)", rectangles_.size(), size));
    }
    require_countable_pivots(problem_, rectangles_);
    const auto own = static_cast<std::size_t>(rank_);
    tile_ = problem_.tile(rectangles_[own]);
    row_partners_ = partition::row_overlaps(rectangles_)[own];
    column_partners_ = partition::column_overlaps(rectangles_)[own];
  }

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  const std::vector<Rectangle>& rectangles() const { return rectangles_; }

  bool owns_column(int rank, std::int64_t k) const {
    const Rectangle& rectangle = rectangles_[static_cast<std::size_t>(rank)];
    return !rectangle.empty() && rectangle.column <= k && k < rectangle.end_column();
  }
  bool owns_row(int rank, std::int64_t k) const {
    const Rectangle& rectangle = rectangles_[static_cast<std::size_t>(rank)];
    return !rectangle.empty() && rectangle.row <= k && k < rectangle.end_row();
  }

  /// Block rows [first, first + count) of this rank's part of pivot column k.
  Part column_part(const PivotPanels& panels, std::int64_t k, std::int64_t first, std::int64_t count) const {
    const std::int64_t row = problem_.first_row(first), rows = problem_.first_row(first + count) - row;
    const std::int64_t depth = problem_.depth(k);
    return {at(panels.column, (row - tile_.row) * depth), {rows, depth, depth, element_}};
  }
  /// Block columns [first, first + count) of this rank's part of pivot row k.
  Part row_part(const PivotPanels& panels, std::int64_t k, std::int64_t first, std::int64_t count) const {
    const std::int64_t column = problem_.first_row(first), columns = problem_.first_row(first + count) - column;
    return {at(panels.row, column - tile_.column), {problem_.depth(k), columns, tile_.columns, element_}};
  }

  void receive_column(std::int64_t k, const PivotPanels& panels, Requests& requests) const {
    for (const Overlap& with : row_partners_) {
      if (!owns_column(with.unit, k)) continue;
      requests.receive(column_part(panels, k, with.first, with.count), with.unit, column_tag, comm_);
    }
  }
  void receive_row(std::int64_t k, const PivotPanels& panels, Requests& requests) const {
    for (const Overlap& with : column_partners_) {
      if (!owns_row(with.unit, k)) continue;
      requests.receive(row_part(panels, k, with.first, with.count), with.unit, row_tag, comm_);
    }
  }
  void send_column(std::int64_t k, const PivotPanels& panels, Requests& requests) const {
    if (!owns_column(rank_, k)) return;
    for (const Overlap& with : row_partners_) {
      requests.send(column_part(panels, k, with.first, with.count), with.unit, column_tag, comm_);
    }
  }
  void send_row(std::int64_t k, const PivotPanels& panels, Requests& requests) const {
    if (!owns_row(rank_, k)) return;
    for (const Overlap& with : column_partners_) {
      requests.send(row_part(panels, k, with.first, with.count), with.unit, row_tag, comm_);
    }
  }
  /// One message after the other.
  void send_row_blocking(std::int64_t k, const PivotPanels& panels) const {
    if (!owns_row(rank_, k)) return;
    for (const Overlap& with : column_partners_) {
      const Part part = row_part(panels, k, with.first, with.count);
      STEELYARD_MPI(MPI_Send(part.data, 1, part.type.get(), with.unit, row_tag, comm_));
    }
  }

 private:
  void* at(void* panel, std::int64_t elements) const {
    return static_cast<std::byte*>(panel) + static_cast<std::size_t>(elements) * element_bytes_;
  }

  MPI_Comm comm_;
  Problem problem_;
  std::vector<Rectangle> rectangles_;
  MPI_Datatype element_;
  std::size_t element_bytes_ = 0;
  int rank_ = 0;
  Tile tile_;
  std::vector<Overlap> row_partners_, column_partners_;  ///< ranks that share block rows, or columns, with this one
};

/// Source: 001, algorithm 1.
class PaperExchange : public PivotExchange {
 public:
  explicit PaperExchange(Pivots pivots) : pivots_(std::move(pivots)) {}

  void start(std::int64_t k, const PivotPanels& panels) override {
    Requests horizontal, vertical;
    pivots_.receive_column(k, panels, horizontal);
    pivots_.send_column(k, panels, horizontal);
    // In a partition in columns there is one owner to receive from. In others they may be several, and blocking
    // receives from one after the other could lock.
    pivots_.receive_row(k, panels, vertical);
    pivots_.send_row_blocking(k, panels);
    vertical.wait();
    horizontal.wait();
  }

 private:
  Pivots pivots_;
};

/// A band with this rank in it, and the communicator of its ranks.
class BandComm {
 public:
  BandComm(const Pivots& pivots, Band band) : band_(std::move(band)) {
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    STEELYARD_MPI(MPI_Comm_group(pivots.comm(), &all));
    STEELYARD_MPI(MPI_Group_incl(all, static_cast<int>(band_.units.size()), band_.units.data(), &some));
    STEELYARD_MPI(MPI_Comm_create_group(pivots.comm(), some, 0, &comm_));
    STEELYARD_MPI(MPI_Group_free(&some));
    STEELYARD_MPI(MPI_Group_free(&all));
    STEELYARD_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  }
  ~BandComm() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  BandComm(BandComm&& other) noexcept
      : band_(std::move(other.band_)), comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  BandComm& operator=(BandComm&&) = delete;

  const Band& band() const { return band_; }

  /// @param owner says whether a rank of all ranks' communicator owns the band's part
  template <class Owner>
  void broadcast(const Part& part, const Owner& owner) const {
    int root = 0;
    while (!owner(band_.units[static_cast<std::size_t>(root)])) ++root;
    STEELYARD_MPI(MPI_Bcast(part.data, 1, part.type.get(), root, comm_));
  }

 private:
  Band band_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

class BroadcastExchange : public PivotExchange {
 public:
  explicit BroadcastExchange(Pivots pivots)
      : pivots_(std::move(pivots)),
        rows_(own_bands(partition::row_bands(pivots_.rectangles()))),
        columns_(own_bands(partition::column_bands(pivots_.rectangles()))) {}

  void start(std::int64_t k, const PivotPanels& panels) override {
    for (const BandComm& one : rows_) {
      one.broadcast(pivots_.column_part(panels, k, one.band().first, one.band().count),
                    [&](int rank) { return pivots_.owns_column(rank, k); });
    }
    for (const BandComm& one : columns_) {
      one.broadcast(pivots_.row_part(panels, k, one.band().first, one.band().count),
                    [&](int rank) { return pivots_.owns_row(rank, k); });
    }
  }

 private:
  /// In the order of the bands, which is the same on all ranks: so no ranks wait for each other in a circle.
  std::vector<BandComm> own_bands(const std::vector<Band>& bands) const {
    std::vector<BandComm> own;
    for (const Band& band : bands) {
      const bool is_in = std::find(band.units.begin(), band.units.end(), pivots_.rank()) != band.units.end();
      if (is_in && band.units.size() > 1) own.emplace_back(pivots_, band);
    }
    return own;
  }

  Pivots pivots_;
  std::vector<BandComm> rows_, columns_;
};

class PipelinedExchange : public PivotExchange {
 public:
  explicit PipelinedExchange(Pivots pivots) : pivots_(std::move(pivots)) {}

  void start(std::int64_t k, const PivotPanels& panels) override {
    // Receives first: a message that finds its receive posted is not copied twice.
    pivots_.receive_column(k, panels, receives_);
    pivots_.receive_row(k, panels, receives_);
    pivots_.send_column(k, panels, sends(k));
    pivots_.send_row(k, panels, sends(k));
  }

  bool progress() override {
    bool left = receives_.progress();
    for (Requests& sends : sends_) left = sends.progress() || left;
    return left;
  }
  void wait() override { receives_.wait(); }
  void release(std::int64_t k) override { sends(k).wait(); }

 private:
  Requests& sends(std::int64_t k) { return sends_[static_cast<std::size_t>(k % 2)]; }

  Pivots pivots_;
  Requests receives_;
  std::array<Requests, 2> sends_;
};

}  // namespace

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

std::unique_ptr<PivotExchange> make_pivot_exchange(Communication communication, MPI_Comm comm, const Problem& problem,
                                                   std::vector<partition::Rectangle> rectangles, MPI_Datatype element) {
  Pivots pivots(comm, problem, std::move(rectangles), element);
  switch (communication) {
    case Communication::paper:
      return std::make_unique<PaperExchange>(std::move(pivots));
    case Communication::bcast:
      return std::make_unique<BroadcastExchange>(std::move(pivots));
    case Communication::pipelined:
      return std::make_unique<PipelinedExchange>(std::move(pivots));
  }
  throw InvalidArgument("unknown communication");
}

}  // namespace steelyard::summa
