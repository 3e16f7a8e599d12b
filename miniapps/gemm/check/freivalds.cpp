#include "miniapps/gemm/check/freivalds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "miniapps/gemm/random_matrix.hpp"

namespace steelyard::gemm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// How far the sums of a right row may be from those predicted.
template <class Scalar>
struct Tolerance {
  double n, k, alpha, beta, b_norm;

  double operator()(double a_norm, double before_norm, double partial_norm) const {
    constexpr double unit = std::numeric_limits<Scalar>::epsilon() / 2.0;
    constexpr double own_unit = std::numeric_limits<double>::epsilon() / 2.0;
    const double size = std::fabs(alpha) * a_norm * b_norm + std::fabs(beta) * before_norm;
    double errors = own_unit * (k + 2.0 * n + 3.0) * size;
    if constexpr (std::is_same_v<Scalar, double>) {
      errors += unit * (k + 3.0) * size;
    } else {
      errors += unit * ((3.0 + 0.25 * std::sqrt(k)) * size + 0.5 * k * std::fabs(alpha) * partial_norm);
    }
    // A device may take numbers below the least normal one for 0.
    const double underflow =
        std::numeric_limits<Scalar>::min() * std::sqrt(n) * (k * std::max(1.0, std::fabs(alpha)) + 3.0);
    return (1.0 + 8.0 / std::sqrt(static_cast<double>(vectors))) * (errors + underflow);
  }

  /// Whether an element of the row, or a sum on the way to it, may be too large for Scalar, or a sum of this check for
  /// double.
  bool may_overflow(double a_norm, double before_norm) const {
    const double size =
        std::max(1.0, std::fabs(alpha)) * a_norm * b_norm + std::max(1.0, std::fabs(beta)) * before_norm;
    constexpr double room = std::is_same_v<Scalar, double> ? 1e3 : 1.0;  // sums over a whole row
    return !(size * room < std::numeric_limits<Scalar>::max());
  }
};

/// Columns with NaN or Inf. @param finite of each row, whether it has none and need not be read
template <class Scalar>
std::vector<unsigned char> special_columns(const ConstHostMatrix<Scalar>& matrix, const unsigned char* finite) {
  std::vector<unsigned char> special(matrix.extent(1), 0);
  for (std::size_t i = 0; i < matrix.extent(0); ++i) {
    if (finite[i] != 0) continue;
    for (std::size_t j = 0; j < matrix.extent(1); ++j) {
      if (!std::isfinite(matrix(i, j))) special[j] = 1;
    }
  }
  return special;
}

}  // namespace

template <class Scalar>
Freivalds<Scalar>::Freivalds(const Problem& problem, std::uint64_t seed, std::shared_ptr<const Sharing> sharing,
                             const ConstHostMatrix<Scalar>& a, const ConstHostMatrix<Scalar>& b,
                             const ConstHostMatrix<Scalar>& c_before)
    : problem_(problem),
      sharing_(std::move(sharing)),
      alpha_(static_cast<Scalar>(problem.alpha)),
      beta_(static_cast<Scalar>(problem.beta)),
      // Where a factor rounds to 0 in Scalar, the multiplication does not read its matrices either.
      reads_product_(alpha_ != 0.0 && problem.k > 0),
      reads_before_(beta_ != 0.0) {
  sharing_->together([&] {
    expect_fit(a, b, c_before);
    const IndexRange columns = sharing_->columns();
    x_ = VectorBundle(columns.count);
    for_host_rows(columns.count, [&](std::int64_t column) {
      for (int v = 0; v < vectors; ++v) x_.at(column)[v] = random_sign(seed, columns.first + column, v);
    });
  });
  if (reads_product_) predict_product(a, b);
  if (reads_before_) predict_before(c_before);
}

template <class Scalar>
void Freivalds<Scalar>::expect_fit(const ConstHostMatrix<Scalar>& a, const ConstHostMatrix<Scalar>& b,
                                   const ConstHostMatrix<Scalar>& c_before) const {
  const std::int64_t a_columns = sharing_->a_columns().count, columns = sharing_->columns().count;
  if (reads_product_) {
    expect_extents("A", a, static_cast<std::int64_t>(a.extent(0)), a_columns);
    expect_extents("B", b, sharing_->b_rows().count, columns);
  }
  if (reads_before_) {
    expect_extents("C before", c_before, static_cast<std::int64_t>(c_before.extent(0)), columns);
    if (reads_product_) expect_extents("A", a, static_cast<std::int64_t>(c_before.extent(0)), a_columns);
  }
}

template <class Scalar>
void Freivalds<Scalar>::predict_product(const ConstHostMatrix<Scalar>& a, const ConstHostMatrix<Scalar>& b) {
  const auto multiply_b = [&] { return row_products<Scalar>(b, x_, skipped_); };
  RowProducts bx = sharing_->whole_b(multiply_b);
  if (std::find(bx.finite.begin(), bx.finite.end(), 0) != bx.finite.end()) {
    skipped_ = sharing_->marked_by_any(
        [&] { return special_columns<Scalar>(b, bx.finite.data() + sharing_->b_rows().first); });
    bx = sharing_->whole_b(multiply_b);
  }
  b_norm_ = euclidean_norm(bx.norms);
  product_ = sharing_->whole_rows([&] {
    const IndexRange own = sharing_->a_columns();
    return row_products<Scalar>(a, bx.products.part(own.first, own.count), {});
  });
}

