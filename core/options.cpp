#include "core/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <limits>

#include "core/base/build_info.hpp"
#include "core/base/errors.hpp"
#include "core/parse_message.hpp"
#include "core/typed_options.hpp"

namespace steelyard {
namespace {

constexpr std::int64_t largest = std::int64_t{1} << 40;

/// CLI11 reads -1 as the largest number there is, and larger ones from 0 on again.
std::string refuse_wrapped(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  std::strtoull(text.c_str(), &end, 0);
  if (errno == 0 && end != text.c_str() && *end == '\0' && text.find('-') == std::string::npos) return "";
  return fmt::format("Value {} (expected a number from 0 to {})", text, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace

void add_element_option(CLI::App& parser, ElementType& element) {
  add_choice<ElementType>(parser, "--type", element, {"float", "double"}, "Element type (default double)");
}

void add_unit_options(CLI::App& parser, RunOptions& options, const std::string& units_by_default) {
  add_choice<UnitChoice>(parser, "--units", options.units, {"host", "device", "host+device"},
                         fmt::format("Processing units each rank drives (default: {})", units_by_default));
  parser.add_option("--layout", options.layout, "File that gives each rank its cores and units")->type_name("FILE");
  parser.add_option("--slowdown", options.slowdown, "Emulate slower units: host=F, device=F or rankN=F, F >= 1")
      ->type_name("WHICH=F");
}

AppOptions::AppOptions(CLI::App& parser, Verb verb)
    : parser_(parser), unused_(std::make_unique<CLI::App>()), verb_(verb) {}
AppOptions::~AppOptions() = default;

void add_run_options(const AppOptions& parsers, RunOptions& options, const OptionalRunOptions& optional) {
  if (optional.steps) {
    add_number(parsers.plan(), "--steps", options.steps, "Steps of one repetition", 0, largest)->capture_default_str();
  }
  if (optional.type) add_element_option(parsers.model(), options.element);
  if (optional.seed) {
    parsers.run()
        .add_option("--seed", options.seed, "Seed of everything random")
        ->check(CLI::Validator(refuse_wrapped, ""))
        ->type_name("N")
        ->capture_default_str();
  }
  CLI::App& plan = parsers.plan();
  add_unit_options(plan, options, parsers.verb() == Verb::predict ? "host" : "all there are");
  CLI::Option* partition =
      plan.add_option("--partition", options.partition,
                      "Partitioning algorithm (see steelyard partition --list), or shares:A:B:... for fixed shares")
          ->type_name("NAME")
          ->capture_default_str();
  plan.add_option("--distribution", options.distribution,
                  "Shares of the units: numbers, or a file of steelyard partition --format json or a run's run.json")
      ->type_name("A:B:...|FILE")
      ->excludes(partition);
  plan.add_option("--model", options.models,
                  "Speed models (*.fpm.json): one for all units, one for each of a rank, or one each")
      ->type_name("FILE...");
  plan.add_option("--kind", options.kind, "What to make of the models' points (default: what the algorithm asks for)")
      ->type_name("KIND");
  if (optional.platform) {
    plan.add_option("--platform", options.platform, "Measured communication parameters (*.platform.json)")
        ->type_name("FILE");
  }
  CLI::App& parser = parsers.run();
  if (optional.barrier) {
    parser.add_flag("--barrier", options.barrier,
                    "A barrier of all ranks before every communication, as 001 measures it (section 5.4)");
  }
  add_number(parser, "--repetitions", options.repetitions, "Timed runs; the median is reported", 1, 1000000)
      ->capture_default_str();
  add_number(parser, "--warmups", options.warmups, "Runs before them that do not count", 0, 1000000)
      ->capture_default_str();
  add_choice<CheckLevel>(parser, "--check", options.check, {"none", "last", "all"},
                         "Which repetitions are verified (default last)");
  if (optional.input) parser.add_option("--input", options.input, "Initial data (NumPy .npy)")->type_name("FILE...");
  if (optional.output) {
    parser.add_option("--output", options.output, "Where the result goes (NumPy .npy)")->type_name("FILE");
  }
  parser.add_option("--result", options.result, "Folder for run.json and samples.jsonl")->type_name("DIR");
  parser.add_flag("--dry-run", options.dry_run, "Print distribution and prediction, run nothing");
}

void add_grid_options(const AppOptions& parsers, GridOptions& grid, std::int64_t otherwise) {
  grid.rows = grid.columns = otherwise;
  const std::string by_default = otherwise > 0 ? fmt::format(" (default {})", otherwise) : "";
  const auto set_both = [&grid](std::int64_t n) { grid.rows = grid.columns = n; };
  const auto set_columns = [&grid, set_both, verb = parsers.verb()](std::int64_t n) {
    if (verb == Verb::measure) return set_both(n);
    grid.columns = n;
  };
  const auto add = [&](CLI::App& parser, const char* name, const auto& set, const char* description) {
    return parser.add_option_function<std::int64_t>(name, set, description + by_default)
        ->check(CLI::Range(std::int64_t{1}, largest))
        ->type_name("N");
  };
  CLI::Option* const size = add(parsers.model(), "--size", set_both, "Rows and columns of the grid");
  const auto set_rows = [&grid](std::int64_t n) { grid.rows = n; };
  CLI::Option* const rows = add(parsers.plan(), "--rows", set_rows, "Rows of the grid");
  if (parsers.verb() != Verb::measure) rows->excludes(size);
  add(parsers.model(), "--columns", set_columns, "Columns of the grid")->excludes(size);
}

void add_standard_options(CLI::App& parser) {
  parser.set_help_flag("-h,--help", "Print this and exit");
  parser.set_version_flag("--version", fmt::format("{} {} ({})", parser.get_name(), build_info().version,
                                                   build_info().commit.substr(0, 12)));
}

std::optional<std::string> parse_command_line(CLI::App& parser, int argc, const char* const* argv) {
  try {
    parser.parse(argc, argv);
  } catch (const CLI::CallForVersion&) {
    return parser.version() + "\n";
  } catch (const CLI::CallForHelp&) {
    return parser.help();  // of the subcommand where one was chosen
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(fmt::format("{} (see --help)", parse_message(parser, error)));
  }
  require_values(parser);
  return std::nullopt;
}

const char* element_name(ElementType element) { return element == ElementType::float64 ? "double" : "float"; }

}  // namespace steelyard
