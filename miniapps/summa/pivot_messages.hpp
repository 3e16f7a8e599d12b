#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "miniapps/summa/communication.hpp"
#include "miniapps/summa/problem.hpp"
#include "models/communication/message_pattern.hpp"
#include "partition/bands.hpp"
#include "partition/rectangle.hpp"

namespace steelyard::summa {

/// Patterns one after the other.
using PatternChain = std::vector<models::MessagePattern>;

/// The messages of one iteration: stages one after the other, the chains of a stage at the same time.
using PivotMessages = std::vector<std::vector<PatternChain>>;

/// In tau-Lop's terms. @throws InvalidArgument as models::expression()
models::Expression expression(const PivotMessages& messages, const models::Placement& placement);

/// By models without contention: sum over the stages of the dearest chain. @param message_s seconds of one message
double serial_cost_s(const PivotMessages& messages, const std::function<double(const models::Message&)>& message_s);

/// Who sends what in every iteration, exact to the byte where the last blocks are smaller.
class PivotSenders {
 public:
  /// Process i owns rectangle i. @param element_bytes > 0 @throws InvalidArgument without rectangles
  PivotSenders(const Problem& problem, std::span<const partition::Rectangle> rectangles, double element_bytes,
               Communication communication);

  /// The owners of the pivot column, -1, the owners of the pivot row, -1, and the depth: iterations in which these are
  /// the same have the same messages.
  std::vector<std::int64_t> key(std::int64_t k) const;

  /// See communication_costs().
  PivotMessages messages(std::int64_t k) const;

 private:
  std::vector<PatternChain> broadcasts(const std::vector<partition::Band>& bands, std::int64_t k,
                                       bool along_rows) const;

  Problem problem_;
  std::vector<partition::Rectangle> tiles_;  ///< in elements
  double element_bytes_;
  Communication communication_;
  std::vector<partition::Band> row_bands_;  ///< in elements; of bcast only
  std::vector<partition::Band> column_bands_;
};

}  // namespace steelyard::summa
