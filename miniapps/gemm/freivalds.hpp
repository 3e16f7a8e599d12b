#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/memory/matrix.hpp"
#include "core/sweep/host_row.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// Vectors that a matrix is multiplied with at the same time: as many as fill SIMD lanes.
inline constexpr int vectors = 8;

/// Sums over a row of a matrix or over a piece of one; those of all pieces add up to those of the row.
struct RowSums {
  long double products[vectors] = {};  ///< of the row with each vector
  long double squares = 0.0L;          ///< of the elements
  /// The largest root mean square, over the vectors, of the products' partial sums, sampled every 64 columns; by the
  /// triangle inequality no less than that where pieces have been added.
  long double partial = 0.0L;
  /// place_number() of each element that is NaN or Inf, which the sums above take for 0: a fingerprint of their places.
  long double special = 0.0L;
};

/// A positive number below 2^22 that is random for each column, so that sums of them are exact.
constexpr double place_number(std::int64_t column) {
  return static_cast<double>((splitmix64(static_cast<std::uint64_t>(column)) >> 43U) + 1U);
}

/// Adds up a piece of a row, in double precision. @param first its first column in the whole matrix @param factors
/// elements of the vectors for each column of the piece, side by side so that a loop over them fills SIMD lanes
/// @param skips whether NaN and Inf do not count where the vectors are 0
template <class Scalar>
RowSums sums_of_piece(const Scalar* elements, std::int64_t first, std::int64_t columns, const double* factors,
                      bool skips) {
  constexpr std::int64_t sampled_columns = 64;
  double products[vectors] = {};
  double squares = 0.0, partial_squares = 0.0, special = 0.0;
  for (std::int64_t begin = 0, end = 0; begin < columns; begin = end) {
    // Samples are taken where those of the whole row are.
    end = std::min(columns, begin + sampled_columns - (first + begin) % sampled_columns);
    for (std::int64_t j = begin; j < end; ++j) {
      double value = static_cast<double>(elements[j]);
      if (!std::isfinite(value)) {
        if (!skips || factors[j * vectors] != 0.0) special += place_number(first + j);
        value = 0.0;
      }
      squares += value * value;
      for_columns(vectors, [&](const std::int64_t v) { products[v] += value * factors[j * vectors + v]; });
    }
    double sample = 0.0;
    for (const double product : products) sample += product * product;
    partial_squares = std::max(partial_squares, sample);
  }
  RowSums sums;
  std::copy_n(products, vectors, sums.products);
  sums.squares = squares;
  sums.partial = std::sqrt(partial_squares / vectors);
  sums.special = special;
  // Squares that underflow are lost beside the others where these are large enough.
  if (squares >= 1e-270 && std::isfinite(squares)) return sums;
  sums.squares = 0.0L;
  for (std::int64_t j = 0; j < columns; ++j) {
    const auto value = static_cast<long double>(elements[j]);
    if (std::isfinite(value)) sums.squares += value * value;
  }
  return sums;
}

/// The parts of A, B and C that a process has, and how sums over rows are added up over the parts of all processes;
/// as it is, one process that has all of them.
struct Share {
  using Work = std::function<std::vector<RowSums>()>;

  std::int64_t row = 0, column = 0;  ///< of the first element of each part in the whole matrix
  /// Calls `work`, which returns the sums of all rows of a matrix over this process's part of them. Collective: an
  /// exception on one process is thrown on all. @return the sums of whole rows
  std::function<std::vector<RowSums>(const Work& work)> sum = [](const Work& work) { return work(); };
};

/// Freivalds' check: C x = alpha A (B x) + beta C' x for random vectors x of +1 and -1, where C' is C before the
/// multiplication; in double precision on the host unit's threads, at the cost of reading each matrix once.
/// Source: R. Freivalds, Probabilistic machines can use less running time, 1977.
///
/// The root mean square of a row's deviations over the vectors estimates the Euclidean norm of its errors. A single
/// wrong element deviates by its whole error in every vector; of other errors, a vector misses at most half. The error
/// of a row is that estimate as a share of t = 1 + 8 / sqrt(vectors) times a bound of the norm of its rounding errors
/// and losses to underflow: random signs make more than t of a norm with a probability of at most e^-32 (Laurent's and
/// Massart's bound). With Euclidean norms, R_i = |alpha| |A_i| |B|_F + |beta| |C'_i|, and the unit roundoffs w of
/// double and u of float, the bound is w (2 k + 2 n + 6) R_i: the worst case in double of a product in any order and of
/// this check's sums (N. Higham, Accuracy and stability of numerical algorithms, 2002, section 3.1). In float the like
/// would hide a missing panel. There, independent roundings add up like a random walk (N. Higham, T. Mary, A new
/// approach to probabilistic rounding error analysis, 2019), for which u (3 + sqrt(k) / 4) R_i has room; but equal
/// products round the same way again and again, half a unit on average at worst, and lose u k / 2 of the partial sums
/// (Higham, section 3.3). Their norm is that which the sums of A (B x) show or, where that is more,
/// |C_i| + |beta| |C'_i|, up to R_i.
///
/// A and B are not read where alpha or k is 0, nor C' where beta is. NaN or Inf must be all over the row of C that
/// belongs to a row of A with one, all over the column of a column of B with one, in the place of each in C', and
/// nowhere else. Such columns are left out of the sums, and of such rows nothing else is checked. Neither is it of rows
/// where an Inf comes from sums that may leave the range of Scalar, or where the norms leave that of double.
template <class Scalar>
class Freivalds {
 public:
  using HostMatrix = ConstMatrix<HostExecution, Scalar>;

