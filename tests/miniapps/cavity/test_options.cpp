#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <regex>
#include <sstream>

#include "core/options.hpp"
#include "miniapps/cavity/options.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_options {

using namespace steelyard::cavity;
using Words = std::vector<std::string>;

namespace {

/// As the frame does it.
void add_all_options(CLI::App& parser, Options& options) {
  add_standard_options(parser);
  const AppOptions parsers(parser, Verb::run);
  add_run_options(parsers, options.run, {.steps = true, .platform = true, .output = true, .checkpoint = true});
  cavity::add_options(parsers, options);
}

/// What is typed, word by word.
Words words_of(const std::string& typed) {
  std::istringstream stream(typed);
  return {std::istream_iterator<std::string>(stream), {}};
}

Options parsed(const Words& words) {
  Options options;
  CLI::App parser("Flows", "cavity");
  add_all_options(parser, options);
  std::vector<const char*> arguments{"cavity"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
  return options;
}

/// The end of a run that begins at `start_time`.
RunEnd end_of(const std::string& typed, double start_time = 0.0) {
  const Options options = parsed(words_of(typed));
  return make_end(options, make_problem(options), start_time);
}

/// All that words can change of a run.
std::string meaning(const Words& words) {
  const Options options = parsed(words);
  const RunOptions& run = options.run;
  const Problem problem = make_problem(options);
  const RunEnd end = make_end(options, problem, 0.0);
  const SolveSettings &pressure = options.numerics.pressure, &momentum = options.numerics.momentum;
  return fmt::format("{} {} {} {} {} {} ", problem.rows, problem.columns, problem.height, problem.reynolds,
                     problem.correctors, problem.time_step) +
         fmt::format("{} {} {} ", word_of(scheme_names, problem.scheme),
                     word_of(preconditioner_names, options.numerics.preconditioner),
                     word_of(reduction_names, options.numerics.reductions)) +
         fmt::format("{} {} {} {} ", pressure.relative, momentum.relative, pressure.most_iterations,
                     momentum.most_iterations) +
         fmt::format("{} {} {} ", end.steps, end.steady, options.compare_even) +
         fmt::format("{} {} {} {} {} {} ", run.partition, run.levels, run.repetitions, run.warmups,
                     static_cast<int>(run.check), run.dry_run) +
         fmt::format("{} {} {} {} {}", options.profiles.string(), options.picture.string(), run.checkpoint.string(),
                     run.restart.string(), run.output.string());
}

/// Options as the help says that they are where nobody types them.
Words documented_defaults() {
  Options options;
  CLI::App parser("Flows", "cavity");
  add_all_options(parser, options);
  const std::regex in_words("default ([^ ;)]+)");
  Words typed;
  for (const CLI::Option* option : std::as_const(parser).get_options()) {
    std::string value = option->get_default_str();
    const std::string description = option->get_description();
    std::smatch found;
    if (value.empty() && std::regex_search(description, found, in_words)) value = found[1];
    if (!value.empty()) typed.insert(typed.end(), {option->get_name(), value});
  }
  return typed;
}

}  // namespace

TEST_CASE("a cavity is what was typed, or the defaults that the help names") {
  CHECK(
      meaning(words_of("--rows 30 --columns 20 --height 2.5 --reynolds 400 --scheme crank-nicolson --correctors 3 "
                       "--time-step 0.125 --compare-even --pressure-preconditioner none --reductions merged "
                       "--pressure-tolerance 0.25 --momentum-tolerance 0.5 --most-iterations 77 --steady 1.5 "
                       "--steps 2000000 --partition even --levels 2 --repetitions 12 --warmups 4 --check all --dry-run "
                       "--profiles a.csv --picture b.png --checkpoint c --restart d --output e.vti")) ==
      fmt::format(
          "30 20 2.5 400 3 0.125 crank-nicolson none merged 0.25 0.5 77 77 2000000 1.5 true even 2 12 4 {} true "
          "a.csv b.png c d e.vti",
          static_cast<int>(CheckLevel::all)));
  CHECK(documented_defaults().size() == 2 * 17);
  CHECK(meaning(documented_defaults()) == meaning({}));
  // The Courant number is that of a cell's shorter edge.
  const auto step_of = [](const std::string& typed) { return make_problem(parsed(words_of(typed))).time_step; };
  CHECK(step_of("--rows 64 --columns 16 --cfl 0.5") == 0.5 / 64.0);
  CHECK(step_of("--rows 16 --columns 64 --cfl 0.5") == 0.5 / 64.0);
  CHECK(step_of("--size 16 --height 0.25 --cfl 3") == 3.0 / 64.0);
  CHECK(step_of("--size 16 --height 4 --cfl 3") == 3.0 / 16.0);
}

TEST_CASE("a run has the fewest steps that reach its end, but for rounding, and no more than typed") {
  std::mt19937 random(11);
  const Options usual = parsed({});
  for (int trial = 0; trial < 3000; ++trial) {
    Options options = usual;
    options.problem.time_step = std::vector{0.1, 0.25, 0.3, 0.007, 1e-5}[random() % 5];
    const Problem problem = make_problem(options);
    const auto before = static_cast<std::int64_t>(random() % 50), count = static_cast<std::int64_t>(random() % 3000);
    double start = 0.0;
    for (std::int64_t step = 0; step < before; ++step) start += problem.time_step;
    // As far beyond the last step as rounding is, or further.
    options.end_time = start;
    for (std::int64_t step = 0; step < count; ++step) options.end_time += problem.time_step;
    const double beyond = std::vector{0.0, 0.001, 0.5, 0.99}[random() % 4];
    options.end_time += beyond * problem.time_step;
    if (options.end_time == 0.0) continue;
    const std::int64_t expected = count + (beyond > 0.0 ? 1 : 0);
    CAPTURE(problem.time_step, start, options.end_time);
    REQUIRE(make_end(options, problem, start).steps == expected);
    options.steady = 1e-9;
    REQUIRE(make_end(options, problem, start).steps == expected);
    options.run.steps = static_cast<std::int64_t>(random() % 3000);
    REQUIRE(make_end(options, problem, start).steps == std::min(expected, options.run.steps));
  }
  CHECK(end_of("--end-time 1 --time-step 1e-9 --steady 1e-3").steps == 1000000000);
  CHECK(end_of("--end-time 1e300 --time-step 1e-300").steps > 1000000000);
  CHECK(end_of("--steady 1e-3").steps == 1000000);
}

TEST_CASE("what makes no sense is refused with option, value and what was expected") {
  struct Refused {
    std::string options, values;
    Words named;
  };
  const std::vector<Refused> rows = {
      {"--reynolds --height --time-step --cfl --end-time --steady",
       "0 -1 -1e-9 nan inf -inf 1e999 large 2x",
       {"expected a number greater than 0"}},
      {"--pressure-tolerance --momentum-tolerance",
       "0 9e-16 0.91 1 -1e-6 nan inf -inf tight",
       {"expected a number from 1e-15 to 0.9"}},
      {"--correctors", "0 -1 101 two 1.5", {"1 to 100"}},
      {"--most-iterations", "0 -1 1000001 many 2.5", {"1 to 1000000"}},
      {"--scheme", "leap-frog", {"euler", "crank-nicolson"}},
      {"--pressure-preconditioner", "ilu Multigrid none,multigrid", {"none", "multigrid"}},
      {"--reductions", "late", {"separate", "merged"}},
      {"--partition", "fair", {"even", "geometric"}},
      {"--output", "flow.npy flow.VTK flow.vti.gz", {"ends in .vti"}}};
  const auto expect = [](const std::string& typed, const Words& named) {
    std::string message = "accepted";
    try {
      end_of(typed);
    } catch (const InvalidArgument& error) {
      message = error.what();
      CHECK(error.code() == ExitCode::wrong_input);
    }
    CAPTURE(typed);
    for (const std::string& part : named) CHECK_THAT(message, ContainsSubstring(part));
    CHECK_THAT(message, !ContainsSubstring("\n"));
  };
  for (const auto& [options, values, named] : rows) {
    for (const std::string& option : words_of(options)) {
      for (const std::string& value : words_of(values)) {
        Words all = named;
        all.insert(all.end(), {option.substr(2), value});
        expect(option + " " + value, all);
      }
    }
  }
  for (const std::string option : {"--input", "--seed", "--type"}) expect(option + " 3", {option, "not expected"});
  for (const auto& [one, other] : {std::pair{"--time-step", "--cfl"}, {"--size", "--rows"}, {"--size", "--columns"}}) {
    expect(std::string(one) + " 8 " + other + " 9", {one, other});
  }
  expect("--rows 9", {"--rows", "--columns", "together"});
  expect("--rows 1 --columns 9", {"1 x 9", "expected at least 2 x 2"});
  expect("--rows 2147483649 --columns 2", {"2147483649 x 2", "memory"});
  expect("--rows 2147483648 --columns 4194304", {"2147483648 x 4194304", "memory"});
  for (const char* const accepted :
       {"--size 2", "--rows 2147483648 --columns 4000000", "--rows 4000000 --columns 2147483648", "--correctors 100",
        "--pressure-tolerance 1e-15 --momentum-tolerance 0.9", "--most-iterations 1000000"}) {
    CHECK_NOTHROW(end_of(accepted));
  }
  CHECK_NOTHROW(end_of("--end-time 1.75", 1.75));
  CHECK_THROWS_AS(end_of("--end-time 1.5", 1.75), InvalidArgument);
}

}  // namespace steelyard::test_options
