#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "core/base/run_record.hpp"
#include "core/co_execution.hpp"
#include "core/measurable_kernel.hpp"
#include "core/options.hpp"
#include "miniapps/app/outputs.hpp"
#include "miniapps/app/plan.hpp"

namespace steelyard {

class Frame;

/// Facts about a mini-app.
struct AppFacts {
  std::string name;          ///< of the program
  std::string description;   ///< one line for `--help`
  std::string timed;         ///< what a repetition does, for its profiling region `steelyard::<name>::<timed>`
  OptionalRunOptions takes;  ///< of the frame's options
  bool grows = false;        ///< can be planned with a multiple of its rows, for weak scaling
  std::vector<std::string> advised_partitions = {"even", "geometric", "exact"};  ///< that advice chooses from
};

/// Times of the repetitions that count, the same on all ranks.
struct Measurement {
  std::vector<double> times_s;  ///< of the slowest rank, one for each repetition
  double median_s = 0.0;
  std::vector<std::vector<double>> unit_times_s;  ///< of every slot's kernels, for each repetition
  std::vector<double> unit_s;                     ///< their medians; comparable with Plan::unit_s
};

/// Results of a run that the app adds.
struct Outcome {
  std::vector<PhaseTime> phases;                      ///< of a repetition
  std::map<std::string, double> params;               ///< that the run has chosen, such as its steps
  std::map<std::string, std::string> settings;        ///< that the run has chosen
  FigureOfMerit figure_of_merit;                      ///< left out of the result where it is 0, as no work was done
  std::map<std::string, double> figures;              ///< kept in `run.json`
  std::map<std::string, std::vector<double>> points;  ///< kept in `run.json`
  std::string above;                                  ///< lines between the table of units and the line `time`
  std::string of_what;                                ///< words behind the time, such as `for 20 steps`
  std::string below;                                  ///< lines between the lines `predicted` and `figure of merit`
  std::string failure;  ///< what ends the run with exit code 3 once its results are written
};

/// A repetition that counts.
struct Repetition {
  double seconds = 0.0;  ///< of the slowest rank
  bool is_last = false;
};

/// One run of a mini-app. The frame calls these functions in this order, on all ranks:
/// memory_bytes, describe, title, plan, allocate, (load, run, check, keep) for each repetition, write_files, outcome.
/// All may communicate.
class AppRun {
 public:
  virtual ~AppRun() = default;

  /// Bytes of the slices' data at least, of all ranks together: a run that no memory holds ends there.
  virtual double memory_bytes() const = 0;
  /// Adds to the record what the user chose: `params` are numbers, `settings` are words.
  virtual void describe(RunRecord& record) const = 0;
  /// First line of the output, without its end, which is about ranks; notes() has the lines below it.
  virtual std::string title(const RunRecord& record) const = 0;
  virtual std::string notes(const RunRecord&) const { return ""; }
  /// Distributes and predicts what MiniApp::plan() does not, such as a run that balances itself; nothing: as it does.
  virtual std::optional<Plan> plan() { return std::nullopt; }
  /// Allocates the data of the slices.
  virtual void allocate(const Plan& plan) = 0;
  /// Sets the input of a repetition; not timed.
  virtual void load() = 0;
  /// A repetition; timed. @return seconds of this rank's units, comparable with Plan::unit_s
  virtual UnitSeconds run() = 0;
  /// Error of the last repetition's result; nothing where there is no reference.
  virtual std::optional<FoundError> check() = 0;
  /// Reason in the line `check      not done: …` where check() finds nothing.
  virtual std::string why_unchecked() const { return ""; }
  /// Keeps what the app itself measured of the last repetition; not called after warm-ups.
  virtual void keep(const Repetition&) {}
  /// Writes the run's output files, each by Frame::write(), those first that cost most to make again.
  virtual void write_files() {}
  /// Sums up. @param plan may be brought up to date, where what is predicted depends on what a run did
  virtual Outcome outcome(const Measurement& measurement, Plan& plan) = 0;
};

/// A mini-app: one type, which STEELYARD_MINIAPP() makes known.
class MiniApp {
 public:
  virtual ~MiniApp() = default;

  virtual AppFacts facts() const = 0;
  /// Where the options go that the frame adds.
  virtual RunOptions& run_options() = 0;
  /// Adds the app's own options, for every verb; those that the frame adds are there already.
  virtual void add_options(const AppOptions& parsers) = 0;
  /// Checks the options once they are parsed; must not communicate. @throws InvalidArgument, FileFormatError
  virtual void prepare() = 0;
  /// @param frame outlives the run
  virtual std::unique_ptr<AppRun> start(Frame& frame) const = 0;

  // After prepare(), as the options say.

  /// The kernel that `steelyard measure` measures and `steelyard conformance` checks.
  virtual std::shared_ptr<MeasurableKernel> kernel() const = 0;
  /// Describes the problem, in one line or several.
  virtual std::string problem() const { return ""; }
  /// Obtains models, distributes and predicts, on the processes of a run or on paper. @param times factor on the number
  /// of rows, for apps that grow
  virtual Plan plan(Resources& on, std::int64_t times) const = 0;
};

/// A mini-app with options of its own. @tparam Options has a RunOptions `run`
template <class Options>
class MiniAppOf : public MiniApp {
 public:
  RunOptions& run_options() override { return options_.run; }

 protected:
  Options options_;
};

/// A run with numbers of the type that the user chose. @tparam Run for double or float
template <template <class Scalar> class Run, class Options>
std::unique_ptr<AppRun> make_run(Frame& frame, const Options& options) {
  return with_element(options.run.element, [&]<class Scalar>(Scalar) -> std::unique_ptr<AppRun> {
    return std::make_unique<Run<Scalar>>(frame, options);
  });
}

/// Adds the options of a verb: the frame's and the app's own. @return what app and parser refer to
std::shared_ptr<AppOptions> add_app_options(CLI::App& parser, MiniApp& app, Verb verb);

/// @throws InvalidArgument for several devices in a unit of an app that drives one
void require_devices(const AppFacts& facts, int devices);

/// Completes and checks the options once they are parsed. @throws InvalidArgument, FileFormatError
void prepare_options(MiniApp& app);

/// The whole of a mini-app's main().
int mini_app_main(int argc, char** argv, MiniApp& app);

}  // namespace steelyard

/// Makes a type derived from MiniApp known under the program's name, which `steelyard_miniapp(name …)` in the folder's
/// CMakeLists.txt repeats. To be used once, in namespace steelyard.
#define STEELYARD_MINIAPP(name, Type) \
  std::unique_ptr<MiniApp> make_##name() { return std::make_unique<Type>(); }