  /// Predicts C x from this process's parts of the matrices, which are not needed afterwards. Collective, as
  /// `share.sum` is. @param problem all rows that processes have parts of @param seed of the random x, the same on all
  /// processes @throws InvalidArgument for parts that end outside their matrices, of matrices that are read
  Freivalds(const Problem& problem, std::uint64_t seed, const HostMatrix& a, const HostMatrix& b,
            const HostMatrix& c_before, Share share = {})
      : problem_(problem),
        share_(std::move(share)),
        alpha_(static_cast<Scalar>(problem.alpha)),
        beta_(static_cast<Scalar>(problem.beta)),
        // Where a factor rounds to 0 in Scalar, the multiplication does not read its matrices either.
        reads_product_(alpha_ != 0.0 && problem.k > 0),
        x_("steelyard::gemm::signs", static_cast<std::size_t>(problem.n)),
        product_(static_cast<std::size_t>(problem.m)),
        before_(product_) {
    for (std::int64_t j = 0; j < problem.n; ++j) {
      for (int v = 0; v < vectors; ++v) x_(j, v) = random_sign(seed, j, v);
      all_places_ += place_number(j);
    }
    if (reads_product_) predict_product(a, b);
    if (beta_ != 0.0) before_ = sums("C before", c_before, problem_.m, x_, true);
  }

  /// Collective, as `share.sum` is. @return the largest error of all rows, which are right up to 1; infinity where a
  /// NaN or Inf is missing or should not be there @throws InvalidArgument for a part that ends outside C
  double check(const HostMatrix& c) const {
    const std::vector<RowSums> found = sums("C", c, problem_.m, x_);
    double largest = 0.0;
    for (std::size_t i = 0; i < found.size() && problem_.n > 0; ++i) {
      largest = std::max(largest, row_error(product_[i], before_[i], found[i]));
    }
    return largest;
  }

 private:
  /// An element of each vector for every column of a matrix.
  using VectorBundle = Kokkos::View<double* [vectors], Kokkos::LayoutRight, DeviceOf<HostExecution>>;

  /// Sums of all `rows` rows of a matrix with vectors, of which this process has a part.
  std::vector<RowSums> sums(const char* name, const HostMatrix& part, std::int64_t rows, const VectorBundle& x,
                            bool skips = false) const {
    return share_.sum([&] {
      const std::int64_t row = share_.row, column = share_.column;
      const auto part_rows = static_cast<std::int64_t>(part.extent(0));
      const auto columns = static_cast<std::int64_t>(part.extent(1));
      const auto all_columns = static_cast<std::int64_t>(x.extent(0));
      if (row + part_rows > rows || column + columns > all_columns) {
        throw InvalidArgument(fmt::format("check of C: {} ends at row {}, column {} (expected at most {}, {})", name,
                                          row + part_rows, column + columns, rows, all_columns));
      }
      std::vector<RowSums> all(static_cast<std::size_t>(rows));
      const auto pitch = static_cast<std::int64_t>(part.stride(0));
      const auto add_row = [=, elements = part.data(), factors = x.data() + column * vectors,
                            own = all.data() + row](const std::int64_t i) {
        own[i] = sums_of_piece(elements + i * pitch, column, columns, factors, skips);
      };
      const HostExecution space;
      using Policy = Kokkos::RangePolicy<HostExecution, Kokkos::IndexType<std::int64_t>>;
      Kokkos::parallel_for("steelyard::gemm::check", Policy(space, 0, part_rows), add_row);
      space.fence();
      return all;
    });
  }

