#include "miniapps/cavity/numerics_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace steelyard::cavity {
namespace {

const std::map<std::string, PreconditionerKind> preconditioners{{"none", PreconditionerKind::none},
                                                                {"jacobi", PreconditionerKind::jacobi},
                                                                {"multigrid", PreconditionerKind::multigrid}};
const std::map<std::string, Reductions> all_reductions{{"separate", Reductions::separate},
                                                       {"merged", Reductions::merged}};

void add_preconditioner(CLI::App& parser, const std::string& name, PreconditionerKind& kind,
                        const std::vector<std::string>& words, const std::string& description) {
  parser
      .add_option_function<std::string>(
          name, [&kind](const std::string& word) { kind = preconditioners.at(word); }, description)
      ->check(CLI::IsMember(words))
      ->type_name(CLI::detail::join(words, "|"));
}

constexpr double least_tolerance = 1e-15;
constexpr double most_tolerance = 0.9;

/// CLI::Range lets NaN through, and writes 1e-15 as 0.000000.
std::string check_tolerance(const std::string& text) {
  double value = 0.0;
  const bool read = CLI::detail::lexical_cast(text, value);
  return read && value >= least_tolerance && value <= most_tolerance
             ? std::string()
             : fmt::format("Value {} (expected a number from {} to {})", text, least_tolerance, most_tolerance);
}

void add_tolerance(CLI::App& parser, const std::string& name, SolveSettings& settings, const std::string& description) {
  parser.add_option(name, settings.relative, description)
      ->check(check_tolerance, fmt::format("FLOAT in [{} - {}]", least_tolerance, most_tolerance))
      ->type_name("TOL")
      ->capture_default_str();
}

template <class Value>
const char* name_in(const std::map<std::string, Value>& names, Value value) {
  for (const auto& [name, named] : names) {
    if (named == value) return name.c_str();
  }
  return "unknown";
}

}  // namespace

void add_numerics_options(CLI::App& parser, Numerics& numerics) {
  numerics.pressure.relative = 1e-6;
  numerics.momentum.relative = 1e-6;
  add_preconditioner(parser, "--pressure-preconditioner", numerics.pressure_preconditioner,
                     {"none", "jacobi", "multigrid"}, "Preconditioner of CG for the pressure (default multigrid)");
  add_preconditioner(parser, "--momentum-preconditioner", numerics.momentum_preconditioner, {"none", "jacobi"},
                     "Preconditioner of BiCGSTAB for the velocity (default none)");
  parser
      .add_option_function<std::string>(
          "--reductions", [&numerics](const std::string& word) { numerics.reductions = all_reductions.at(word); },
          "Gather an iteration's sums one by one, as they come up, or at once (default separate)")
      ->check(CLI::IsMember({"separate", "merged"}))
      ->type_name("separate|merged");
  add_tolerance(parser, "--pressure-tolerance", numerics.pressure,
                "Residual of the pressure equation over its right-hand side (2-norms)");
  add_tolerance(parser, "--momentum-tolerance", numerics.momentum, "The same of the momentum equations");
  parser
      .add_option_function<int>(
          "--most-iterations",
          [&numerics](int most) { numerics.pressure.most_iterations = numerics.momentum.most_iterations = most; },
          "Iterations of a linear solver after which the run gives up (default 1000)")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
}

const char* name_of(PreconditionerKind kind) { return name_in(preconditioners, kind); }
const char* name_of(Reductions reductions) { return name_in(all_reductions, reductions); }

}  // namespace steelyard::cavity
