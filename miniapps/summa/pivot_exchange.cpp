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

/// What all ways of exchanging know: the parts of panels, and who owns which.
class Blocks {
 public:
  Blocks(MPI_Comm comm, const Problem& problem, std::vector<Rectangle> rectangles, MPI_Datatype element)
      : comm_(comm), problem_(problem), rectangles_(std::move(rectangles)), element_(element) {
    int rank = 0, size = 0, bytes = 0;
    STEELYARD_MPI(MPI_Comm_rank(comm, &rank));
    STEELYARD_MPI(MPI_Comm_size(comm, &size));
    STEELYARD_MPI(MPI_Type_size(element, &bytes));
    element_bytes_ = static_cast<std::size_t>(bytes);
    if (rectangles_.size() != static_cast<std::size_t>(size)) {
      throw InvalidArgument(fmt::format("{} rectangles for {} ranks (expected one each)", rectangles_.size(), size));
    }
    require_countable_pivots(problem_, rectangles_);
    rank_ = rank;
    tile_ = problem_.tile(own());
  }

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  const Rectangle& own() const { return rectangles_[static_cast<std::size_t>(rank_)]; }
  const std::vector<Rectangle>& rectangles() const { return rectangles_; }

  bool owns_column(int rank, std::int64_t k) const {
    const Rectangle& rectangle = rectangles_[static_cast<std::size_t>(rank)];
    return !rectangle.empty() && rectangle.column <= k && k < rectangle.end_column();
  }
  bool owns_row(int rank, std::int64_t k) const {
    const Rectangle& rectangle = rectangles_[static_cast<std::size_t>(rank)];
    return !rectangle.empty() && rectangle.row <= k && k < rectangle.end_row();
  }

  /// Part of a panel, where it is and of what shape.
  struct Part {
    void* data;
    Datatype type;
  };
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
};

