#include "miniapps/app/forecast.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "miniapps/cavity/measured_kernel.hpp"
#include "miniapps/cavity/options.hpp"
#include "miniapps/cavity/prediction.hpp"

namespace steelyard::cavity {
namespace {

/// What `run.json` says of a run with the same solvers.
struct SampleRun {
  Iterations iterations;     ///< of a step
  PerPart<double> part_s{};  ///< of each part once
};

/// @throws FileFormatError for other solvers, and for a run without steps
SampleRun read_sample(const std::filesystem::path& folder, const Problem& problem, const Numerics& numerics) {
  const std::filesystem::path path = folder / "run.json";
  const nlohmann::json json = read_json_file(path);
  const JsonReader run(path.string(), json);
  run.require_schema("steelyard.run/1");
  const auto require = [](const JsonReader& of, const std::string& key, const std::string& expected) {
    const std::string found = of.text(key);
    if (found != expected) of.fail(key, fmt::format("is {} (expected {})", found, expected));
  };
  require(run, "app", "cavity");
  const JsonReader settings = run.object("settings"), params = run.object("params"), figures = run.object("figures");
  require(settings, "pressure_preconditioner", name_of(numerics.pressure_preconditioner));
  require(settings, "momentum_preconditioner", name_of(numerics.momentum_preconditioner));
  require(settings, "reductions", name_of(numerics.reductions));
  const double steps = params.number("steps");
  if (!(steps > 0.0)) params.fail("steps", fmt::format("is {} (expected a run of one step at least)", steps));
  if (params.number("correctors") != problem.correctors) {
    params.fail("correctors", fmt::format("is {} (expected {})", params.number("correctors"), problem.correctors));
  }
  SampleRun sample{{figures.number("momentum_iterations") / steps, figures.number("pressure_iterations") / steps}};
  const PerPart<double> calls = step_calls(problem, numerics, sample.iterations);
  for (const JsonReader& phase : run.array("phases")) {
    for (std::size_t part = 0; part < calls.size(); ++part) {
      if (phase.text("name") != part_names[part] || calls[part] == 0.0) continue;
      sample.part_s[part] = phase.number("measured_s") / (steps * calls[part]);
    }
  }
  return sample;
}

/// A time step as in a run, with units' seconds by models of the solvers' iterations: the other parts take as much more
/// or less as they took in a sample or, without one, as they move memory.
class FlowForecaster : public Forecaster {
 public:
  FlowForecaster(const Problem& problem, const Options& options) : problem_(problem), options_(options) {}

  std::string problem() const override {
    const Problem problem = scaled_problem();
    const Iterations iterations = sample(problem).iterations;
    const SyncCounts syncs = step_syncs(problem, options_.numerics, iterations);
    return fmt::format(
        "cavity, {} x {} cells: {} steps with {:.3g} iterations for momentum and {:.3g} for pressure\n"
        "per step   {:.4g} sums and {:.4g} exchanges of halos, which are {:.0f} B to a neighbour\n",
        problem.rows, problem.columns, options_.run.steps, iterations.momentum, iterations.pressure, syncs.sums,
        syncs.exchanges, syncs.halo_bytes);
  }

  Forecast forecast(Processes& processes, const std::string& partition) const override {
    const Problem problem = scaled_problem();
    const Numerics& numerics = options_.numerics;
    const SampleRun sample = this->sample(problem);
    const partition::Algorithm& algorithm = partition::find_algorithm(partition);
    const KernelFacts facts = MeasuredKernel(problem.columns).facts();
    const SpeedModels models = processes.speed_models(facts, algorithm);
    const partition::Distribution slices = algorithm.distribute(problem.rows, models.pointers());
    std::vector<PerPart<double>> unit_s;
    if (processes.has_models()) unit_s = unit_seconds(problem, slices, sample);
    const double steps = static_cast<double>(options_.run.steps);
    SyncCounts syncs;
    if (processes.units().size() > 1) syncs = step_syncs(problem, numerics, sample.iterations);
    Forecast forecast;
    forecast.distribution = slices.units;
    forecast.units = models.estimates(slices.units, slices.predicted_s);
    forecast.channel_error = processes.platform().error();
    for (const SyncCosts& costs :
         sync_costs(row_bytes(problem.columns), processes.count(), processes.platform(), processes.placement())) {
      const StepPhases step = step_phases(step_calls(problem, numerics, sample.iterations), unit_s, syncs, costs);
      ModelForecast one{costs.model, {}, steps * step.syncs_s(), steps * step.syncs_s(), steps * step.total_s()};
      for (const auto& [name, seconds] : named_phases(step, numerics)) {
        const bool is_sync = name == "sums" || name == "halos";
        if (is_sync || processes.has_models()) one.phases.emplace_back(name, steps * seconds);
      }
      forecast.models.push_back(one);
    }
    return forecast;
  }

  /// As many times the rows, of the same height each.
  bool has_weak_scaling() const override { return true; }

 private:
  Problem scaled_problem() const {
    Problem problem = problem_;
    problem.rows *= times_;
    problem.height *= static_cast<double>(times_);
    return problem;
  }

  /// Of `--sample`, or of memory traffic; with the iterations of `--iterations` where it is given.
  SampleRun sample(const Problem& problem) const {
    SampleRun sample;
    const std::optional<std::pair<double, double>>& iterations = options_.iterations;
    if (!options_.sample.empty()) {
      sample = read_sample(options_.sample, problem, options_.numerics);
    } else if (iterations) {
      sample.part_s = part_words(problem, options_.numerics);
    } else {
      throw InvalidArgument("--iterations is missing (expected those of a time step, or a --sample that has them)");
    }
    if (iterations) sample.iterations = {iterations->first, iterations->second};
    return sample;
  }

  /// Seconds of each unit's parts: of a row in an iteration of both solvers, which models are of, that share which the
  /// part has. Levels that every unit has whole are swept by all.
  std::vector<PerPart<double>> unit_seconds(const Problem& problem, const partition::Distribution& slices,
                                            const SampleRun& sample) const {
    const PerPart<double> words = part_words(problem, options_.numerics), plain_words = part_words(problem, plain());
    double plain_s = 0.0;
    for (const auto part : {StepPart::momentum, StepPart::pressure}) {
      plain_s += sample.part_s[part] * plain_words[part] / words[part];
    }
    const double whole_share = slices.units.size() > 1 ? shared_cycle(problem, options_.numerics).whole_share : 0.0;
    std::vector<PerPart<double>> unit_s;
    for (std::size_t i = 0; i < slices.units.size(); ++i) {
      const auto rows = static_cast<double>(slices.units[i]), all_rows = static_cast<double>(problem.rows);
      const double iteration_s = slices.predicted_s[i] / MeasuredKernel::iterations;
      PerPart<double> seconds{};
      if (rows > 0.0 && plain_s > 0.0) {
        for (std::size_t part = 0; part < seconds.size(); ++part) {
          seconds[part] = iteration_s * sample.part_s[part] / plain_s;
        }
        seconds[StepPart::multigrid] *= 1.0 + whole_share * (all_rows / rows - 1.0);
      }
      unit_s.push_back(seconds);
    }
    return unit_s;
  }

  /// The solvers of the measured kernel.
  static Numerics plain() {
    Numerics numerics;
    numerics.pressure_preconditioner = PreconditionerKind::none;
    return numerics;
  }

  Problem problem_;
  Options options_;
};

}  // namespace

std::unique_ptr<Forecaster> make_forecaster(const Problem& problem, const Options& options) {
  return std::make_unique<FlowForecaster>(problem, options);
}

}  // namespace steelyard::cavity
