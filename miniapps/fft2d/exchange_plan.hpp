#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "miniapps/fft2d/problem.hpp"

namespace steelyard::fft2d {

/// When what a pass has made for other ranks is sent.
enum class Exchange {
  at_once,    ///< when the pass has ended
  pipelined,  ///< batch by batch, while the next one is transformed
};

/// Pipelined between nodes: inside one the cores that transform also copy the messages, so that the two cannot overlap
/// and batches only cost.
constexpr Exchange default_exchange(int nodes) { return nodes > 1 ? Exchange::pipelined : Exchange::at_once; }

/// Batches that a unit's rows are cut into.
constexpr int batches_of(Exchange exchange) { return exchange == Exchange::pipelined ? 8 : 1; }

/// `at-once`, `pipelined`, in the order of the values.
inline const std::vector<std::string> exchange_names{"at-once", "pipelined"};

/// Rows or columns [first, first + count).
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;

  std::int64_t end() const { return first + count; }
  bool empty() const { return count == 0; }
  bool operator==(const Range&) const = default;
};

/// Block that one unit stores of a batch of its rows for all units of another rank: column by column, without gaps.
struct BlockMessage {
  int from = 0;     ///< index of the unit that transforms the rows
  int to_rank = 0;  ///< another one than that of `from`
  int batch = 0;    ///< index into the unit's batches
  Range rows;       ///< of the pass
  Range columns;    ///< those of the rank's units

  std::int64_t points() const { return rows.count * columns.count; }
};

/// Which unit transforms which rows of a pass, in which batches, and which rank receives what of them. The units of a
/// rank follow one another, so that what they own together has no gaps.
struct PassPlan {
  std::vector<Range> rows;                  ///< of every unit
  std::vector<Range> columns;               ///< of every unit: the rows that it transforms in the next pass
  std::vector<int> rank_of_unit;            ///< ascending
  std::vector<std::vector<Range>> batches;  ///< of every unit: its rows in order, none empty
  std::vector<BlockMessage> messages;       ///< by unit, then by batch, then by rank, the next one first

  int from_rank(const BlockMessage& message) const { return rank_of_unit[static_cast<std::size_t>(message.from)]; }
  /// Rows that the units of a rank own together.
  Range rows_of_rank(int rank) const { return of_rank(rows, rank); }
  Range columns_of_rank(int rank) const { return of_rank(columns, rank); }

 private:
  Range of_rank(const std::vector<Range>& ranges, int rank) const;
};

/// Plans a pass and the exchange behind it.
/// @param rows, columns of every unit
/// @param batches that a unit's rows are sent in; a unit with fewer rows has fewer, one without messages has one, and
///                more where a block would have 2^31 points
/// @throws InvalidArgument unless there are as many of each, none negative, ranks ascending and batches >= 1
PassPlan plan_pass(std::span<const std::int64_t> rows, std::span<const std::int64_t> columns,
                   std::span<const int> rank_of_unit, int batches);

/// Rows of the input and columns of the spectrum that every unit owns.
struct Shares {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> columns;
};

/// Both passes of a transform; left transposed, the second one sends nothing.
struct PassPlans {
  PassPlan rows;
  PassPlan columns;
};
/// @throws InvalidArgument as plan_pass()
PassPlans plan_passes(const Problem& problem, const Shares& shares, const std::vector<int>& rank_of_unit,
                      Exchange exchange);

}  // namespace steelyard::fft2d
