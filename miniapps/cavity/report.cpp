#include "miniapps/cavity/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/accuracy.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/run_times.hpp"
#include "miniapps/app/verification.hpp"
#include "miniapps/cavity/flow_figures.hpp"
#include "miniapps/cavity/ghia.hpp"
#include "miniapps/cavity/step_bytes.hpp"

namespace steelyard::cavity {
namespace {

std::string part_line(const char* name, const PartCost& part, const char* per) {
  return fmt::format("  {:<10}{} per {}, {} of it communication\n", name, format_seconds(part.total_s()), per,
                     format_seconds(part.communication_s));
}

void record_flow(RunRecord& record, const Problem& problem, const FlowState& state) {
  record.figures["time"] = state.time;
  if (state.u.empty()) return;
  const FlowFigures flow = flow_figures(problem, state);
  if (flow.vortex) {
    record.figures["streamfunction_min"] = flow.vortex->streamfunction;
    record.points["vortex_centre"] = {flow.vortex->position.begin(), flow.vortex->position.end()};
  }
  record.figures["u_min"] = flow.u_min.value;
  record.figures["v_min"] = flow.v_min.value;
  record.figures["v_max"] = flow.v_max.value;
  if (ghia_has(problem)) record.figures["ghia_difference"] = largest_difference(ghia_comparison(problem, state));
}

void record_speedup(RunRecord& record, const Measurement& measurement) {
  record.figures["speedup_computation"] = measurement.bound.computation;
  record.figures["communication_ratio"] = measurement.bound.communication;
  record.figures["speedup_bound"] = measurement.bound.execution();
  if (measurement.even_times_s.empty()) return;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < measurement.even_times_s.size(); ++i) {
    ratios.push_back(measurement.even_times_s[i] / measurement.times_s[i]);
  }
  record.figures["speedup"] = median(ratios);
}

}  // namespace

UnitHeadings unit_headings() { return {"rows", "/step"}; }

std::string prediction_text(const Prediction& prediction) {
  const StepCost& cost = prediction.cost;
  return fmt::format("predicted  {} per step with {:.3g} iterations for momentum and {:.3g} for pressure\n",
                     format_seconds(cost.step_s(cost.momentum_iterations, cost.pressure_iterations)),
                     cost.momentum_iterations, cost.pressure_iterations) +
         part_line("momentum", cost.momentum, "iteration") + part_line("pressure", cost.pressure, "iteration") +
         part_line("rest", cost.rest, "step");
}

void complete_record(RunRecord& record, const Problem& problem, const Options& options, const Prediction& prediction,
                     const Measurement& measurement) {
  const RunLog& log = measurement.log;
  const auto steps = static_cast<double>(log.steps);
  const auto momentum = static_cast<double>(log.momentum_iterations);
  const auto pressure = static_cast<double>(log.pressure_iterations);
  const StepCost& cost = prediction.cost;
  const double momentum_s = momentum * cost.momentum.total_s();
  const double pressure_s = pressure * cost.pressure.total_s();
  const double rest_s = steps * cost.rest.total_s();
  record_times(record, measurement.times_s, momentum_s + pressure_s + rest_s);
  record.params["steps"] = steps;
  record.figures["momentum_iterations"] = momentum;
  record.figures["pressure_iterations"] = pressure;
  record.figures["restarts"] = static_cast<double>(log.restarts);
  record.figures["change"] = log.change;
  record.figures["mass_imbalance"] = log.mass_imbalance;
  record.figures["cells_per_s"] =
      steps * static_cast<double>(problem.rows) * static_cast<double>(problem.columns) / record.median_time_s;
  record.figures["bound_bytes_per_s"] = measurement.bound_bytes_per_s;
  record.figures["share_of_bound"] =
      steps * step_bytes(problem, options.numerics, momentum / std::max(1.0, steps), pressure / std::max(1.0, steps)) /
      measurement.bound_bytes_per_s / record.median_time_s;
  record.phases.push_back({"momentum", measurement.momentum_s, momentum_s});
  record.phases.push_back({"pressure", measurement.pressure_s, pressure_s});
  record.phases.push_back(
      {"rest", std::max(0.0, record.median_time_s - measurement.momentum_s - measurement.pressure_s), rest_s});
  record_speedup(record, measurement);
  record_flow(record, problem, measurement.state);
}

std::string summary(const RunRecord& record) {
  const auto figure = [&](const char* name) { return record.figures.at(name); };
  const double steps = record.params.at("steps");
  std::string text =
      time_line(record, fmt::format("for {:g} steps to t = {:.6g}", steps, figure("time"))) + predicted_line(record);
  if (steps > 0.0) {
    text +=
        fmt::format("speed      {:.2f} Mcell/s, {:.0f} % of the memory bound ({:.1f} GB/s)\n",
                    figure("cells_per_s") / 1e6, 100.0 * figure("share_of_bound"), figure("bound_bytes_per_s") / 1e9);
    const double iterations[] = {figure("momentum_iterations"), figure("pressure_iterations"), 0.0};
    for (std::size_t i = 0; i < record.phases.size(); ++i) {
      const PhaseTime& phase = record.phases[i];
      const double calls = iterations[i] > 0.0 ? iterations[i] : steps;
      const double predicted_s = phase.predicted_s.value_or(0.0);
      text += fmt::format(
          "  {:<10}{} per step{}, {} per {}, predicted {}{}\n", phase.name, format_seconds(phase.measured_s / steps),
          iterations[i] > 0.0 ? fmt::format(" in {:.3g} iterations", iterations[i] / steps) : "",
          format_seconds(phase.measured_s / calls), iterations[i] > 0.0 ? "iteration" : "step",
          format_seconds(predicted_s / calls),
          predicted_s > 0.0 && phase.measured_s > 0.0
              ? fmt::format(", difference {:.1f} %", percentage_difference(predicted_s, phase.measured_s))
              : "");
    }
    text += fmt::format("change     {:.2e} of lid speed per time in the last step\n", figure("change"));
  }
  if (record.points.contains("vortex_centre")) {
    const std::vector<double>& centre = record.points.at("vortex_centre");
    text += fmt::format("vortex     streamfunction {:.6f} at ({:.4f}, {:.4f})\n", figure("streamfunction_min"),
                        centre[0], centre[1]);
  }
  if (record.figures.contains("u_min")) {
    text += fmt::format("velocity   u at least {:.5f}, v {:.5f} to {:.5f} on the centre lines\n", figure("u_min"),
                        figure("v_min"), figure("v_max"));
  }
  if (record.figures.contains("ghia_difference")) {
    text += fmt::format("Ghia       largest difference {:.5f} of lid speed on the centre lines\n",
                        figure("ghia_difference"));
  }
  if (record.figures.contains("speedup")) {
    text += fmt::format(
        "speedup    {:.3f} over an even split; at most {:.3f} by the models (computation {:.3f}, "
        "communication {:.3f} of it)\n",
        figure("speedup"), figure("speedup_bound"), figure("speedup_computation"), figure("communication_ratio"));
  }
  return text + check_line(record.check);
}

}  // namespace steelyard::cavity
