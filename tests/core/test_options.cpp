#include <CLI/CLI.hpp>

#include "core/base/build_info.hpp"
#include "core/options.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_options {

using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Words = std::vector<std::string>;
using Paths = std::vector<std::filesystem::path>;

namespace {

constexpr OptionalRunOptions all_options{
    .steps = true, .seed = true, .type = true, .platform = true, .barrier = true, .input = true, .output = true};

std::optional<std::string> parse(CLI::App& parser, const Words& words) {
  std::vector<const char*> arguments{"app"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  return parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
}

/// A mini-app's parser and what it fills in.
struct Parsed {
  RunOptions run;
  GridOptions grid;
  std::optional<std::string> text;

  explicit Parsed(const Words& words) {
    CLI::App parser("An app", "app");
    const AppOptions parsers(parser, Verb::run);
    add_run_options(parsers, run, all_options);
    add_grid_options(parsers, grid, 640);
    add_standard_options(parser);
    text = parse(parser, words);
  }
};

auto says(const std::string& message) { return MessageMatches(Equals(message + " (see --help)")); }

}  // namespace

TEST_CASE("every option sets its value, and without arguments has the value that it starts with") {
  const Parsed fresh({});
  const RunOptions initial;
  CHECK_FALSE(fresh.text.has_value());
  CHECK((fresh.run.steps == initial.steps && fresh.run.seed == initial.seed));
  CHECK(fresh.run.element == ElementType::float64);
  CHECK_FALSE(fresh.run.units.has_value());
  CHECK((fresh.run.slowdown.empty() && fresh.run.models.empty()));
  CHECK(fresh.run.partition == initial.partition);
  CHECK((fresh.run.repetitions == initial.repetitions && fresh.run.warmups == initial.warmups));
  CHECK(fresh.run.check == CheckLevel::last);
  CHECK_FALSE(fresh.run.dry_run);
  CHECK((fresh.grid.rows == 640 && fresh.grid.columns == 640));

  const Parsed all({"--dry-run",      "--model",     "a",          "b",          "--steps",
                    "1099511627776",  "--columns",   "9",          "--slowdown", "host=2",
                    "rank1=3",        "--rows",      "4",          "--seed",     "18446744073709551615",
                    "--type",         "float",       "--units",    "device",     "--layout",
                    "a b.layout",     "--model",     "c",          "--slowdown", "device=4",
                    "--check",        "all",         "--platform", "p.json",     "--input",
                    "a.npy",          "b.npy",       "--output",   "o.npy",      "--result",
                    "folder",         "--partition", "even",       "--warmups",  "0",
                    "--repetitions=1"});
  CHECK(all.run.dry_run);
  CHECK(all.run.models == Paths{"a", "b", "c"});
  CHECK(all.run.steps == std::int64_t{1} << 40);
  CHECK((all.grid.rows == 4 && all.grid.columns == 9));
  CHECK(all.run.slowdown == Words{"host=2", "rank1=3", "device=4"});
  CHECK(all.run.seed == ~std::uint64_t{0});
  CHECK(all.run.element == ElementType::float32);
  CHECK(all.run.units == UnitChoice::device);
  CHECK(all.run.layout == "a b.layout");
  CHECK(all.run.check == CheckLevel::all);
  CHECK(all.run.platform == "p.json");
  CHECK(all.run.input == Paths{"a.npy", "b.npy"});
  CHECK(all.run.output == "o.npy");
  CHECK(all.run.result == "folder");
  CHECK(all.run.partition == "even");
  CHECK((all.run.warmups == 0 && all.run.repetitions == 1));
  CHECK(Parsed({"--check", "none"}).run.check == CheckLevel::none);
}

TEST_CASE("a grid is square by --size; --rows and --columns are set one by one, and exclude it") {
  const Parsed square({"--size", "12"}), rows({"--rows", "5"}), columns({"--columns", "5"});
  CHECK((square.grid.rows == 12 && square.grid.columns == 12));
  CHECK((rows.grid.rows == 5 && rows.grid.columns == 640));
  CHECK((columns.grid.rows == 640 && columns.grid.columns == 5));
  for (const char* other : {"--rows", "--columns"}) {
    for (const Words& words : {Words{"--size", "4", other, "5"}, Words{other, "5", "--size", "4"}}) {
      CHECK_THROWS_MATCHES(Parsed(words), InvalidArgument,
                           MessageMatches(ContainsSubstring("--size") && ContainsSubstring(other)));
    }
  }
}

TEST_CASE("what an option does not take is refused with option, value and what was expected") {
  const struct {
    const char* option;
    Words values;
    std::string expected;
  } cases[] = {
      {"--steps", {"-1", "many", "1.5", "1099511627777", "99999999999999999999"}, "a number from 0 to 1099511627776"},
      {"--seed", {"-1", "x", "0.5", "18446744073709551616"}, "a number from 0 to 18446744073709551615"},
      {"--size", {"0", "-4", "big", "2.5"}, "a number from 1"},
      {"--rows", {"0", "-4", "big"}, "a number from 1"},
      {"--columns", {"0", "-4", "big"}, "a number from 1"},
      {"--repetitions", {"0", "-1", "few", "1000001"}, "a number from 1 to 1000000"},
      {"--warmups", {"-1", "few", "1000001"}, "a number from 0 to 1000000"},
      {"--type", {"bogus", "0", "singles"}, "float or double)"},
      {"--type", {"duble"}, "float or double; did you mean double?)"},
      {"--type", {"Float"}, "float or double; did you mean float?)"},
      {"--check", {"bogus", "0"}, "none, last or all)"},
      {"--check", {"Last"}, "none, last or all; did you mean last?)"},
      {"--units", {"bogus", "Host", "0", "gpu", "device+host"}, "host, device or host+device"}};
  for (const auto& [option, values, expected] : cases) {
    for (const std::string& value : values) {
      CAPTURE(option, value);
      CHECK_THROWS_MATCHES(Parsed({option, value}), InvalidArgument,
                           MessageMatches(StartsWith(option) && ContainsSubstring(value) &&
                                          ContainsSubstring("expected " + expected) && EndsWith(" (see --help)")));
    }
  }
  for (const std::string option :
       {"--layout", "--platform", "--output", "--result", "--model", "--input", "--partition", "--slowdown"}) {
    CHECK_THROWS_MATCHES(Parsed({option, ""}), InvalidArgument,
                         MessageMatches(ContainsSubstring(option + " has an empty value")));
    CHECK_THROWS_AS(Parsed({option + "="}), InvalidArgument);
  }
  CHECK_THROWS_AS(Parsed({"--steps", ""}), InvalidArgument);
  CHECK_THROWS_AS(Parsed({"--input", "a.npy", ""}), InvalidArgument);
}

TEST_CASE("an option that is unknown, misspelt or lacks its value is refused in a line, with the one that is meant") {
  const std::pair<Words, const char*> cases[] = {
      {{"--steps"}, "--steps has no value"},
      {{"--dry-run", "--layout"}, "--layout has no value"},
      {{"--dry-run=maybe"}, "--dry-run maybe (expected no value)"},
      {{"--steps", "3", "stray"}, "stray is not expected"},
      {{"-x"}, "-x is not expected"},
      {{"--repitition=3"}, "--repitition is not expected; did you mean --repetitions?"},
      {{"--stesp", "3"}, "--stesp is not expected; did you mean --steps?"},
      {{"--part", "3"}, "--part is not expected; did you mean --partition?"}};
  for (const auto& [words, message] : cases) {
    CHECK_THROWS_MATCHES(Parsed(words), InvalidArgument, says(message));
  }
}

TEST_CASE("commands are listed where one is missing or misspelt, and empty values of theirs are refused") {
  const auto run = [](const Words& words) {
    CLI::App parser("A tool", "tool");
    add_standard_options(parser);
    CLI::App* measure = parser.add_subcommand("measure", "Measures");
    measure->require_subcommand(0, 1);
    measure->callback([measure] {
      if (measure->get_subcommands().empty()) throw CLI::RequiredError("An app");
    });
    std::filesystem::path output;
    for (const char* name : {"gemm", "summa", "wave2d"}) measure->add_subcommand(name)->add_option("--output", output);
    return parse(parser, words);
  };
  const std::pair<Words, const char*> cases[] = {
      {{"measure"}, "An app is required (expected gemm, summa or wave2d)"},
      {{"measure", "gem"}, "gem is not expected (expected gemm, summa or wave2d; did you mean gemm?)"},
      {{"measure", "gemm", "--out", "x"}, "--out is not expected; did you mean --output?"},
      {{"mesure"}, "mesure is not expected (expected measure; did you mean measure?)"}};
  for (const auto& [words, message] : cases) CHECK_THROWS_MATCHES(run(words), InvalidArgument, says(message));
  CHECK_THROWS_AS(run({"measure", "gemm", "--output", ""}), InvalidArgument);
  CHECK_THAT(run({"measure", "gemm", "-h"}).value_or(""), ContainsSubstring("--output"));
}

TEST_CASE("options --help and --version are answered, with the options that an app takes; others are refused") {
  const std::string help = Parsed({"--steps", "3", "--help"}).text.value_or("");
  for (const char* name :
       {"--units", "--layout", "--slowdown", "--partition", "--model", "--repetitions", "--warmups", "--check",
        "--result", "--dry-run", "--size", "--rows", "--columns", "--help", "--version", "An app", "(default 640)"}) {
    CHECK_THAT(help, ContainsSubstring(name));
  }
  CHECK(Parsed({"--version"}).text.value_or("").starts_with("app " + build_info().version));
  RunOptions run;
  CLI::App parser("An app", "app");
  add_run_options(AppOptions(parser, Verb::run), run);
  add_standard_options(parser);
  CHECK(parse(parser, {"-h"}) == parse(parser, {"--help"}));
  for (const char* option : {"--steps", "--seed", "--type", "--platform", "--barrier", "--input", "--output"}) {
    CHECK_THAT(help, ContainsSubstring(option));
    CHECK_THROWS_MATCHES(parse(parser, {option, "3"}), InvalidArgument, MessageMatches(ContainsSubstring(option)));
    CHECK_THAT(parse(parser, {"--help"}).value_or(option), !ContainsSubstring(option));
  }
}

}  // namespace steelyard::test_options
