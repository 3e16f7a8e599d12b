#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "core/options.hpp"
#include "miniapps/app/plan.hpp"
#include "miniapps/fft2d/exchange_plan.hpp"
#include "miniapps/fft2d/problem.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// Options of fft2d as the user typed them.
struct Options {
  RunOptions run;
  GridOptions grid;
  bool inverse = false;
  bool real = false;
  bool transposed = false;
  std::optional<Exchange> exchange;
  RowFftChoice fft;
  std::vector<std::filesystem::path> column_models;  ///< of pass 2, where it is not like pass 1
};

/// A plan, and what a run takes from it.
struct RunPlan {
  Plan plan;
  Shares shares;
  PassPlans passes;
};

/// Plans rows and columns by the models of their passes, in multiples of slice_granularity(), and the seconds of a
/// transform, whose phases follow one another. A pass whose kernels take k seconds, those of the units whose threads
/// also drive MPI d, and its exchange of e in B batches take together
///   at once                    T = k + e
///   pipelined by network       T = k / B + (B - 1) / B max(k, e) + e / B
///   pipelined through memory   T = max(d + e, k + e / B), for the cores that copy do not compute meanwhile
/// Source: 002, sections 1 and 6.2.2 (both passes); 001, equations 13 and 14 (messages of many processes at once); 003,
/// equations 5.5-5.10 (who drives MPI); the pipeline of equal stages is ours.
/// @throws InvalidArgument, also where models of columns are missing, FileFormatError
RunPlan make_plan(Resources& on, const Options& options, const Problem& problem);

}  // namespace steelyard::fft2d
