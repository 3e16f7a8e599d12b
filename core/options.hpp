#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/processing_unit.hpp"
#include "core/unit_plan.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace steelyard {

enum class ElementType { float32, float64 };
enum class CheckLevel { none, last, all };

/// The options that mini-apps share, of a run or of a prediction.
struct RunOptions {
  std::int64_t steps = 100;
  std::uint64_t seed = 1;
  ElementType element = ElementType::float64;
  std::optional<UnitChoice> units;
  std::filesystem::path layout;
  std::vector<std::string> slowdown;
  std::string partition = "geometric";
  std::string distribution;  ///< shares or a file, in place of `partition`; empty where the user gives none
  int levels = 1;            ///< 2: over nodes first, then over the units of each
  std::string kind;          ///< of the speed models; empty for what the algorithm asks for
  std::vector<std::filesystem::path> models;
  std::filesystem::path platform;
  bool barrier = false;
  int repetitions = 5;
  int warmups = 1;
  CheckLevel check = CheckLevel::last;
  std::vector<std::filesystem::path> input;
  std::filesystem::path output;
  std::filesystem::path result;
  std::filesystem::path checkpoint, restart;
  std::int64_t checkpoint_every = 0;  ///< steps; 0: only when the run ends or is interrupted
  bool dry_run = false;
  bool strict = false;
};

/// A grid of points, from `--size N` or `--rows N --columns N`.
struct GridOptions {
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  /// Sets a problem's extents to these, unless the user gave none. @throws InvalidArgument for one without the other
  void set(std::int64_t& problem_rows, std::int64_t& problem_columns) const;
};

/// Least rows and columns of a grid.
struct LeastExtent {
  std::int64_t extent = 1;
  std::string why;  ///< behind the number in messages
};
/// Rejects grids that are too small, and those that no memory holds.
/// @param what,points nouns for the messages, such as `grid` and `cells` @throws InvalidArgument
void require_extents(const std::string& what, const std::string& points, std::int64_t rows, std::int64_t columns,
                     const LeastExtent& least = {});

/// Run options that a mini-app takes only where it says so: others are unknown to it.
struct OptionalRunOptions {
  bool steps = false;       ///< `--steps`
  bool seed = false;        ///< `--seed`
  bool type = false;        ///< `--type`
  bool platform = false;    ///< `--platform`, of apps whose ranks send messages within a repetition
  bool barrier = false;     ///< `--barrier`
  bool input = false;       ///< `--input`
  bool output = false;      ///< `--output`
  bool devices = false;     ///< several devices in `--units`
  bool checkpoint = false;  ///< `--checkpoint`, `--checkpoint-every` and `--restart`
};

/// Actions on a mini-app: run it, measure its kernel for speed models, predict a run.
enum class Verb { run, measure, predict };

/// Options of a mini-app, declared once, each for the verbs whose outcome it changes. Other verbs refuse it.
class AppOptions {
 public:
  /// @param parser of this verb, outlives this
  AppOptions(CLI::App& parser, Verb verb);
  ~AppOptions();
  AppOptions(const AppOptions&) = delete;
  AppOptions& operator=(const AppOptions&) = delete;

  Verb verb() const { return verb_; }
  /// For options that fix what a speed model is of: every verb takes them.
  CLI::App& model() const { return parser_; }
  /// For other options that a prediction depends on: for run and predict.
  CLI::App& plan() const { return verb_ == Verb::measure ? *unused_ : parser_; }
  CLI::App& run() const { return verb_ == Verb::run ? parser_ : *unused_; }
  CLI::App& predict() const { return verb_ == Verb::predict ? parser_ : *unused_; }

 private:
  CLI::App& parser_;
  std::unique_ptr<CLI::App> unused_;  ///< takes the options of other verbs, and is never parsed
  Verb verb_;
};

/// Adds the options that every mini-app has, and those of `optional`; parse_command_line() sets `options`.
void add_run_options(const AppOptions& parsers, RunOptions& options, const OptionalRunOptions& optional = {});
/// Adds options that `steelyard`'s commands share with the mini-apps.
void add_element_option(CLI::App& parser, ElementType& element);
/// @param units_by_default for `--help`
void add_unit_options(CLI::App& parser, RunOptions& options, const std::string& units_by_default = "all there are");
/// Adds `--units` alone.
void add_units_option(CLI::App& parser, std::optional<UnitChoice>& units, const std::string& units_by_default);
CLI::Option* add_levels_option(CLI::App& parser, int& levels);
/// Adds `--size`, `--rows` and `--columns`; both extents are `otherwise` where nothing is given, 0 for what the app
/// finds itself. A speed model is of rows, which `--columns` alone fixes.
void add_grid_options(const AppOptions& parsers, GridOptions& grid, std::int64_t otherwise);
/// Adds `-h,--help` and `--version`, which parse_command_line() answers.
void add_standard_options(CLI::App& parser);

/// Parses; returns text to print (help, version) instead of running, or nothing. Kokkos' own options, `--kokkos-…`,
/// become the environment variables that it has for the same.
/// @throws InvalidArgument with one line that names the argument; for an option with an empty value
std::optional<std::string> parse_command_line(CLI::App& parser, int argc, const char* const* argv);

const char* element_name(ElementType element);
inline int element_bytes(ElementType element) { return element == ElementType::float64 ? 8 : 4; }
/// The word of a value, of an enumeration's words in its order; see add_choice().
template <class Enumeration>
const std::string& word_of(const std::vector<std::string>& words, Enumeration value) {
  return words.at(static_cast<std::size_t>(value));
}
/// Calls `use` with a number of this type. @return what it returns
template <class Use>
auto with_element(ElementType element, const Use& use) {
  if (element == ElementType::float64) return use(double());
  return use(float());
}

}  // namespace steelyard