template <class Scalar>
void Freivalds<Scalar>::predict_before(const ConstHostMatrix<Scalar>& c_before) {
  before_ = sharing_->whole_rows([&] { return row_products<Scalar>(c_before, x_, skipped_); });
  sharing_->together([&] {
    not_finite_before_.resize(c_before.extent(0));
    for_host_rows(static_cast<std::int64_t>(not_finite_before_.size()), [&](std::int64_t row) {
      const auto i = static_cast<std::size_t>(row);
      if (before_.finite[i] != 0) return;
      std::vector<bool>& elements = not_finite_before_[i];
      elements.resize(c_before.extent(1));
      for (std::size_t j = 0; j < elements.size(); ++j) elements[j] = !std::isfinite(c_before(i, j));
    });
  });
}

/// Compares one row of C with the prediction.
template <class Scalar>
struct Freivalds<Scalar>::RowError {
  const Freivalds& predicted;
  const RowProducts& found;
  ConstHostMatrix<Scalar> c;
  Tolerance<Scalar> tolerance{static_cast<double>(predicted.problem_.n),
                              predicted.reads_product_ ? static_cast<double>(predicted.problem_.k) : 0.0,
                              predicted.alpha_, predicted.beta_, predicted.b_norm_};
  bool nothing_finite =
      (predicted.reads_product_ && !std::isfinite(predicted.alpha_)) || !std::isfinite(predicted.beta_);
  const RowProducts* a = predicted.reads_product_ ? &predicted.product_ : nullptr;
  const RowProducts* before = predicted.reads_before_ ? &predicted.before_ : nullptr;

  /// Whether NaN or Inf are where they must be; elsewhere, too, they may be if `anywhere`.
  template <class Expected>
  bool agree(const std::int64_t i, const Expected& expected, bool anywhere) const {
    const Scalar* const row = c.data() + i * static_cast<std::int64_t>(c.stride(0));
    for (std::size_t j = 0; j < c.extent(1); ++j) {
      const bool must = (!predicted.skipped_.empty() && predicted.skipped_[j] != 0) || expected(j);
      if (std::isfinite(row[j]) ? must : !(must || anywhere)) return false;
    }
    return true;
  }

  double operator()(const std::int64_t i) const {
    const auto row = static_cast<std::size_t>(i);
    const auto everywhere = [](std::size_t) { return true; };
    const auto nowhere = [](std::size_t) { return false; };
    if (nothing_finite || (a != nullptr && a->finite[row] == 0)) {
      return agree(i, everywhere, false) ? 0.0 : infinity;
    }
    const double a_norm = a == nullptr ? 0.0 : a->norms[row];
    const bool before_finite = before == nullptr || before->finite[row] != 0;
    const double before_norm = before == nullptr || !before_finite ? 0.0 : before->norms[row];
    const bool overflow = tolerance.may_overflow(a_norm, before_norm);
    if (!before_finite) {
      const auto where_before = [&](std::size_t j) { return predicted.not_finite_before_[row][j]; };
      return agree(i, where_before, overflow) ? 0.0 : infinity;
    }
    const bool finite = found.finite[row] != 0;
    if ((!predicted.skipped_.empty() || !finite) && !agree(i, nowhere, overflow)) return infinity;
    if (!finite) return 0.0;
    const double tolerated = tolerance(a_norm, before_norm, a == nullptr ? 0.0 : partial_norm(i, a_norm, before_norm));
    const double error = deviation(i, tolerated);
    if (std::isfinite(tolerated) && std::isfinite(error)) return error;
    return overflow ? 0.0 : infinity;
  }

  /// Root mean square norm of the product's partial sums as the vectors see it. Where all of them have one direction,
  /// by chance at right angles to the vectors, so has the whole sum, of which the norm is known.
  double partial_norm(const std::int64_t i, const double a_norm, const double before_norm) const {
    const auto row = static_cast<std::size_t>(i);
    double squares = 0.0;
    for (int v = 0; v < vectors; ++v) squares += a->products.at(i)[v] * a->products.at(i)[v];
    const double seen = std::sqrt(squares / vectors);
    const double known = (found.norms[row] - std::fabs(tolerance.beta) * before_norm) / std::fabs(tolerance.alpha);
    if (!(known > seen)) return a->partial_norms[row];
    return std::min(a_norm * tolerance.b_norm, seen > 0.0 ? known / seen * a->partial_norms[row] : known);
  }

  double deviation(const std::int64_t i, const double tolerated) const {
    double squares = 0.0;
    for (int v = 0; v < vectors; ++v) {
      double difference = found.products.at(i)[v];
      if (a != nullptr) difference -= tolerance.alpha * a->products.at(i)[v];
      if (before != nullptr) difference -= tolerance.beta * before->products.at(i)[v];
      squares += (difference / tolerated) * (difference / tolerated);
    }
    return std::sqrt(squares / vectors);
  }
};

template <class Scalar>
double Freivalds<Scalar>::check(const ConstHostMatrix<Scalar>& c) const {
  const RowProducts found = sharing_->whole_rows([&] {
    const std::size_t rows = reads_product_  ? product_.finite.size()
                             : reads_before_ ? before_.finite.size()
                                             : c.extent(0);
    expect_extents("C", c, static_cast<std::int64_t>(rows), sharing_->columns().count);
    return row_products<Scalar>(c, x_, skipped_);
  });
  double error = 0.0;
  if (problem_.n > 0) {
    sharing_->together([&] {
      error = largest_error(static_cast<std::int64_t>(c.extent(0)), RowError{*this, found, c});
    });
  }
  return error;
}

template class Freivalds<double>;
template class Freivalds<float>;

}  // namespace steelyard::gemm
