#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "miniapps/fft2d/exchange.hpp"
#include "miniapps/fft2d/problem.hpp"
#include "miniapps/fft2d/row_pass.hpp"

namespace steelyard::fft2d {

/// How a transform is carried out.
struct TransformChoice {
  ExchangeChoice exchange;
  RowFftChoice fft;
};

/// Who owns what: rows of the input and columns of the spectrum of every slot.
struct Shares {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> columns;
};

/// Seconds from the start of a transform until a rank was done with each phase, and what its units were busy with.
struct TransformTimes {
  double rows_s = 0.0;             ///< pass 1 on all of its units
  double first_exchange_s = 0.0;   ///< everything sent and received
  double columns_s = 0.0;          ///< pass 2
  double second_exchange_s = 0.0;  ///< everything sent, received and put into place; columns_s where there is none
  UnitSeconds row_pass;            ///< a slowdown included
  UnitSeconds column_pass;
};

/// The 2D transform on one rank's units, and its part of the exchanges with the others: rows, exchange, columns,
/// exchange back.
/// Source: 002, section 1 (row-column method).
template <class Scalar>
class Transform {
 public:
  /// Fills whole rows of the input, from a row on; complex numbers are pairs.
  using Source = std::function<void(std::int64_t first_row, std::span<Scalar> values)>;
  /// Gets whole rows of the result, from a row on, some at a time; where it is left transposed, its columns as rows.
  using Sink = std::function<void(std::int64_t first_row, std::span<const std::complex<Scalar>> values)>;

  /// Allocates and plans on each unit. Collective. @throws CollectiveError where that fails on any rank
  Transform(const Session& session, CoExecution& co_execution, const Problem& problem, const std::vector<Slot>& slots,
            const Shares& shares, const TransformChoice& choice);
  ~Transform();

  /// Sets the input, which run() does not keep.
  void load(const Source& source);
  /// Collective.
  TransformTimes run();
  /// Hands out this rank's part of the result.
  void store(const Sink& sink) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace steelyard::fft2d
