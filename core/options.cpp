#include "core/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "core/base/build_info.hpp"
#include "core/base/errors.hpp"
#include "core/typed_options.hpp"

namespace steelyard {
namespace {

using Words = std::vector<std::string>;

/// The command that the line has come to: the parser itself, or the subcommand's subcommand … that was chosen.
const CLI::App& chosen_command(const CLI::App& parser) {
  const CLI::App* command = &parser;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

Words subcommand_names(const CLI::App& command) {
  Words names;
  for (const CLI::App* subcommand : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

Words option_names(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Least number of characters to insert, remove or replace that makes one word of the other (Levenshtein).
std::size_t edit_distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : from) {
    std::size_t diagonal = row[0]++;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t replaced = diagonal + (letter == to[i] ? 0 : 1);
      diagonal = row[i + 1];
      row[i + 1] = std::min({replaced, row[i] + 1, row[i + 1] + 1});
    }
  }
  return row.back();
}

/// `; did you mean X?` where one of the names begins like the word or differs from it by about a third of it at most.
std::string suggestion(const std::string& word, const Words& names) {
  std::string nearest;
  std::size_t least = (word.size() + 2) / 3 + 1;
  for (const std::string& name : names) {
    const bool is_short_for = word.size() > 3 && name.starts_with(word);
    const std::size_t distance = is_short_for ? 0 : edit_distance(word, name);
    if (distance >= least || distance >= word.size()) continue;
    least = distance;
    nearest = name;
  }
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

std::string expected(const Words& names) {
  std::string text = "expected ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text;
}

/// Message about words that no option or subcommand takes.
std::string surplus_message(const CLI::App& parser) {
  const CLI::App& command = chosen_command(parser);
  const Words words = parser.remaining(true);
  const auto option = std::find_if(words.begin(), words.end(), [](const auto& word) { return word.starts_with("-"); });
  if (option != words.end()) {
    const std::string name = option->substr(0, option->find('='));
    return fmt::format("{} is not expected{}", name, suggestion(name, option_names(command)));
  }
  const std::string word = words.empty() ? "an argument" : words.front();
  const Words names = subcommand_names(command);
  if (names.empty()) return fmt::format("{} is not expected", word);
  return fmt::format("{} is not expected ({}{})", word, expected(names), suggestion(word, names));
}

/// Takes what stands before `mark` off the front of a text, and the mark; nothing, and nothing taken, without a mark.
std::optional<std::string> take_before(std::string& text, const std::string& mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::string before = text.substr(0, at);
  text.erase(0, at + mark.size());
  return before;
}

/// CLI11's own message, with the option before its value and what is expected in brackets behind it. They are
/// `OPTION: Value VALUE not in range LEAST to MOST`, `OPTION: VALUE not in {CHOICE,…}`,
/// `OPTION: 1 required TYPE missing`, `Could not convert: OPTION = VALUE` and what validators say.
std::string value_message(const CLI::App& command, const CLI::ParseError& error) {
  std::string rest = error.what();
  if (rest.starts_with("Could not convert: ")) {
    const std::size_t equals = rest.find(" = ");
    const std::string option = rest.substr(19, equals - 19);
    const CLI::Option* known = command.get_option_no_throw(option);
    const bool is_flag = known != nullptr && known->get_items_expected_max() == 0;
    return fmt::format("{} {} (expected {})", option, rest.substr(equals + 3), is_flag ? "no value" : "a number");
  }
  const std::size_t colon = rest.find(": ");
  if (colon == std::string::npos || !rest.starts_with("--")) return rest;
  const std::string option = rest.substr(0, colon);
  rest.erase(0, colon + 2);
  const bool has_value = rest.starts_with("Value ");
  if (has_value) rest.erase(0, 6);
  if (const auto value = take_before(rest, " not in {")) {
    const Words names = CLI::detail::split(rest.substr(0, rest.find('}')), ',');
    return fmt::format("{} {} ({}{})", option, *value, expected(names), suggestion(*value, names));
  }
  if (const auto value = take_before(rest, " not in range ")) {
    std::erase_if(rest, [](char letter) { return letter == '[' || letter == ']'; });
    for (std::size_t zeros = 0; (zeros = rest.find(".000000")) != std::string::npos;) rest.erase(zeros, 7);
    // CLI11 writes `LEAST - MOST` from 2.5 on.
    if (const std::size_t dash = rest.find(" - "); dash != std::string::npos) rest.replace(dash, 3, " to ");
    return fmt::format("{} {} (expected a number from {})", option, *value, rest);
  }
  if (rest.starts_with("At Most 1 ")) return fmt::format("{} is given more than once", option);
  if (rest.ends_with(" missing")) {
    const CLI::Option* known = command.get_option_no_throw(option);
    const int values = known != nullptr ? known->get_items_expected_min() : 1;
    return values > 1 ? fmt::format("{} has too few values (expected {})", option, values)
                      : fmt::format("{} has no value", option);
  }
  const bool is_value = has_value || dynamic_cast<const CLI::ValidationError*>(&error) != nullptr;
  return is_value ? fmt::format("{} {}", option, rest) : error.what();
}

/// Message about a wrong command line, of which `parser` has just thrown `error`: names the argument, what was expected
/// and, of a word that is misspelt, the right one.
std::string parse_message(const CLI::App& parser, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return surplus_message(parser);
  const CLI::App& command = chosen_command(parser);
  const Words names = subcommand_names(command);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !names.empty()) {
    return fmt::format("{} ({})", error.what(), expected(names));
  }
  return value_message(command, error);
}

/// @throws InvalidArgument naming an option of the command line whose value has no characters, such as `--output ''`
void require_values(const CLI::App& parser) {
  for (const CLI::Option* option : parser.get_options()) {
    const Words& values = option->results();
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    throw InvalidArgument(fmt::format("{} has an empty value (see --help)", option->get_name()));
  }
  for (const CLI::App* subcommand : parser.get_subcommands()) require_values(*subcommand);
}

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

void add_units_option(CLI::App& parser, std::optional<UnitChoice>& units, const std::string& units_by_default) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      parse_unit_choice(text);
    } catch (const InvalidArgument& error) {
      const std::string message = error.what();
      return fmt::format("Value {} {}", text, message.substr(message.find('(')));
    }
    return "";
  };
  parser
      .add_option_function<std::string>(
          "--units", [&units](const std::string& text) { units = parse_unit_choice(text); },
          fmt::format("Processing units each rank drives, several devices as one: host+2device (default: {})",
                      units_by_default))
      ->check(CLI::Validator(refusal, ""))
      ->type_name("host|device|host+device");
}