  void predict_product(const HostMatrix& a, const HostMatrix& b) {
    std::vector<RowSums> bx = sums("B", b, problem_.k, x_);
    if (std::any_of(bx.begin(), bx.end(), [](const RowSums& row) { return row.special > 0.0L; })) {
      skip_special_columns(b);
      bx = sums("B", b, problem_.k, x_);
    }
    const VectorBundle factors("steelyard::gemm::factors", bx.size());
    long double squares = 0.0L;
    for (std::size_t l = 0; l < bx.size(); ++l) {
      for (int v = 0; v < vectors; ++v) factors(l, v) = static_cast<double>(bx[l].products[v]);
      squares += bx[l].squares;
    }
    b_norm_ = static_cast<double>(std::sqrt(squares));
    product_ = sums("A", a, problem_.m, factors);
  }

  /// Makes the vectors 0 in columns of B with NaN or Inf.
  void skip_special_columns(const HostMatrix& b) {
    const std::vector<RowSums> marks = share_.sum([&] {
      std::vector<RowSums> own(static_cast<std::size_t>(problem_.n));
      for (std::size_t l = 0; l < b.extent(0); ++l) {
        for (std::size_t j = 0; j < b.extent(1); ++j) {
          if (!std::isfinite(b(l, j))) own[static_cast<std::size_t>(share_.column) + j].special = 1.0L;
        }
      }
      return own;
    });
    for (std::int64_t j = 0; j < problem_.n; ++j) {
      if (marks[static_cast<std::size_t>(j)].special == 0.0L) continue;
      for (int v = 0; v < vectors; ++v) x_(j, v) = 0.0;
      skipped_places_ += place_number(j);
    }
  }

  /// The error of a row, from the sums of A with B x, of C' and of C.
  double row_error(const RowSums& product, const RowSums& before, const RowSums& found) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto norm = [](const RowSums& row) { return static_cast<double>(std::sqrt(row.squares)); };
    const double product_norm = norm(product) * b_norm_, before_norm = norm(before);
    const double alpha = std::fabs(alpha_), beta = std::fabs(beta_);
    // An element of the row, a sum on the way to it, or one of this check, which is over a whole row.
    constexpr double room = std::is_same_v<Scalar, double> ? 1e3 : 1.0;
    const double largest = std::max(1.0, alpha) * product_norm + std::max(1.0, beta) * before_norm;
    const bool may_overflow = !(largest * room < std::numeric_limits<Scalar>::max());

    const bool nothing_finite =
        (reads_product_ && !std::isfinite(alpha_)) || !std::isfinite(beta_) || product.special > 0.0L;
    const long double places = nothing_finite ? all_places_ : skipped_places_ + before.special;
    if (found.special != places) return may_overflow && found.special > places ? 0.0 : infinity;
    if (nothing_finite || before.special > 0.0L) return 0.0;

    const double k = reads_product_ ? static_cast<double>(problem_.k) : 0.0, n = static_cast<double>(problem_.n);
    const double size = alpha * product_norm + beta * before_norm;
    double rounding = std::numeric_limits<double>::epsilon() * (k + n + 3.0) * size;
    if constexpr (std::is_same_v<Scalar, float>) {
      constexpr double unit = std::numeric_limits<float>::epsilon() / 2.0;
      const double partial =
          std::max(std::min(size, norm(found) + beta * before_norm), alpha * static_cast<double>(product.partial));
      rounding += unit * ((3.0 + 0.25 * std::sqrt(k)) * size + 0.5 * k * partial);
    }
    // A device may take numbers below the least normal one for 0.
    const double underflow = std::numeric_limits<Scalar>::min() * std::sqrt(n) * (k * std::max(1.0, alpha) + 3.0);
    const double tolerated = (1.0 + 8.0 / std::sqrt(static_cast<double>(vectors))) * (rounding + underflow);
    long double squares = 0.0L;
    for (int v = 0; v < vectors; ++v) {
      const long double expected = alpha_ * product.products[v] + beta_ * before.products[v];
      const long double share = (found.products[v] - expected) / tolerated;
      squares += share * share;
    }
    const auto error = static_cast<double>(std::sqrt(squares / vectors));
    if (std::isfinite(tolerated) && std::isfinite(error)) return error;
    return may_overflow ? 0.0 : infinity;
  }

  Problem problem_;
  Share share_;
  double alpha_, beta_;  ///< as they are in Scalar
  bool reads_product_;
  VectorBundle x_;                                         ///< for all columns of C
  double b_norm_ = 0.0;                                    ///< of Frobenius
  std::vector<RowSums> product_, before_;                  ///< of A with B x, and of C'
  long double all_places_ = 0.0L, skipped_places_ = 0.0L;  ///< fingerprints of a whole row, and of B's columns
};

}  // namespace steelyard::gemm
