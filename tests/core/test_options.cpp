#include <CLI/CLI.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <vector>

#include "core/base/build_info.hpp"
#include "core/base/errors.hpp"
#include "core/options.hpp"

namespace steelyard::test_options {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Words = std::vector<std::string>;
using Paths = std::vector<std::filesystem::path>;

namespace {

constexpr OptionalRunOptions all_options{
    .steps = true, .seed = true, .type = true, .platform = true, .barrier = true, .input = true, .output = true};

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
    std::vector<const char*> arguments{"app"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    text = parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
  }
};

}  // namespace

TEST_CASE("without arguments every option has the value that it starts with") {
  const Parsed parsed({});
  const RunOptions fresh;
  CHECK_FALSE(parsed.text.has_value());
  CHECK(parsed.run.steps == fresh.steps);
  CHECK(parsed.run.seed == fresh.seed);
  CHECK(parsed.run.element == ElementType::float64);
  CHECK_FALSE(parsed.run.units.has_value());
  CHECK(parsed.run.slowdown.empty());
  CHECK(parsed.run.partition == fresh.partition);
  CHECK(parsed.run.models.empty());
  CHECK(parsed.run.repetitions == fresh.repetitions);
  CHECK(parsed.run.warmups == fresh.warmups);
  CHECK(parsed.run.check == CheckLevel::last);
  CHECK_FALSE(parsed.run.dry_run);
  CHECK(parsed.grid.rows == 640);
  CHECK(parsed.grid.columns == 640);
}

TEST_CASE("every option sets its value") {
  CHECK(Parsed({"--steps", "0"}).run.steps == 0);
  CHECK(Parsed({"--steps", "1099511627776"}).run.steps == std::int64_t{1} << 40);
  CHECK(Parsed({"--steps=7"}).run.steps == 7);
  CHECK(Parsed({"--seed", "18446744073709551615"}).run.seed == ~std::uint64_t{0});
  CHECK(Parsed({"--type", "float"}).run.element == ElementType::float32);
  CHECK(Parsed({"--type", "double"}).run.element == ElementType::float64);
  for (const char* word : {"host", "device", "host+device"}) {
    CHECK(Parsed({"--units", word}).run.units == parse_unit_choice(word));
  }
  CHECK(Parsed({"--layout", "a b.layout"}).run.layout == "a b.layout");
  CHECK(Parsed({"--slowdown", "host=2"}).run.slowdown == Words{"host=2"});
  CHECK(Parsed({"--slowdown", "host=2", "--slowdown", "rank1=3"}).run.slowdown == Words{"host=2", "rank1=3"});
  CHECK(Parsed({"--slowdown", "host=2", "rank1=3"}).run.slowdown == Words{"host=2", "rank1=3"});
  CHECK(Parsed({"--partition", "even"}).run.partition == "even");
  CHECK(Parsed({"--model", "a", "b", "--model", "c"}).run.models == Paths{"a", "b", "c"});
  CHECK(Parsed({"--platform", "p.json"}).run.platform == "p.json");
  CHECK(Parsed({"--repetitions", "1"}).run.repetitions == 1);
  CHECK(Parsed({"--warmups", "0"}).run.warmups == 0);
  CHECK(Parsed({"--check", "none"}).run.check == CheckLevel::none);
  CHECK(Parsed({"--check", "last"}).run.check == CheckLevel::last);
  CHECK(Parsed({"--check", "all"}).run.check == CheckLevel::all);
  CHECK(Parsed({"--input", "a.npy", "b.npy"}).run.input == Paths{"a.npy", "b.npy"});
  CHECK(Parsed({"--output", "o.npy"}).run.output == "o.npy");
  CHECK(Parsed({"--result", "folder"}).run.result == "folder");
  CHECK(Parsed({"--dry-run"}).run.dry_run);
}

TEST_CASE("options do not get into each other's way") {
  const Parsed parsed(
      {"--dry-run", "--model", "a", "--steps", "3", "--columns", "9", "--slowdown", "host=2", "--rows", "4"});
  CHECK(parsed.run.dry_run);
  CHECK(parsed.run.models == Paths{"a"});
  CHECK(parsed.run.steps == 3);
  CHECK(parsed.run.slowdown == Words{"host=2"});
  CHECK(parsed.grid.rows == 4);
  CHECK(parsed.grid.columns == 9);
}

TEST_CASE("a grid is square by --size; --rows and --columns are set one by one") {
  const Parsed square({"--size", "12"});
  CHECK(square.grid.rows == 12);
  CHECK(square.grid.columns == 12);
  const Parsed rows({"--rows", "5"});
  CHECK(rows.grid.rows == 5);
  CHECK(rows.grid.columns == 640);
  const Parsed columns({"--columns", "5"});
  CHECK(columns.grid.rows == 640);
  CHECK(columns.grid.columns == 5);
}

