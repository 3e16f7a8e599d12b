#pragma once

#include <span>
#include <string>
#include <vector>

#include "miniapps/summa/assignment.hpp"
#include "miniapps/summa/problem.hpp"
#include "models/communication/placement.hpp"
#include "models/communication/platform.hpp"
#include "partition/rectangles/communication_aware.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::summa {

/// Seconds of communication by one model.
struct CommunicationCost {
  std::string model;                ///< as in models::cost_model_names()
  std::vector<double> iteration_s;  ///< Theta^(k) of every iteration

  double total_s() const;  ///< Source: 001, equation 11
};

/// The communication of every iteration from the rectangles as they are, by each model whose parameters all channels in
/// use have. Process i owns rectangle i and runs where `placement` says.
///
/// - paper: pivot column, then pivot row, each owner to one process after the other: tau-Lop by 001, equations 8-10;
///   HLogGP and Hockney by the rules of 001, section 4.1 (the dearest column, plus the dearest sender of the pivot
///   column).
/// - bcast: binomial trees (001, equation 4) among the processes that share block rows, one after the other for an
///   owner of several such groups and owners concurrently, then likewise along columns.
/// - pipelined: the paper's messages, all of an iteration at once.
/// Iterations whose pivots have the same owners and sizes follow each other and are evaluated once.
/// @throws InvalidArgument where no channel joins two processes that communicate, and where no model has parameters
std::vector<CommunicationCost> communication_costs(const Problem& problem,
                                                   std::span<const partition::Rectangle> rectangles,
                                                   double element_bytes, Communication communication,
                                                   const models::Platform& platform,
                                                   const models::Placement& placement);

/// What partition::communication_aware() asks for: all processes with blocks communicate for the mean of an iteration's
/// seconds by the first of these models, as if updates and communication took turns.
/// @param platform, placement outlive the result
partition::RectangleCost rectangle_cost(const Problem& problem, double element_bytes, Communication communication,
                                        const models::Platform& platform, const models::Placement& placement);

/// Seconds of a whole multiplication.
struct Cost {
  double communication_s = 0.0;  ///< sum over the iterations
  double computation_s = 0.0;    ///< sum over the iterations of the slowest update
  double total_s = 0.0;          ///< their sum, or with overlap less
};

/// Updates and communication together: T = s + sum over k of c_k + u_k where they take turns; pipelined,
/// T = s + c_0 + sum over k of max(u_k, c_(k+1)) + u_(N-1). An update u_k takes update_s in proportion to its depth; s
/// is start_s, for starting the units, and counts as computation.
/// @param iteration_s c_k of every iteration
Cost total_cost(const Problem& problem, const std::vector<double>& iteration_s, Communication communication,
                double update_s, double start_s);

}  // namespace steelyard::summa
