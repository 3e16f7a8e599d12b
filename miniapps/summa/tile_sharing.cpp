#include "miniapps/summa/tile_sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"

namespace steelyard::summa {
namespace {

using gemm::IndexRange;
using gemm::RowProducts;

constexpr std::size_t width = gemm::vectors;

/// Of each row of a matrix, so many doubles that all ranks reduce.
class RowValues {
 public:
  RowValues() = default;
  RowValues(std::int64_t rows, std::size_t of_each)
      : of_each_(of_each), values_(static_cast<std::size_t>(rows) * of_each) {}

  double* operator[](std::size_t row) { return values_.data() + row * of_each_; }
  void reduce(MPI_Comm comm, MPI_Op operation) {
    STEELYARD_MPI(
        MPI_Allreduce(MPI_IN_PLACE, values_.data(), static_cast<int>(values_.size()), MPI_DOUBLE, operation, comm));
  }

 private:
  std::size_t of_each_ = 0;
  std::vector<double> values_;
};

}  // namespace

void TileSharing::together(const std::function<void()>& work) const { collectively(comm_, work); }

RowProducts TileSharing::whole_rows(const RowWork& work) const { return sum(work, {tile_.row, tile_.rows}); }

RowProducts TileSharing::whole_b(const RowWork& work) const { return sum(work, {0, n_}); }

RowProducts TileSharing::sum(const RowWork& work, const IndexRange& wanted) const {
  const auto first = static_cast<std::size_t>(tile_.row), count = static_cast<std::size_t>(wanted.count);
  RowProducts mine, whole;
  std::vector<double> sizes;  // root mean squares over the vectors of own pieces' products
  RowValues sums;             // products, sizes
  RowValues maxima;           // norm, partial norm, whether there is NaN or Inf
  RowValues squares;          // of pieces' norms as shares of the largest
  // Nothing is allocated below, so that no rank fails on its own meanwhile.
  collectively(comm_, [&] {
    mine = work();
    if (static_cast<std::int64_t>(mine.finite.size()) != tile_.rows) {
      throw InvalidArgument(
          fmt::format("check of C: {} rows of a matrix; expected the tile's {}", mine.finite.size(), tile_.rows));
    }
    sizes.resize(mine.finite.size());
    sums = {n_, width + 1};
    maxima = {n_, 3};
    squares = {n_, 1};
    whole = {gemm::VectorBundle(wanted.count), std::vector<double>(count), std::vector<double>(count),
             std::vector<unsigned char>(count)};
  });
  // Own pieces with NaN or Inf have no numbers that could be added up.
  const auto for_own = [&](const auto& visit) {
    for (std::size_t r = 0; r < mine.finite.size(); ++r) {
      if (mine.finite[r] != 0) visit(r, first + r);
    }
  };
  for_own([&](std::size_t r, std::size_t row) {
    const double* const products = mine.products.at(static_cast<std::int64_t>(r));
    double square_sum = 0.0;
    for (std::size_t v = 0; v < width; ++v) square_sum += products[v] * products[v];
    sizes[r] = std::sqrt(square_sum / static_cast<double>(width));
    std::copy_n(products, width, sums[row]);
    sums[row][width] = sizes[r];
  });
  sums.reduce(comm_, MPI_SUM);
  for (std::size_t r = 0; r < sizes.size(); ++r) maxima[first + r][2] = mine.finite[r] == 0 ? 1.0 : 0.0;
  for_own([&](std::size_t r, std::size_t row) {
    // No difference of infinities.
    const double others = sums[row][width] > sizes[r] ? sums[row][width] - sizes[r] : 0.0;
    maxima[row][0] = mine.norms[r];
    maxima[row][1] = mine.partial_norms[r] + others;
  });
  maxima.reduce(comm_, MPI_MAX);
  for_own([&](std::size_t r, std::size_t row) {
    const double ratio = mine.norms[r] == maxima[row][0] ? 1.0 : mine.norms[r] / maxima[row][0];
    *squares[row] = ratio * ratio;
  });
  squares.reduce(comm_, MPI_SUM);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = static_cast<std::size_t>(wanted.first) + i;
    std::copy_n(sums[row], width, whole.products.at(static_cast<std::int64_t>(i)));
    // Squares of norms might over- or underflow.
    whole.norms[i] = maxima[row][0] * std::sqrt(*squares[row]);
    whole.partial_norms[i] = maxima[row][1];
    whole.finite[i] = maxima[row][2] == 0.0 ? 1 : 0;
  }
  return whole;
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