void add_unit_options(CLI::App& parser, RunOptions& options, const std::string& units_by_default) {
  add_units_option(parser, options.units, units_by_default);
  parser.add_option("--layout", options.layout, "File that gives each rank its cores and units")->type_name("FILE");
  parser.add_option("--slowdown", options.slowdown, "Emulate slower units: host=F, device=F or rankN=F, F >= 1")
      ->type_name("WHICH=F");
}

CLI::Option* add_levels_option(CLI::App& parser, int& levels) {
  return add_number(parser, "--levels", levels, "2: partition over nodes first, then within each node (default 1)", 1,
                    2, "1|2");
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
  add_levels_option(plan, options.levels);
  const auto add = [](CLI::App& to, const char* name, auto& value, const char* type, const char* description) {
    to.add_option(name, value, description)->type_name(type);
  };
  add(plan, "--model", options.models, "FILE...",
      "Speed models (*.fpm.json): one for all units, one for each of a rank, or one each");
  add(plan, "--kind", options.kind, "KIND",
      "What to make of the models' points (default: what the algorithm asks for)");
  const char* const parameters = "Measured communication parameters (*.platform.json)";
  if (optional.platform) add(plan, "--platform", options.platform, "FILE", parameters);
  CLI::App& parser = parsers.run();
  if (optional.barrier) {
    parser.add_flag("--barrier", options.barrier,
                    "A barrier of all ranks before every communication, as 001 measures it (section 5.4)");
  }
  CLI::Option* repetitions =
      add_number(parser, "--repetitions", options.repetitions, "Timed runs; the median is reported", 1, 1000000)
          ->capture_default_str();
  CLI::Option* warmups =
      add_number(parser, "--warmups", options.warmups, "Runs before them that do not count", 0, 1000000)
          ->capture_default_str();
  add_choice<CheckLevel>(parser, "--check", options.check, {"none", "last", "all"},
                         "Which repetitions are verified (default last)");
  if (optional.input) add(parser, "--input", options.input, "FILE...", "Initial data (NumPy .npy)");
  if (optional.output) add(parser, "--output", options.output, "FILE", "Where the result goes (NumPy .npy)");
  if (optional.checkpoint) {
    // A run that goes on from where another one ended is one run.
    const auto once = [&options, repetitions, warmups](const std::string&) {
      if (repetitions->count() == 0) options.repetitions = 1;
      if (warmups->count() == 0) options.warmups = 0;
    };
    parser
        .add_option("--checkpoint", options.checkpoint,
                    "Where the state goes, for --restart: at the end, and when the run is interrupted (one repetition)")
        ->type_name("FILE")
        ->each(once);
    add_number(parser, "--checkpoint-every", options.checkpoint_every,
               "Steps after which it goes there too, as the run goes on", 1, std::numeric_limits<std::int64_t>::max())
        ->needs("--checkpoint");
    parser
        .add_option("--restart", options.restart, "Checkpoint that the run continues from; --steps counts from there")
        ->type_name("FILE")
        ->each(once);
  }
  add(parser, "--result", options.result, "DIR", "Folder for run.json and samples.jsonl");
  parser.add_flag("--dry-run", options.dry_run, "Print distribution and prediction, run nothing");
  parser.add_flag("--strict", options.strict, "Make errors of notes that say why numbers may mislead");
}

