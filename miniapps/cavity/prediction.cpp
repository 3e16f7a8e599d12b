#include "miniapps/cavity/prediction.hpp"

#include <algorithm>
#include <array>

#include "comm/collective.hpp"
#include "comm/unit_group.hpp"
#include "core/timing.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/cavity/coefficients.hpp"
#include "miniapps/cavity/multigrid_coefficients.hpp"
#include "miniapps/cavity/multigrid_levels.hpp"
#include "miniapps/cavity/row_field.hpp"

namespace steelyard::cavity {
namespace {

double row_bytes(std::int64_t columns) {
  return sizeof(double) * static_cast<double>(RowField<HostExecution>::pitch_of(columns));
}

/// Seconds that a sum takes the two units of a rank, of the rank that takes longest; 0 for ranks with one. Collective.
double unit_meeting_s(const Session& session, CoExecution& co_execution, const RankUnits& units) {
  constexpr int warmups = 100, rounds = 1000;
  double seconds = 0.0;
  if (units.count() == 2) {
    UnitGroup pair(MPI_COMM_SELF, co_execution, units,
                   {{0, ProcessingUnit::Kind::host}, {0, ProcessingUnit::Kind::companion}});
    pair.run([&](const auto& peer) {
      double start_s = 0.0;
      for (int round = -warmups; round < rounds; ++round) {
        if (round == 0) start_s = now_s();
        const std::array<CompensatedSum, 1> one{{{1.0, 0.0}}};
        std::array<double, 1> total;
        peer.sum(one, total);
      }
      if (peer.kind() == ProcessingUnit::Kind::host) seconds = (now_s() - start_s) / rounds;
    });
  }
  return all_max(session.comm(), seconds);
}

/// Of a V-cycle on levels that are shared out, which no unit alone needs: halos of right sides and corrections, and a
/// gather, which counts as a sum. See MultigridLevels.
Meetings multigrid_meetings(const Problem& problem) {
  const Coefficients coefficients(problem);
  const std::vector<MultigridLevel> levels = multigrid_levels(coefficients.column_faces, coefficients.row_weights,
                                                              coefficients.row_faces, coefficients.column_weights);
  Meetings meetings;
  std::int64_t finer_columns = problem.columns;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    if (k > 0 && levels[k].cells() <= MultigridLevels::most_whole_cells) break;
    meetings.exchanges += 2.0;
    meetings.halo_bytes += row_bytes(levels[k].columns()) * static_cast<double>(MultigridLevels::right_side_depth) +
                           row_bytes(finer_columns) * static_cast<double>(MultigridLevels::correction_depth);
    finer_columns = levels[k].columns();
  }
  meetings.sums = 1.0;
  return meetings;
}

}  // namespace

std::vector<double> Prediction::unit_step_s(double momentum_iterations, double pressure_iterations) const {
  std::vector<double> seconds;
  for (const UnitWork& unit : units) seconds.push_back(unit.step_s(momentum_iterations, pressure_iterations));
  return seconds;
}

MessageFacts message_facts(const Session& session, const Problem& problem) {
  const double bytes = row_bytes(problem.columns);
  const double fields = 4.0;
  return {bytes, 2.0 * bytes, fields * bytes * static_cast<double>(problem.rows) / static_cast<double>(session.size())};
}

Prediction predict(const Session& session, CoExecution& co_execution, const RankUnits& units, const Problem& problem,
                   const Numerics& numerics, const std::vector<Slot>& slots, const std::vector<std::int64_t>& rows,
                   const std::optional<models::Platform>& platform) {
  const StepSample sample = sample_steps(session, co_execution, problem, numerics, own_share(session, slots, rows));
  Prediction prediction;
  prediction.units.resize(slots.size());
  StepCost& cost = prediction.cost;
  for (const auto part : {&UnitWork::momentum_s, &UnitWork::pressure_s, &UnitWork::rest_s}) {
    const std::vector<double> seconds = gather_seconds(session, slots, {sample.host.*part, sample.companion.*part});
    for (std::size_t i = 0; i < slots.size(); ++i) prediction.units[i].*part = seconds[i];
  }
  for (const UnitWork& unit : prediction.units) {
    cost.momentum.work_s = std::max(cost.momentum.work_s, unit.momentum_s);
    cost.pressure.work_s = std::max(cost.pressure.work_s, unit.pressure_s);
    cost.rest.work_s = std::max(cost.rest.work_s, unit.rest_s);
  }
  cost.momentum.meetings = sample.momentum;
  cost.pressure.meetings = sample.pressure;
  cost.rest.meetings = sample.rest;
  if (numerics.pressure_preconditioner == PreconditionerKind::multigrid && slots.size() > 1) {
    cost.pressure.meetings += multigrid_meetings(problem);
  }
  cost.momentum_iterations = sample.momentum_iterations;
  cost.pressure_iterations = sample.pressure_iterations;
  MeetingCosts meeting;
  if (platform) {
    const models::Placement placement = place_ranks(session, *platform);
    collectively(session.comm(),
                 [&] { meeting = meeting_costs(row_bytes(problem.columns), session.size(), *platform, placement); });
  }
  const double of_units_s = unit_meeting_s(session, co_execution, units);
  meeting.sum_s += of_units_s;
  meeting.exchange_s += of_units_s;
  for (PartCost* part : {&cost.momentum, &cost.pressure, &cost.rest}) {
    part->communication_s = communication_s(part->meetings, meeting);
  }
  return prediction;
}

}  // namespace steelyard::cavity
