#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "core/measurable_kernel.hpp"
#include "core/options.hpp"
#include "miniapps/app/plan.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// The 2D discrete Fourier transform of a matrix, by rows and then by columns.
/// Source: 002, section 1 (row-column method).
struct Problem {
  std::int64_t rows = 2048;
  std::int64_t columns = 2048;
  Direction direction = Direction::forward;
  bool real = false;        ///< real input: only columns 0 to columns / 2 of the spectrum are made, forward only
  bool transposed = false;  ///< the spectrum is left as columns x rows, and not exchanged once more

  /// Columns of the spectrum, which are the rows of the second pass.
  std::int64_t spectrum_columns() const { return stored_points(columns, real); }
  double points() const { return static_cast<double>(rows) * static_cast<double>(columns); }
  double spectrum_points() const { return static_cast<double>(rows) * static_cast<double>(spectrum_columns()); }
};

/// 5 n log2(n) operations per complex transform of n points, half as many of real ones: the convention of FFTW's
/// benchmarks, not a count.
inline double transform_flops(const Problem& problem) {
  const double flops = 5.0 * problem.points() * std::log2(std::max(1.0, problem.points()));
  return problem.real ? flops / 2.0 : flops;
}

/// Rows or columns that slices come in multiples of: the points of a cache line, as far as these divide `total`. In the
/// transposed matrix every row of a slice that begins elsewhere shares its first and last line with another unit.
/// @param point_bytes of a complex number
inline std::int64_t slice_granularity(std::int64_t total, std::int64_t point_bytes) {
  constexpr std::int64_t line_bytes = 64;
  return total > 0 ? std::gcd(total, line_bytes / point_bytes) : 1;
}

/// When what a pass has made for other ranks is sent.
enum class Exchange {
  at_once,    ///< when the pass has ended
  pipelined,  ///< batch by batch, while the next one is transformed
};
/// In the order of the values.
inline const std::vector<std::string> exchange_names{"at-once", "pipelined"};

/// Batches that a unit's rows are cut into.
constexpr int batches_of(Exchange exchange) { return exchange == Exchange::pipelined ? 8 : 1; }

/// Rows or columns [first, first + count).
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;

  std::int64_t end() const { return first + count; }
  bool empty() const { return count == 0; }
};

/// Block that one unit stores of a batch of its rows for all units of another rank: column by column, without gaps.
struct BlockMessage {
  int from = 0;       ///< slot of the unit that transforms the rows
  int from_rank = 0;  ///< that of `from`
  int to_rank = 0;    ///< another one
  int batch = 0;      ///< index into the unit's batches
  Range rows;         ///< of the pass
  Range columns;      ///< those of the receiving rank's units

  std::int64_t points() const { return rows.count * columns.count; }
};

/// Which unit transforms which rows of a pass, in which batches, and which rank receives what of them.
struct PassPlan {
  std::vector<Range> rows;                  ///< of every unit
  std::vector<Range> rows_of_rank;          ///< of every rank's units together, which follow one another
  std::vector<std::vector<Range>> batches;  ///< of every unit: its rows in order, none empty; one without messages
  std::vector<BlockMessage> messages;       ///< by unit, then by batch, then by rank, the next one first
};

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
/// @param slots of all ranks, each with one at least
/// @throws InvalidArgument unless there are as many of each share as slots, none negative
PassPlans plan_passes(const Problem& problem, const Shares& shares, const std::vector<Slot>& slots, Exchange exchange);

/// Options of fft2d.
struct Options {
  RunOptions run;
  GridOptions grid;
  Problem problem;  ///< whose extents are those of `grid` or of the input
  std::optional<Exchange> exchange;
  RowFftChoice fft;
  std::vector<std::filesystem::path> column_models;  ///< of pass 2, where it is not like pass 1
};

/// Measures a pass over rows that runs alone: a computation unit is one row of `columns` points transformed and stored
/// as a column. Both lie in host memory, as in a transform; a device copies them. allocate() throws InvalidArgument
/// where the unit does not have the library.
std::shared_ptr<MeasurableKernel> row_kernel(std::int64_t columns, bool real, ElementType element,
                                             const RowFftChoice& choice);

/// The exchange that the user chose, or pipelined between nodes: inside one the cores that transform also copy the
/// messages, so that the two cannot overlap and batches only cost.
Exchange exchange_of(const Options& options, const Resources& on);

/// Plans rows and columns by the models of their passes, in multiples of slice_granularity(), and the seconds of a
/// transform, whose phases follow one another. A pass whose kernels take k seconds, those of the units whose threads
/// also drive MPI d, and its exchange of e in B batches take together
///   at once                    T = k + e
///   pipelined by network       T = k / B + (B - 1) / B max(k, e) + e / B
///   pipelined through memory   T = max(d + e, k + e / B), for the cores that copy do not compute meanwhile
/// Source: 002, sections 1 and 6.2.2 (both passes); 001, equations 13 and 14 (messages of many processes at once); 003,
/// equations 5.5-5.10 (who drives MPI); the pipeline of equal stages is ours.
/// @throws InvalidArgument, also where models of columns are missing, FileFormatError
Plan make_plan(Resources& on, const Options& options);

}  // namespace steelyard::fft2d