TEST_CASE("option --size excludes --rows and --columns, in any order, and the message names both") {
  for (const char* other : {"--rows", "--columns"}) {
    for (const Words& words : {Words{"--size", "4", other, "5"}, Words{other, "5", "--size", "4"}}) {
      CHECK_THROWS_MATCHES(Parsed(words), InvalidArgument,
                           MessageMatches(ContainsSubstring("--size") && ContainsSubstring(other)));
    }
  }
}

TEST_CASE("numbers that are negative, not numbers or out of range are refused with option and value") {
  const struct {
    const char* option;
    Words values;
  } cases[] = {{"--steps", {"-1", "many", "1.5", "", "1099511627777", "99999999999999999999"}},
               {"--seed", {"-1", "x", "0.5", "18446744073709551616", "99999999999999999999"}},
               {"--size", {"0", "-4", "big", "2.5"}},
               {"--rows", {"0", "-4", "big"}},
               {"--columns", {"0", "-4", "big"}},
               {"--repetitions", {"0", "-1", "few", "1000001"}},
               {"--warmups", {"-1", "few", "1000001"}}};
  for (const auto& [option, values] : cases) {
    for (const std::string& value : values) {
      CAPTURE(option, value);
      CHECK_THROWS_MATCHES(Parsed({option, value}), InvalidArgument,
                           MessageMatches(ContainsSubstring(option) && ContainsSubstring(value)));
    }
  }
}

namespace {

auto says(const std::string& message) { return MessageMatches(Catch::Matchers::Equals(message + " (see --help)")); }

}  // namespace

TEST_CASE(
    "a value out of range is told as option, value and range; a word as option, word, choices and the likely one") {
  CHECK_THROWS_MATCHES(Parsed({"--steps", "abc"}), InvalidArgument,
                       says("--steps abc (expected a number from 0 to 1099511627776)"));
  CHECK_THROWS_MATCHES(Parsed({"--seed", "-1"}), InvalidArgument,
                       says("--seed -1 (expected a number from 0 to 18446744073709551615)"));
  CHECK_THROWS_MATCHES(Parsed({"--steps"}), InvalidArgument, says("--steps has no value"));
  CHECK_THROWS_MATCHES(Parsed({"--dry-run=maybe"}), InvalidArgument, says("--dry-run maybe (expected no value)"));
  CHECK_THROWS_MATCHES(Parsed({"--type", "singles"}), InvalidArgument,
                       says("--type singles (expected float or double)"));
  CHECK_THROWS_MATCHES(Parsed({"--check", "x"}), InvalidArgument, says("--check x (expected none, last or all)"));
  CHECK_THROWS_MATCHES(Parsed({"--type", "duble"}), InvalidArgument,
                       says("--type duble (expected float or double; did you mean double?)"));
}

TEST_CASE("a misspelt or shortened option is refused with the one that is meant, another without") {
  const struct {
    const char *word, *meant;
  } cases[] = {{"--repetition", "; did you mean --repetitions?"},
               {"--repitition=3", "; did you mean --repetitions?"},
               {"--stesp", "; did you mean --steps?"},
               {"--part", "; did you mean --partition?"},
               {"--colour", ""},
               {"--x", ""}};
  for (const auto& [word, meant] : cases) {
    const std::string name = std::string(word).substr(0, std::string(word).find('='));
    CHECK_THROWS_MATCHES(Parsed({word, "3"}), InvalidArgument, says(name + " is not expected" + meant));
  }
}

TEST_CASE("an option with an empty value is refused by name") {
  for (const std::string option :
       {"--layout", "--platform", "--output", "--result", "--model", "--input", "--partition", "--slowdown"}) {
    CHECK_THROWS_MATCHES(Parsed({option, ""}), InvalidArgument,
                         MessageMatches(ContainsSubstring(option + " has an empty value")));
    CHECK_THROWS_AS(Parsed({option + "="}), InvalidArgument);
  }
  CHECK_THROWS_AS(Parsed({"--input", "a.npy", ""}), InvalidArgument);
}