class Requests {
 public:
  void receive(const Blocks::Part& part, int from, int tag, MPI_Comm comm) {
    STEELYARD_MPI(MPI_Irecv(part.data, 1, part.type.get(), from, tag, comm, &requests_.emplace_back()));
  }
  void send(const Blocks::Part& part, int to, int tag, MPI_Comm comm) {
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

/// Whom a rank shares block rows and block columns with.
class Partners {
 public:
  explicit Partners(const Blocks& blocks)
      : rows_(partition::row_overlaps(blocks.rectangles())[static_cast<std::size_t>(blocks.rank())]),
        columns_(partition::column_overlaps(blocks.rectangles())[static_cast<std::size_t>(blocks.rank())]) {}

  const std::vector<Overlap>& in_rows() const { return rows_; }
  const std::vector<Overlap>& in_columns() const { return columns_; }

 private:
  std::vector<Overlap> rows_, columns_;
};

/// Source: 001, algorithm 1.
class PaperExchange : public PivotExchange {
 public:
  explicit PaperExchange(Blocks blocks) : blocks_(std::move(blocks)), partners_(blocks_) {}

  void start(std::int64_t k, const PivotPanels& panels) override {
    Requests horizontal;
    for (const Overlap& overlap : partners_.in_rows()) {
      if (blocks_.owns_column(blocks_.rank(), k)) {
        horizontal.send(blocks_.column_part(panels, k, overlap.first, overlap.count), overlap.unit, column_tag,
                        blocks_.comm());
      } else if (blocks_.owns_column(overlap.unit, k)) {
        horizontal.receive(blocks_.column_part(panels, k, overlap.first, overlap.count), overlap.unit, column_tag,
                           blocks_.comm());
      }
    }
    send_down(k, panels);
    horizontal.wait();
  }

 private:
  /// One message from one owner in a partition in columns; in others owners may be several, and receiving from one
  /// after the other could lock.
  void send_down(std::int64_t k, const PivotPanels& panels) {
    Requests vertical;
    for (const Overlap& overlap : partners_.in_columns()) {
      if (blocks_.owns_row(blocks_.rank(), k)) {
        const Blocks::Part part = blocks_.row_part(panels, k, overlap.first, overlap.count);
        STEELYARD_MPI(MPI_Send(part.data, 1, part.type.get(), overlap.unit, row_tag, blocks_.comm()));
      } else if (blocks_.owns_row(overlap.unit, k)) {
        vertical.receive(blocks_.row_part(panels, k, overlap.first, overlap.count), overlap.unit, row_tag,
                         blocks_.comm());
      }
    }
    vertical.wait();
  }

  Blocks blocks_;
  Partners partners_;
};

/// A band with this rank in it, and the communicator of its ranks.
class BandComm {
 public:
  BandComm(const Blocks& blocks, Band band) : band_(std::move(band)) {
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    STEELYARD_MPI(MPI_Comm_group(blocks.comm(), &all));
    STEELYARD_MPI(MPI_Group_incl(all, static_cast<int>(band_.units.size()), band_.units.data(), &some));
    STEELYARD_MPI(MPI_Comm_create_group(blocks.comm(), some, 0, &comm_));
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

  /// @param owner says whether a rank of the blocks' communicator owns the band's part
  template <class Owner>
  void broadcast(const Blocks::Part& part, const Owner& owner) const {
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
  explicit BroadcastExchange(Blocks blocks)
      : blocks_(std::move(blocks)),
        rows_(own_bands(partition::row_bands(blocks_.rectangles()))),
        columns_(own_bands(partition::column_bands(blocks_.rectangles()))) {}

  void start(std::int64_t k, const PivotPanels& panels) override {
    for (const BandComm& one : rows_) {
      one.broadcast(blocks_.column_part(panels, k, one.band().first, one.band().count),
                    [&](int rank) { return blocks_.owns_column(rank, k); });
    }
    for (const BandComm& one : columns_) {
      one.broadcast(blocks_.row_part(panels, k, one.band().first, one.band().count),
                    [&](int rank) { return blocks_.owns_row(rank, k); });
    }
  }

 private:
  /// In the order of the bands, which is the same on all ranks: so nobody waits for somebody who waits for him.
  std::vector<BandComm> own_bands(const std::vector<Band>& bands) const {
    std::vector<BandComm> own;
    for (const Band& band : bands) {
      const bool is_in = std::find(band.units.begin(), band.units.end(), blocks_.rank()) != band.units.end();
      if (is_in && band.units.size() > 1) own.emplace_back(blocks_, band);
    }
    return own;
  }

  Blocks blocks_;
  std::vector<BandComm> rows_, columns_;
};

class PipelinedExchange : public PivotExchange {
 public:
  explicit PipelinedExchange(Blocks blocks) : blocks_(std::move(blocks)), partners_(blocks_) {}

  void start(std::int64_t k, const PivotPanels& panels) override {
    Requests& sends = of(k);
    // A receive that is posted early is one that nobody has to wait for.
    for (const Overlap& overlap : partners_.in_rows()) {
      if (!blocks_.owns_column(overlap.unit, k)) continue;
      receives_.receive(blocks_.column_part(panels, k, overlap.first, overlap.count), overlap.unit, column_tag,
                        blocks_.comm());
    }
    for (const Overlap& overlap : partners_.in_columns()) {
      if (!blocks_.owns_row(overlap.unit, k)) continue;
      receives_.receive(blocks_.row_part(panels, k, overlap.first, overlap.count), overlap.unit, row_tag,
                        blocks_.comm());
    }
    for (const Overlap& overlap : partners_.in_rows()) {
      if (!blocks_.owns_column(blocks_.rank(), k)) break;
      sends.send(blocks_.column_part(panels, k, overlap.first, overlap.count), overlap.unit, column_tag,
                 blocks_.comm());
    }
    for (const Overlap& overlap : partners_.in_columns()) {
      if (!blocks_.owns_row(blocks_.rank(), k)) break;
      sends.send(blocks_.row_part(panels, k, overlap.first, overlap.count), overlap.unit, row_tag, blocks_.comm());
    }
  }

  bool progress() override {
    bool left = receives_.progress();
    for (Requests& sends : sends_) left = sends.progress() || left;
    return left;
  }
  void wait() override { receives_.wait(); }
  void release(std::int64_t k) override { of(k).wait(); }

 private:
  Requests& of(std::int64_t k) { return sends_[static_cast<std::size_t>(k % 2)]; }

  Blocks blocks_;
  Partners partners_;
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
  Blocks blocks(comm, problem, std::move(rectangles), element);
  switch (communication) {
    case Communication::paper:
      return std::make_unique<PaperExchange>(std::move(blocks));
    case Communication::bcast:
      return std::make_unique<BroadcastExchange>(std::move(blocks));
    case Communication::pipelined:
      return std::make_unique<PipelinedExchange>(std::move(blocks));
  }
  throw InvalidArgument("unknown communication");
}

}  // namespace steelyard::summa
