#include "miniapps/gemm/result_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "miniapps/gemm/full_comparison.hpp"

namespace steelyard::gemm {
namespace {

constexpr int vectors = 8;

}  // namespace

template <class Scalar>
ResultCheck<Scalar>::ResultCheck(const Problem& problem, std::uint64_t seed,
                                 const ConstMatrix<HostExecution, Scalar>& a,
                                 const ConstMatrix<HostExecution, Scalar>& b,
                                 const ConstMatrix<HostExecution, Scalar>& c)
    : problem_(problem), a_(a), b_(b), freivalds_(HostExecution(), problem, vectors, seed, a, b, c) {
  if (worth_full_comparison(problem)) c_before_.emplace(c.data(), c.data() + c.size());
}

template <class Scalar>
FoundError ResultCheck<Scalar>::check(const ConstMatrix<HostExecution, Scalar>& c) const {
  FoundError found{freivalds_.check(c).error, 1.0, fmt::format("rounding's bound, by {} random vectors", vectors)};
  if (c_before_) {
    const auto columns = static_cast<std::int64_t>(c.extent(1));
    const auto before = matrix_at<HostExecution, const Scalar>(
        c_before_->data(), static_cast<std::int64_t>(c.extent(0)), columns, columns);
    found.error = std::max(found.error, full_comparison<Scalar>(HostExecution(), problem_, a_, b_, before, c).error);
    found.against += " and element by element";
  }
  return found;
}

template class ResultCheck<double>;
template class ResultCheck<float>;

}  // namespace steelyard::gemm
