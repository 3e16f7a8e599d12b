#include "miniapps/summa/pivot_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
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

/// A pivot column of A, whose parts travel along rows, or a pivot row of B. Also the tag of its messages.
enum class Pivot { column = 31, row = 32 };

/// The datatype of one message: rows of elements, `pitch` elements apart.
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

/// Part of a panel: its address and shape.
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
    partners_ = {{Pivot::column, partition::row_overlaps(rectangles_)[own]},
                 {Pivot::row, partition::column_overlaps(rectangles_)[own]}};
  }

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  const std::vector<Rectangle>& rectangles() const { return rectangles_; }

  bool owns(int rank, Pivot pivot, std::int64_t k) const {
    const Rectangle& rectangle = rectangles_[static_cast<std::size_t>(rank)];
    return pivot == Pivot::column ? owns_column(rectangle, k) : owns_row(rectangle, k);
  }

  /// Of pivot k, this rank's part in block rows (of a column) or block columns [first, first + count).
  Part part(Pivot pivot, const PivotPanels& panels, std::int64_t k, std::int64_t first, std::int64_t count) const {
    const std::int64_t begin = problem_.first_row(first), length = problem_.first_row(first + count) - begin;
    const std::int64_t depth = problem_.depth(k);
    if (pivot == Pivot::column)
      return {at(panels.column, (begin - tile_.row) * depth), {length, depth, depth, element_}};
    return {at(panels.row, begin - tile_.column), {depth, length, tile_.columns, element_}};
  }

  void receive(Pivot pivot, std::int64_t k, const PivotPanels& panels, Requests& requests) const {
    for (const Overlap& with : partners_.at(pivot)) {
      if (!owns(with.unit, pivot, k)) continue;
      requests.receive(part(pivot, panels, k, with.first, with.count), with.unit, static_cast<int>(pivot), comm_);
    }
  }
  void send(Pivot pivot, std::int64_t k, const PivotPanels& panels, Requests& requests) const {
    if (!owns(rank_, pivot, k)) return;
    for (const Overlap& with : partners_.at(pivot)) {
      requests.send(part(pivot, panels, k, with.first, with.count), with.unit, static_cast<int>(pivot), comm_);
    }
  }
  /// One message after the other.
  void send_blocking(Pivot pivot, std::int64_t k, const PivotPanels& panels) const {
    if (!owns(rank_, pivot, k)) return;
    for (const Overlap& with : partners_.at(pivot)) {
      const Part sent = part(pivot, panels, k, with.first, with.count);
      STEELYARD_MPI(MPI_Send(sent.data, 1, sent.type.get(), with.unit, static_cast<int>(pivot), comm_));
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
  std::map<Pivot, std::vector<Overlap>> partners_;  ///< ranks that share block rows with this one, or block columns
};

/// Source: 001, algorithm 1.
class PaperExchange : public PivotExchange {
 public:
  explicit PaperExchange(Pivots pivots) : pivots_(std::move(pivots)) {}

  void start(std::int64_t k, const PivotPanels& panels) override {
    Requests horizontal, vertical;
    pivots_.receive(Pivot::column, k, panels, horizontal);
    pivots_.send(Pivot::column, k, panels, horizontal);
    // In a partition in columns there is one owner to receive from. In others they may be several, and blocking
    // receives from one after the other could lock.
    pivots_.receive(Pivot::row, k, panels, vertical);
    pivots_.send_blocking(Pivot::row, k, panels);
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
  explicit BroadcastExchange(Pivots pivots) : pivots_(std::move(pivots)) {
    bands_[Pivot::column] = own_bands(partition::row_bands(pivots_.rectangles()));
    bands_[Pivot::row] = own_bands(partition::column_bands(pivots_.rectangles()));
  }

  void start(std::int64_t k, const PivotPanels& panels) override {
    for (const auto& [pivot, bands] : bands_) {
      for (const BandComm& one : bands) {
        one.broadcast(pivots_.part(pivot, panels, k, one.band().first, one.band().count),
                      [&, pivot = pivot](int rank) { return pivots_.owns(rank, pivot, k); });
      }
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
  std::map<Pivot, std::vector<BandComm>> bands_;
};

class PipelinedExchange : public PivotExchange {
 public:
  explicit PipelinedExchange(Pivots pivots) : pivots_(std::move(pivots)) {}

  void start(std::int64_t k, const PivotPanels& panels) override {
    // All receives are posted before the first send, so that no sender waits for them.
    for (const Pivot pivot : {Pivot::column, Pivot::row}) pivots_.receive(pivot, k, panels, receives_);
    for (const Pivot pivot : {Pivot::column, Pivot::row}) pivots_.send(pivot, k, panels, sends(k));
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
