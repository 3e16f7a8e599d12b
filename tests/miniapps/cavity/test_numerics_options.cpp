#include <CLI/CLI.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/options.hpp"
#include "miniapps/cavity/numerics_options.hpp"

namespace steelyard::test_numerics_options {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::cavity;
using Words = std::vector<std::string>;

namespace {

/// What these words make of the solvers.
Numerics parsed(const Words& words) {
  Numerics numerics;
  CLI::App parser("Solves", "cavity");
  add_numerics_options(parser, numerics);
  std::vector<const char*> arguments{"cavity"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  parse_command_line(parser, static_cast<int>(arguments.size()), arguments.data());
  return numerics;
}

/// The message, one line, has option, value and all of `parts`.
void check_refused(const std::string& option, const std::string& value, const Words& parts) {
  std::string message = "accepted";
  try {
    parsed({option, value});
  } catch (const InvalidArgument& error) {
    message = error.what();
  }
  CHECK_THAT(message, ContainsSubstring(option));
  CHECK_THAT(message, ContainsSubstring(value));
  for (const std::string& part : parts) CHECK_THAT(message, ContainsSubstring(part));
  CHECK_THAT(message, !ContainsSubstring("\n"));
}

}  // namespace

TEST_CASE("pressure is solved with multigrid and momentum without a preconditioner, to a millionth") {
  const Numerics numerics = parsed({});
  CHECK(numerics.pressure_preconditioner == PreconditionerKind::multigrid);
  CHECK(numerics.momentum_preconditioner == PreconditionerKind::none);
  CHECK(numerics.reductions == Reductions::separate);
  for (const SolveSettings& settings : {numerics.pressure, numerics.momentum}) {
    CHECK(settings.relative == 1e-6);
    CHECK(settings.absolute == 0.0);
    CHECK(settings.most_iterations == 1000);
    CHECK_FALSE(settings.keep_history);
  }
}

TEST_CASE("names of preconditioners and reductions are the words that choose them") {
  for (const char* word : {"none", "jacobi", "multigrid"}) {
    const Numerics numerics = parsed({"--pressure-preconditioner", word});
    CHECK(std::string(name_of(numerics.pressure_preconditioner)) == word);
    CHECK(numerics.momentum_preconditioner == PreconditionerKind::none);
  }
  for (const char* word : {"none", "jacobi"}) {
    const Numerics numerics = parsed({"--momentum-preconditioner", word});
    CHECK(std::string(name_of(numerics.momentum_preconditioner)) == word);
    CHECK(numerics.pressure_preconditioner == PreconditionerKind::multigrid);
  }
  for (const char* word : {"separate", "merged"}) {
    CHECK(std::string(name_of(parsed({"--reductions", word}).reductions)) == word);
  }
  CHECK(parsed({"--pressure-preconditioner", "jacobi"}).pressure_preconditioner == PreconditionerKind::jacobi);
  CHECK(parsed({"--momentum-preconditioner", "jacobi"}).momentum_preconditioner == PreconditionerKind::jacobi);
  CHECK(parsed({"--reductions", "merged"}).reductions == Reductions::merged);
}

TEST_CASE("words that name no way to solve are refused with those that do") {
  for (const char* word : {"ilu", "Jacobi", "none,jacobi"}) {
    check_refused("--pressure-preconditioner", word, {"none", "jacobi", "multigrid"});
  }
  check_refused("--momentum-preconditioner", "multigrid", {"none", "jacobi"});
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
}

TEST_CASE("the help says which tolerances there are") {
  Numerics numerics;
  CLI::App parser("Solves", "cavity");
  add_numerics_options(parser, numerics);
  CHECK_THAT(parser.help(), ContainsSubstring("TOL:FLOAT in [1e-15 - 0.9]"));
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

}  // namespace steelyard::test_numerics_options