void add_grid_options(const AppOptions& parsers, GridOptions& grid, std::int64_t otherwise) {
  grid.rows = grid.columns = otherwise;
  const std::string by_default = otherwise > 0 ? fmt::format(" (default {})", otherwise) : "";
  const auto add = [&](CLI::App& parser, const char* name, const char* description, bool sets_rows, bool sets_columns) {
    const auto set = [&grid, sets_rows, sets_columns](std::int64_t n) {
      if (sets_rows) grid.rows = n;
      if (sets_columns) grid.columns = n;
    };
    return parser.add_option_function<std::int64_t>(name, set, description + by_default)
        ->check(CLI::Range(std::int64_t{1}, largest))
        ->type_name("N");
  };
  const bool measures = parsers.verb() == Verb::measure;
  CLI::Option* const size = add(parsers.model(), "--size", "Rows and columns of the grid", true, true);
  CLI::Option* const rows = add(parsers.plan(), "--rows", "Rows of the grid", true, false);
  if (!measures) rows->excludes(size);
  add(parsers.model(), "--columns", "Columns of the grid", measures, true)->excludes(size);
}

void GridOptions::set(std::int64_t& problem_rows, std::int64_t& problem_columns) const {
  if ((rows == 0) != (columns == 0)) {
    throw InvalidArgument("--rows and --columns go together (or --size N for both)");
  }
  if (rows == 0) return;
  problem_rows = rows;
  problem_columns = columns;
}

void require_extents(const std::string& what, const std::string& points, std::int64_t rows, std::int64_t columns,
                     const LeastExtent& least) {
  const std::string grid = fmt::format("{} of {} x {} {}", what, rows, columns, points);
  if (rows < least.extent || columns < least.extent) {
    throw InvalidArgument(fmt::format("{} (expected at least {} x {}{})", grid, least.extent, least.extent, least.why));
  }
  constexpr std::int64_t largest_extent = std::int64_t{1} << 31;
  constexpr double most_points = 9.0e15;
  if (std::max(rows, columns) > largest_extent ||
      static_cast<double>(rows) * static_cast<double>(columns) > most_points) {
    throw InvalidArgument(grid + " is beyond any memory");
  }
}

void add_standard_options(CLI::App& parser) {
  parser.set_help_flag("-h,--help", "Print this and exit");
  parser.set_version_flag("--version", fmt::format("{} {} ({})", parser.get_name(), build_info().version,
                                                   build_info().commit.substr(0, 12)));
}

namespace {

/// Arguments without `--kokkos-NAME[=VALUE]`, of which each sets the variable `KOKKOS_NAME` that Kokkos has for the
/// same.
/// @throws InvalidArgument for other names
std::vector<const char*> take_kokkos_options(int argc, const char* const* argv) {
  static const std::vector<std::string> names{"device-id",           "disable-warnings", "map-device-id-by",
                                              "num-threads",         "tools-args",       "tools-libs",
                                              "print-configuration", "tune-internals"};
  constexpr std::string_view prefix = "--kokkos-";
  std::vector<const char*> others;
  for (const char* const* argument = argv; argument < argv + argc; ++argument) {
    const std::string text = *argument;
    if (!text.starts_with(prefix)) {
      others.push_back(*argument);
      continue;
    }
    const std::size_t equals = text.find('=');
    std::string name = text.substr(prefix.size(), equals - prefix.size());
    if (std::ranges::find(names, name) == names.end()) {
      throw InvalidArgument(fmt::format("{} (expected {} with one of: {})", text, prefix, fmt::join(names, ", ")));
    }
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
    ::setenv(("KOKKOS_" + name).c_str(), equals == std::string::npos ? "true" : text.substr(equals + 1).c_str(), 1);
  }
  return others;
}

}  // namespace

std::optional<std::string> parse_command_line(CLI::App& parser, int argc, const char* const* argv) {
  try {
    const std::vector<const char*> arguments = take_kokkos_options(argc, argv);
    parser.parse(static_cast<int>(arguments.size()), arguments.data());
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