TEST_CASE("commands are listed where one is missing or misspelt, and empty values of theirs are refused") {
  const auto parse = [](const Words& words) {
    CLI::App parser("A tool", "tool");
    add_standard_options(parser);
    CLI::App* measure = parser.add_subcommand("measure", "Measures");
    measure->require_subcommand(0, 1);
    measure->callback([measure] {
      if (measure->get_subcommands().empty()) throw CLI::RequiredError("An app");
    });
    std::filesystem::path output;
    for (const char* name : {"gemm", "summa", "wave2d"}) measure->add_subcommand(name)->add_option("--output", output);
    std::vector<const char*> arguments{"tool"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    return parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
  };
  CHECK_THROWS_MATCHES(parse({"measure"}), InvalidArgument,
                       says("An app is required (expected gemm, summa or wave2d)"));
  CHECK_THROWS_MATCHES(parse({"measure", "gem"}), InvalidArgument,
                       says("gem is not expected (expected gemm, summa or wave2d; did you mean gemm?)"));
  CHECK_THROWS_MATCHES(parse({"measure", "gemm", "--out", "x"}), InvalidArgument,
                       says("--out is not expected; did you mean --output?"));
  CHECK_THROWS_MATCHES(parse({"mesure"}), InvalidArgument,
                       says("mesure is not expected (expected measure; did you mean measure?)"));
  CHECK_THROWS_AS(parse({"measure", "gemm", "--output", ""}), InvalidArgument);
  CHECK_THAT(parse({"measure", "gemm", "-h"}).value_or(""), ContainsSubstring("--output"));
}

TEST_CASE("words that are none of the choices are refused with option, word and choices") {
  const struct {
    const char *option, *choice;
  } cases[] = {{"--type", "float"}, {"--check", "last"}, {"--units", "host+device"}};
  for (const auto& [option, choice] : cases) {
    for (const std::string word : {"bogus", "Float", "0"}) {
      CHECK_THROWS_MATCHES(
          Parsed({option, word}), InvalidArgument,
          MessageMatches(ContainsSubstring(option) && ContainsSubstring(word) && ContainsSubstring(choice)));
    }
  }
}

TEST_CASE(
    "an option that is unknown, misspelt or lacks its value is refused by name, in one line that tells of --help") {
  for (const Words& words : {Words{"--bogus"}, Words{"--step", "3"}, Words{"--steps"}, Words{"--dry-run", "--layout"},
                             Words{"--steps", "3", "stray"}, Words{"-x"}}) {
    const std::string culprit = words.back() == "3" ? "--step" : words.back();
    CAPTURE(culprit);
    CHECK_THROWS_MATCHES(
        Parsed(words), InvalidArgument,
        MessageMatches(ContainsSubstring(culprit) && ContainsSubstring("--help") && !ContainsSubstring("\n")));
  }
}

TEST_CASE("options that an app does not take are refused by name, and its help has none of them") {
  RunOptions run;
  CLI::App parser("An app", "app");
  add_run_options(AppOptions(parser, Verb::run), run);
  add_standard_options(parser);
  for (const char* option : {"--steps", "--seed", "--type", "--platform", "--barrier", "--input", "--output"}) {
    const char* const arguments[] = {"app", option, "3"};
    CHECK_THROWS_MATCHES(parse_command_line(parser, 3, arguments), InvalidArgument,
                         MessageMatches(ContainsSubstring(option)));
    const char* const help[] = {"app", "--help"};
    const auto text = parse_command_line(parser, 2, help);
    REQUIRE(text.has_value());
    CHECK_THAT(*text, !ContainsSubstring(option));
  }
  CHECK(run.steps == RunOptions().steps);
}

TEST_CASE("option --help is answered with every option's name and known defaults, and nothing is run") {
  const Parsed parsed({"--steps", "3", "--help"});
  CHECK_THAT(Parsed({"-h"}).text.value_or(""), ContainsSubstring("=100") && ContainsSubstring("(default 640)"));
  REQUIRE(parsed.text.has_value());
  for (const char* name :
       {"--steps",    "--seed",        "--type",    "--units", "--layout",  "--slowdown", "--partition", "--model",
        "--platform", "--repetitions", "--warmups", "--check", "--input",   "--output",   "--result",    "--dry-run",
        "--size",     "--rows",        "--columns", "--help",  "--version", "An app"}) {
    CHECK_THAT(*parsed.text, ContainsSubstring(name));
  }
}

TEST_CASE("option --help of a command is that command's help") {
  CLI::App parser("A tool", "tool");
  add_standard_options(parser);
  std::int64_t total = 0;
  CLI::App* command = parser.add_subcommand("divide", "Divides");
  command->add_option("--total", total, "How many");
  const char* const arguments[] = {"tool", "divide", "--help"};
  const auto text = parse_command_line(parser, 3, arguments);
  REQUIRE(text.has_value());
  CHECK_THAT(*text, ContainsSubstring("--total"));
  CHECK_THAT(*text, ContainsSubstring("tool divide"));
}

TEST_CASE("option --version is answered with the app's name and version in one line") {
  const Parsed parsed({"--version"});
  REQUIRE(parsed.text.has_value());
  CHECK_THAT(*parsed.text, ContainsSubstring("app " + build_info().version));
  CHECK(parsed.text->find('\n') == parsed.text->size() - 1);
}

TEST_CASE("element types are called as in --type") {
  for (const char* word : {"double", "float"}) {
    CHECK(std::string(element_name(Parsed({"--type", word}).run.element)) == word);
  }
}

}  // namespace steelyard::test_options
