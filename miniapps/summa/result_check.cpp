#include "miniapps/summa/result_check.hpp"

#include <fmt/format.h>

#include "miniapps/gemm/freivalds.hpp"
#include "miniapps/summa/tile_sharing.hpp"

namespace steelyard::summa {
namespace {

constexpr int vectors = 8;

gemm::Problem as_gemm(const Problem& problem) {
  gemm::Problem product;
  product.m = product.n = product.k = problem.n;
  product.alpha = product.beta = 1.0;
  return product;
}

}  // namespace

template <class Scalar>
class ResultCheck<Scalar>::State : public gemm::Freivalds<Scalar> {
 public:
  using gemm::Freivalds<Scalar>::Freivalds;
};

template <class Scalar>
ResultCheck<Scalar>::ResultCheck(const Session& session, const Problem& problem, std::uint64_t seed, const Tile& tile,
                                 const ConstMatrix<HostExecution, Scalar>& a,
                                 const ConstMatrix<HostExecution, Scalar>& b,
                                 const ConstMatrix<HostExecution, Scalar>& c)
    : state_(std::make_unique<State>(HostExecution(), as_gemm(problem), vectors, seed,
                                     std::make_shared<TileSharing>(session.comm(), problem, tile), a, b, c)) {}
template <class Scalar>
ResultCheck<Scalar>::~ResultCheck() = default;

template <class Scalar>
FoundError ResultCheck<Scalar>::check(const ConstMatrix<HostExecution, Scalar>& c) const {
  return {state_->check(c).error, 1.0, fmt::format("rounding's bound, by {} random vectors", vectors)};
}

template class ResultCheck<double>;
template class ResultCheck<float>;

}  // namespace steelyard::summa
