#include <CLI/CLI.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/options.hpp"
#include "miniapps/cavity/options.hpp"

namespace steelyard::test_options {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::cavity;
using Words = std::vector<std::string>;

namespace {

/// As the frame does it.
void add_all_options(CLI::App& parser, Options& options) {
  add_standard_options(parser);
  const AppOptions parsers(parser, Verb::run);
  add_run_options(parsers, options.run, {.steps = true, .platform = true, .output = true});
  cavity::add_options(parsers, options);
}

/// cavity's parser and what it fills in.
struct Parsed {
  Options options;
  std::optional<std::string> text;

  explicit Parsed(const Words& words) {
    CLI::App parser("Flows", "cavity");
    add_all_options(parser, options);
    std::vector<const char*> arguments{"cavity"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    text = parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
  }
};

Problem problem_of(const Words& words) { return make_problem(Parsed(words).options); }

/// Of a run that begins at `start_time`.
RunEnd end_of(const Words& words, double start_time = 0.0) {
  const Parsed parsed(words);
  return make_end(parsed.options, make_problem(parsed.options), start_time);
}

/// All that words can change of a run, but for files.
auto meaning(const Words& words) {
  const Options options = Parsed(words).options;
  const Problem problem = make_problem(options);
  const RunEnd end = make_end(options, problem, 0.0);
  const Numerics& numerics = options.numerics;
  return std::tuple(
      std::tuple(problem.rows, problem.columns, problem.height, problem.reynolds, problem.scheme, problem.correctors,
                 problem.time_step),
      std::tuple(end.steps, end.steady, options.compare_even), std::tuple(numerics.reductions, numerics.preconditioner),
      std::tuple(numerics.pressure.relative, numerics.pressure.absolute, numerics.pressure.most_iterations),
      std::tuple(numerics.momentum.relative, numerics.momentum.absolute, numerics.momentum.most_iterations),
      std::tuple(options.run.partition, options.run.repetitions, options.run.warmups, options.run.check,
                 options.run.dry_run));
}

/// What these words make of the solvers.
Numerics parsed(const Words& words) { return Parsed(words).options.numerics; }

/// What the help says that options are where nobody types them.
std::map<std::string, std::string> documented_defaults() {
  Options options;
  CLI::App parser("Flows", "cavity");
  add_all_options(parser, options);
  const std::regex in_words("default ([^ ;)]+)");
  std::map<std::string, std::string> defaults;
  for (const CLI::Option* option : std::as_const(parser).get_options()) {
    std::string value = option->get_default_str();
    const std::string description = option->get_description();
    std::smatch found;
    if (value.empty() && std::regex_search(description, found, in_words)) value = found[1];
    if (!value.empty()) defaults[option->get_name()] = value;
  }
  return defaults;
}

/// Words that make no run at `start_time`: one line of a message has all of `parts`.
void check_refused(const Words& words, const Words& parts, double start_time = 0.0) {
  std::string typed, message = "accepted";
  for (const std::string& word : words) typed += word + " ";
  try {
    end_of(words, start_time);
  } catch (const InvalidArgument& error) {
    message = error.what();
    CHECK(error.code() == ExitCode::wrong_input);
  }
  CAPTURE(typed);
  for (const std::string& part : parts) CHECK_THAT(message, ContainsSubstring(part));
  CHECK_THAT(message, !ContainsSubstring("\n"));
}

void check_refused(const std::string& option, const std::string& value, Words parts) {
  parts.insert(parts.end(), {option, value});
  check_refused({option, value}, parts);
}

}  // namespace

TEST_CASE("a cavity is as usual where nobody says otherwise") {
  const Problem problem = problem_of({});
  CHECK(problem.rows == 128);
  CHECK(problem.columns == 128);
  CHECK(problem.height == 1.0);
  CHECK(problem.reynolds == 100.0);
  CHECK(problem.scheme == TimeScheme::euler);
  CHECK(problem.correctors == 2);
  CHECK(problem.time_step == 1.0 / 128.0);
  const RunEnd end = end_of({});
  CHECK(end.steps == 100);
  CHECK(end.steady == 0.0);
  const Options options = Parsed({}).options;
  CHECK(options.run.repetitions == 1);
  CHECK(options.run.warmups == 0);
  CHECK_FALSE(options.compare_even);
  CHECK(options.profiles.empty());
  CHECK(options.picture.empty());
  CHECK(options.checkpoint.empty());
  CHECK(options.restart.empty());
  CHECK(options.run.output.empty());
  const Numerics& numerics = options.numerics;
  CHECK(numerics.preconditioner == Preconditioner::multigrid);
  CHECK(numerics.reductions == Reductions::separate);
  for (const SolveSettings& settings : {numerics.pressure, numerics.momentum}) {
    CHECK(settings.relative == 1e-6);
    CHECK(settings.absolute == 0.0);
    CHECK(settings.most_iterations == 1000);
    CHECK_FALSE(settings.keep_history);
  }
}

TEST_CASE("typing a default that the help names changes nothing, and something else does") {
  const std::map<std::string, std::string> defaults = documented_defaults();
  const std::map<std::string, std::string> others = {{"--size", "12"},
                                                     {"--steps", "12"},
                                                     {"--reynolds", "12"},
                                                     {"--height", "1.5"},
                                                     {"--cfl", "1.5"},
                                                     {"--scheme", "crank-nicolson"},
                                                     {"--correctors", "3"},
                                                     {"--pressure-preconditioner", "none"},
                                                     {"--reductions", "merged"},
                                                     {"--pressure-tolerance", "1e-3"},
                                                     {"--momentum-tolerance", "1e-3"},
                                                     {"--most-iterations", "12"},
                                                     {"--partition", "even"},
                                                     {"--repetitions", "12"},
                                                     {"--warmups", "12"},
                                                     {"--check", "all"}};
  for (const auto& [option, other] : others) {
    CAPTURE(option);
    REQUIRE(defaults.contains(option));
    CHECK((meaning({option, other}) != meaning({})));
  }
  for (const auto& [option, value] : defaults) {
    CAPTURE(option, value);
    CHECK(others.contains(option));
    CHECK((meaning({option, value}) == meaning({})));
  }
}

TEST_CASE("a cavity is what was typed") {
  CHECK(problem_of({"--size", "12"}).rows == 12);
  CHECK(problem_of({"--size", "12"}).columns == 12);
  const Options options = Parsed({"--rows", "30", "--columns", "20", "--height", "2.5", "--reynolds", "1e4", "--scheme",
                                  "crank-nicolson", "--correctors", "3", "--time-step", "0.125", "--compare-even"})
                              .options;
  const Problem problem = make_problem(options);
  CHECK(problem.rows == 30);
  CHECK(problem.columns == 20);
  CHECK(problem.height == 2.5);
  CHECK(problem.reynolds == 1e4);
  CHECK(problem.scheme == TimeScheme::crank_nicolson);
  CHECK(problem.correctors == 3);
  CHECK(problem.time_step == 0.125);
  CHECK(options.compare_even);
  CHECK(problem_of({"--scheme", "euler"}).scheme == TimeScheme::euler);
}

TEST_CASE("files are named one by one") {
  const Options options = Parsed({"--profiles", "a.csv", "--picture", "b.png", "--checkpoint", "c", "--restart", "d",
                                  "--output", "e.vti", "--result", "f"})
                              .options;
  CHECK(options.profiles == "a.csv");
  CHECK(options.picture == "b.png");
  CHECK(options.checkpoint == "c");
  CHECK(options.restart == "d");
  CHECK(options.run.output == "e.vti");
  CHECK(options.run.result == "f");
}

TEST_CASE("the Courant number is that of a cell's shorter edge") {
  CHECK(problem_of({"--size", "64", "--cfl", "0.5"}).time_step == 0.5 / 64.0);
  CHECK(problem_of({"--rows", "64", "--columns", "16", "--cfl", "0.5"}).time_step == 0.5 / 64.0);
  CHECK(problem_of({"--rows", "16", "--columns", "64", "--cfl", "0.5"}).time_step == 0.5 / 64.0);
  CHECK(problem_of({"--size", "16", "--height", "0.25", "--cfl", "3"}).time_step == 3.0 / 64.0);
  CHECK(problem_of({"--size", "16", "--height", "4", "--cfl", "3"}).time_step == 3.0 / 16.0);
}

TEST_CASE("options that exclude each other are refused in any order, and the message names both") {
  const struct {
    const char* one;
    const char* other;
  } pairs[] = {{"--time-step", "--cfl"}, {"--size", "--rows"}, {"--size", "--columns"}};
  for (const auto& [one, other] : pairs) {
    check_refused({one, "8", other, "9"}, {one, other});
    check_refused({other, "9", one, "8"}, {one, other});
  }
}

TEST_CASE("values that cannot be are refused with option, value and what was expected") {
  for (const char* option : {"--reynolds", "--height", "--time-step", "--cfl", "--end-time", "--steady"}) {
    for (const char* value : {"0", "-1", "-1e-9", "nan", "inf", "-inf", "1e999", "large", "2x"}) {
      check_refused({option, value}, {option, value, "expected a number greater than 0"});
    }
  }
  for (const char* value : {"0", "-1", "101", "two", "1.5"}) {
    check_refused({"--correctors", value}, {"--correctors", value, "1 to 100"});
  }
  for (const char* value : {"-1", "many", "1.5"})
    check_refused({"--steps", value}, {"--steps", value, "a number from 0 to"});
  for (const char* option : {"--size", "--rows", "--columns"}) {
    for (const char* value : {"0", "-1", "big", "2.5"})
      check_refused({option, value}, {option, value, "a number from 1 to"});
  }
  check_refused({"--scheme", "leap-frog"}, {"--scheme", "leap-frog", "euler", "crank-nicolson"});
  check_refused({"--partition", "fair"}, {"partition", "fair", "even", "geometric"});
  for (const char* name : {"flow.npy", "flow.VTK", "flow.vti.gz"}) check_refused("--output", name, {"ends in .vti"});
  CHECK_NOTHROW(end_of({"--correctors", "1"}));
  CHECK_NOTHROW(end_of({"--correctors", "100"}));
}

TEST_CASE("grids that cannot be are refused with their extents") {
  check_refused({"--rows", "9"}, {"--rows", "--columns", "together"});
  check_refused({"--columns", "9"}, {"--rows", "--columns", "together"});
  check_refused({"--size", "1"}, {"1 x 1", "expected at least 2 x 2"});
  check_refused({"--rows", "1", "--columns", "9"}, {"1 x 9", "expected at least 2 x 2"});
  check_refused({"--rows", "9", "--columns", "1"}, {"9 x 1", "expected at least 2 x 2"});
  CHECK_NOTHROW(problem_of({"--size", "2"}));
  check_refused({"--rows", "2147483649", "--columns", "2"}, {"2147483649 x 2", "memory"});
  check_refused({"--rows", "2", "--columns", "2147483649"}, {"2 x 2147483649", "memory"});
  check_refused({"--rows", "2147483648", "--columns", "4194304"}, {"2147483648 x 4194304", "memory"});
  CHECK_NOTHROW(problem_of({"--rows", "2147483648", "--columns", "4000000"}));
  CHECK_NOTHROW(problem_of({"--rows", "4000000", "--columns", "2147483648"}));
}

TEST_CASE("a run has as many steps as were typed, or as it needs to its end, whatever comes first") {
  CHECK(end_of({"--steps", "0"}).steps == 0);
  CHECK(end_of({"--steps", "7"}).steps == 7);
  CHECK(end_of({"--steps", "7"}, 3.0).steps == 7);
  const Words quarter{"--time-step", "0.25"};
  const auto steps = [&](Words words, double start_time = 0.0) {
    words.insert(words.end(), quarter.begin(), quarter.end());
    return end_of(words, start_time).steps;
  };
  CHECK(steps({"--end-time", "2"}) == 8);
  CHECK(steps({"--end-time", "2", "--steps", "7"}) == 7);
  CHECK(steps({"--end-time", "2", "--steps", "9"}) == 8);
  CHECK(steps({"--end-time", "2", "--steps", "0"}) == 0);
  CHECK(steps({"--end-time", "2"}, 1.5) == 2);
  CHECK(steps({"--end-time", "2"}, 2.0) == 0);
  CHECK(steps({"--end-time", "2.01"}) == 9);
  CHECK(steps({"--end-time", "1.99"}) == 8);
  CHECK(steps({"--end-time", "0.001"}) == 1);
  CHECK(steps({"--end-time", "2", "--steady", "1e-9"}) == 8);
}

TEST_CASE("an end time that is a whole number of steps away but for rounding takes that number") {
  for (const double step : {0.1, 0.3, 0.007, 1e-5}) {
    Options options = Parsed({}).options;
    options.problem.time_step = step;
    const Problem problem = make_problem(options);
    double time = 0.0;
    for (std::int64_t count = 1; count <= 3000; ++count) {
      time += step;
      options.end_time = time;
      REQUIRE(make_end(options, problem, 0.0).steps == count);
      options.end_time = static_cast<double>(count) * step;
      REQUIRE(make_end(options, problem, 0.0).steps == count);
      options.end_time = time + 10.0 * step;
      REQUIRE(make_end(options, problem, time).steps == 10);
    }
  }
}

TEST_CASE("a run to an end time has no other limit, one that is to become steady that of the help") {
  CHECK(end_of({"--end-time", "1", "--time-step", "1e-9"}).steps == 1000000000);
  CHECK(end_of({"--end-time", "1", "--time-step", "1e-9", "--steady", "1e-3"}).steps == 1000000000);
  CHECK(end_of({"--end-time", "1e300", "--time-step", "1e-300"}).steps > 1000000000);
  const RunEnd steady = end_of({"--steady", "1e-3"});
  CHECK(steady.steady == 1e-3);
  CHECK(steady.steps == 1000000);
  CHECK(end_of({"--steady", "1e-3", "--steps", "2000000"}).steps == 2000000);
  CHECK_THAT(Parsed({"--help"}).text.value(), ContainsSubstring("1000000 with --steady"));
}

TEST_CASE("an end before the first step is refused with both times") {
  check_refused({"--end-time", "1.5"}, {"--end-time", "1.5", "1.75"}, 1.75);
  CHECK_NOTHROW(end_of({"--end-time", "1.75"}, 1.75));
}

TEST_CASE("options without a meaning for cavity are refused") {
  for (const char* name : {"--input", "--seed", "--type", "--m", "--alpha", "--block"}) {
    check_refused({name, "3"}, {name, "not expected"});
  }
}

TEST_CASE("names of preconditioners and reductions are the words that choose them") {
  using enum Preconditioner;
  for (const auto& [word, kind] : {std::pair{"none", none}, {"multigrid", multigrid}}) {
    CHECK(parsed({"--pressure-preconditioner", word}).preconditioner == kind);
    CHECK(std::string(name_of(kind)) == word);
  }
  for (const auto& [word, value] : {std::pair{"separate", Reductions::separate}, {"merged", Reductions::merged}}) {
    CHECK(parsed({"--reductions", word}).reductions == value);
    CHECK(std::string(name_of(value)) == word);
  }
}

TEST_CASE("words that name no way to solve are refused with those that do") {
  for (const char* word : {"ilu", "Multigrid", "none,multigrid"}) {
    check_refused("--pressure-preconditioner", word, {"none", "multigrid"});
  }
  check_refused("--reductions", "late", {"separate", "merged"});
}

TEST_CASE("tolerances are those typed, one for each system, from 1e-15 to 0.9") {
  const Numerics pressure = parsed({"--pressure-tolerance", "1e-3"});
  CHECK(pressure.pressure.relative == 1e-3);
  CHECK(pressure.momentum.relative == 1e-6);
  const Numerics momentum = parsed({"--momentum-tolerance", "1e-3"});
  CHECK(momentum.pressure.relative == 1e-6);
  CHECK(momentum.momentum.relative == 1e-3);
  for (const char* option : {"--pressure-tolerance", "--momentum-tolerance"}) {
    CHECK_NOTHROW(parsed({option, "1e-15"}));
    CHECK_NOTHROW(parsed({option, "0.9"}));
    for (const char* value : {"0", "9e-16", "0.91", "1", "-1e-6", "nan", "inf", "-inf", "tight"}) {
      check_refused(option, value, {"expected a number from 1e-15 to 0.9"});
    }
  }
  CHECK_THAT(Parsed({"--help"}).text.value(), ContainsSubstring("TOL:FLOAT in [1e-15 - 0.9]"));
}

TEST_CASE("the most iterations are those of both systems") {
  for (const int most : {1, 77, 1000000}) {
    const Numerics numerics = parsed({"--most-iterations", std::to_string(most)});
    CHECK(numerics.pressure.most_iterations == most);
    CHECK(numerics.momentum.most_iterations == most);
  }
  for (const char* value : {"0", "-1", "1000001", "many", "2.5"}) {
    check_refused("--most-iterations", value, {"1 to 1000000"});
  }
}

}  // namespace steelyard::test_options
