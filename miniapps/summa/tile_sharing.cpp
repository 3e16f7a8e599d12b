#include "miniapps/summa/tile_sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"

namespace steelyard::summa {
namespace {

using gemm::IndexRange;
using gemm::RowProducts;
using gemm::VectorBundle;

void all_reduce(MPI_Comm comm, std::vector<double>& values, MPI_Op operation) {
  STEELYARD_MPI(
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, operation, comm));
}

/// This rank's pieces of some rows of a matrix, and the sums over all ranks' pieces of all n rows. Only reduce()
/// communicates; it allocates nothing, so that no rank fails on its own meanwhile.
class PiecesOfRows {
 public:
  /// @param first the matrix's row that `mine` begins with @param wanted rows of the result
  PiecesOfRows(std::int64_t n, std::int64_t first, RowProducts mine, const IndexRange& wanted)
      : first_(static_cast<std::size_t>(first)),
        wanted_(wanted),
        mine_(std::move(mine)),
        sizes_(mine_.finite.size()),
        sums_(static_cast<std::size_t>(n) * (width_ + 1)),
        maxima_(static_cast<std::size_t>(n) * 3),
        squares_(static_cast<std::size_t>(n)),
        whole_{VectorBundle(wanted.count), std::vector<double>(count()), std::vector<double>(count()),
               std::vector<unsigned char>(count())} {}

  void reduce(MPI_Comm comm) {
    for_own([&](std::size_t r, std::size_t row) {
      const double* const products = mine_.products.at(static_cast<std::int64_t>(r));
      double squares = 0.0;
      for (std::size_t v = 0; v < width_; ++v) squares += products[v] * products[v];
      sizes_[r] = std::sqrt(squares / static_cast<double>(width_));
      std::copy_n(products, width_, sum(row));
      sum(row)[width_] = sizes_[r];
    });
    all_reduce(comm, sums_, MPI_SUM);
    for (std::size_t r = 0; r < sizes_.size(); ++r)
      maximum(first_ + r, Maximum::special) = mine_.finite[r] == 0 ? 1 : 0;
    for_own([&](std::size_t r, std::size_t row) {
      maximum(row, Maximum::norm) = mine_.norms[r];
      // No difference of infinities.
      const double others = sum(row)[width_] > sizes_[r] ? sum(row)[width_] - sizes_[r] : 0.0;
      maximum(row, Maximum::partial) = mine_.partial_norms[r] + others;
    });
    all_reduce(comm, maxima_, MPI_MAX);
    for_own([&](std::size_t r, std::size_t row) {
      const double largest = maximum(row, Maximum::norm);
      const double ratio = mine_.norms[r] == largest ? 1.0 : mine_.norms[r] / largest;
      squares_[row] = ratio * ratio;
    });
    all_reduce(comm, squares_, MPI_SUM);
    take();
  }

  RowProducts& whole() { return whole_; }

 private:
  enum class Maximum : std::size_t { norm, partial, special };

  std::size_t count() const { return static_cast<std::size_t>(wanted_.count); }
  double* sum(std::size_t row) { return sums_.data() + row * (width_ + 1); }
  double& maximum(std::size_t row, Maximum which) { return maxima_[3 * row + static_cast<std::size_t>(which)]; }

  /// Own pieces with NaN or Inf have no numbers that could be added up.
  template <class Visit>
  void for_own(const Visit& visit) const {
    for (std::size_t r = 0; r < mine_.finite.size(); ++r) {
      if (mine_.finite[r] != 0) visit(r, first_ + r);
    }
  }

  void take() {
    for (std::size_t i = 0; i < count(); ++i) {
      const std::size_t row = static_cast<std::size_t>(wanted_.first) + i;
      std::copy_n(sum(row), width_, whole_.products.at(static_cast<std::int64_t>(i)));
      // Squares of norms might over- or underflow.
      whole_.norms[i] = maximum(row, Maximum::norm) * std::sqrt(squares_[row]);
      whole_.partial_norms[i] = maximum(row, Maximum::partial);
      whole_.finite[i] = maximum(row, Maximum::special) == 0.0 ? 1 : 0;
    }
  }

  static constexpr std::size_t width_ = gemm::vectors;

  std::size_t first_;
  IndexRange wanted_;
  RowProducts mine_;
  std::vector<double> sizes_;  ///< root mean squares over the vectors of own pieces' products
  std::vector<double> sums_;   ///< of each row: products, sizes
  std::vector<double> maxima_;
  std::vector<double> squares_;  ///< of pieces' norms as shares of the largest
  RowProducts whole_;
};

}  // namespace

void TileSharing::together(const std::function<void()>& work) const { collectively(comm_, work); }

RowProducts TileSharing::whole_rows(const RowWork& work) const { return sum(work, {tile_.row, tile_.rows}); }

RowProducts TileSharing::whole_b(const RowWork& work) const { return sum(work, {0, n_}); }

RowProducts TileSharing::sum(const RowWork& work, const IndexRange& wanted) const {
  std::optional<PiecesOfRows> pieces;
  collectively(comm_, [&] {
    RowProducts mine = work();
    if (static_cast<std::int64_t>(mine.finite.size()) != tile_.rows) {
      throw InvalidArgument(
          fmt::format("check of C: {} rows of a matrix; expected the tile's {}", mine.finite.size(), tile_.rows));
    }
    pieces.emplace(n_, tile_.row, std::move(mine), wanted);
  });
  pieces->reduce(comm_);
  return std::move(pieces->whole());
}

std::vector<unsigned char> TileSharing::marked_by_any(const ColumnWork& work) const {
  std::vector<unsigned char> own, all;
  const auto first = static_cast<std::ptrdiff_t>(tile_.column);
  collectively(comm_, [&] {
    own = work();
    all.resize(static_cast<std::size_t>(n_));
    std::copy(own.begin(), own.end(), all.begin() + first);
  });
  STEELYARD_MPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(n_), MPI_UNSIGNED_CHAR, MPI_MAX, comm_));
  std::copy_n(all.begin() + first, own.size(), own.begin());
  return own;
}

}  // namespace steelyard::summa
