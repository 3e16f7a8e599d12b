// The tables of benchmarks/cavity_icofoam, from the folder of what it ran: re<RE>/<N>/ with problem.json, the cases pcg
// and gamg of icoFoam, and cavity, each with something of every round. Without results of cavity, icoFoam's alone.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/icofoam_result.hpp"
#include "benchmarks/table_result.hpp"
#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"

namespace {

using namespace steelyard;
namespace fs = std::filesystem;

/// Result of one program on a problem.
struct Measured {
  double step_s = 0.0;               ///< median of the rounds
  double pressure_iterations = 0.0;  ///< per step, as in IcofoamLog
  double momentum_iterations = 0.0;
  CentreVelocity field;
};

struct Problem {
  fs::path folder;
  std::int64_t size = 0;
  double reynolds = 0.0;
  double time_step = 0.0;
  std::int64_t steps = 0;
  int rounds = 0;
  Measured pcg;
  Measured gamg;
  std::optional<Measured> cavity;
};

void require_steps(const fs::path& path, std::int64_t steps, std::int64_t expected) {
  if (steps == expected) return;
  throw FileFormatError(path.string(), "", fmt::format("is of {} steps (expected {})", steps, expected));
}

Measured read_icofoam(const Problem& problem, const char* solver) {
  const fs::path folder = problem.folder / solver;
  std::vector<double> times_s;
  Measured measured;
  for (int round = 1; round <= problem.rounds; ++round) {
    const fs::path path = folder / fmt::format("round{}.log", round);
    const IcofoamLog log = read_icofoam_log(path);
    require_steps(path, log.steps, problem.steps);
    times_s.push_back(log.step_s);
    measured.pressure_iterations = log.pressure_iterations;
    measured.momentum_iterations = log.momentum_iterations;
  }
  measured.step_s = median(times_s);
  measured.field = read_icofoam_field(folder / "end", folder / "constant" / "polyMesh", problem.size);
  return measured;
}

/// Velocities of cavity's checkpoint: a line of JSON, then u on left faces and v on lower ones of all cells, row after
/// row from the bottom. On the right and the upper wall they are 0.
CentreVelocity read_checkpoint_field(const fs::path& path, const Problem& problem) {
  const std::string text = read_text_file(path);
  const std::size_t data = text.find('\n') + 1;
  const auto n = static_cast<std::size_t>(problem.size);
  const nlohmann::json json = nlohmann::json::parse(text.substr(0, data), nullptr, false);
  const JsonReader header(path.string(), json, "line 1");
  require_steps(path, static_cast<std::int64_t>(header.number("steps")), problem.steps);
  if (header.number("rows") != static_cast<double>(n) || header.number("columns") != static_cast<double>(n) ||
      text.size() < data + 2 * n * n * sizeof(double)) {
    throw FileFormatError(path.string(), "", fmt::format("does not hold {} x {} cells", n, n));
  }
  static_assert(std::endian::native == std::endian::little);
  std::vector<double> u(n * n);
  std::vector<double> v(n * n);
  std::memcpy(u.data(), text.data() + data, n * n * sizeof(double));
  std::memcpy(v.data(), text.data() + data + n * n * sizeof(double), n * n * sizeof(double));
  CentreVelocity field;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t cell = j * n + i;
      const double right = i + 1 < n ? u[cell + 1] : 0.0;
      const double upper = j + 1 < n ? v[cell + n] : 0.0;
      field.u.push_back(0.5 * (u[cell] + right));
      field.v.push_back(0.5 * (v[cell] + upper));
      field.mass_imbalance = std::max(field.mass_imbalance, std::abs(right - u[cell] + upper - v[cell]));
    }
  }
  return field;
}

std::optional<Measured> read_cavity(const Problem& problem) {
  const fs::path folder = problem.folder / "cavity";
  if (!fs::exists(folder / "flow")) return std::nullopt;
  const auto steps = static_cast<double>(problem.steps);
  std::vector<double> times_s;
  Measured measured;
  for (int round = 1; round <= problem.rounds; ++round) {
    const fs::path path = folder / fmt::format("round{}", round) / "run.json";
    const nlohmann::json json = read_json_file(path);
    const JsonReader run(path.string(), json);
    run.require_schema("steelyard.run/1");
    times_s.push_back(run.number("median_time_s") / steps);
    const JsonReader figures = run.object("figures");
    measured.pressure_iterations = figures.number("pressure_iterations") / steps;
    measured.momentum_iterations = figures.number("momentum_iterations") / steps;
  }
  measured.step_s = median(times_s);
  measured.field = read_checkpoint_field(folder / "flow", problem);
  return measured;
}

Problem read_problem(const fs::path& path) {
  const nlohmann::json json = read_json_file(path);
  const JsonReader reader(path.string(), json);
  Problem problem;
  problem.folder = path.parent_path();
  problem.size = static_cast<std::int64_t>(reader.number("size"));
  problem.reynolds = reader.number("reynolds");
  problem.time_step = reader.number("time_step");
  problem.steps = static_cast<std::int64_t>(reader.number("steps"));
  problem.rounds = static_cast<int>(reader.number("rounds"));
  problem.pcg = read_icofoam(problem, "pcg");
  problem.gamg = read_icofoam(problem, "gamg");
  problem.cavity = read_cavity(problem);
  return problem;
}

struct Difference {
  double largest = 0.0;
  double inside = 0.0;  ///< largest farther than 0.1 from the lid's ends, where the velocity jumps
  double rms = 0.0;     ///< root of the mean square of both components together
};

Difference difference(const CentreVelocity& a, const CentreVelocity& b, std::int64_t n) {
  Difference result;
  double squares = 0.0;
  for (std::size_t cell = 0; cell < a.u.size(); ++cell) {
    const double of_u = a.u[cell] - b.u[cell];
    const double of_v = a.v[cell] - b.v[cell];
    const double larger = std::max(std::abs(of_u), std::abs(of_v));
    result.largest = std::max(result.largest, larger);
    const auto row = static_cast<std::int64_t>(cell) / n;
    const auto column = static_cast<std::int64_t>(cell) % n;
    const double from_end = (static_cast<double>(std::min(column, n - 1 - column)) + 0.5) / static_cast<double>(n);
    const double from_lid = (static_cast<double>(n - 1 - row) + 0.5) / static_cast<double>(n);
    if (std::hypot(from_end, from_lid) > 0.1) result.inside = std::max(result.inside, larger);
    squares += of_u * of_u + of_v * of_v;
  }
  result.rms = std::sqrt(squares / (2.0 * static_cast<double>(a.u.size())));
  return result;
}

std::string grid(const Problem& problem) { return fmt::format("{0} x {0}", problem.size); }

std::string format_iterations(double count) { return fmt::format("{:.1f}", count); }

void print_times(const std::vector<Problem>& problems) {
  Table table({"Re", "grid", "time step", "steps", "icoFoam PCG", "GAMG", "cavity", "PCG/cavity", "GAMG/cavity",
               "difference", "inside", "rms"});
  std::vector<double> gains;
  for (const Problem& problem : problems) {
    std::vector<std::string> row{fmt::format("{:g}", problem.reynolds),    grid(problem),
                                 fmt::format("{:.6f}", problem.time_step), fmt::format("{}", problem.steps),
                                 format_seconds(problem.pcg.step_s),       format_seconds(problem.gamg.step_s)};
    if (problem.cavity) {
      const Measured& ours = *problem.cavity;
      const Difference apart = difference(ours.field, problem.gamg.field, problem.size);
      gains.push_back(std::min(problem.pcg.step_s, problem.gamg.step_s) / ours.step_s);
      row.insert(row.end(),
                 {format_seconds(ours.step_s), fmt::format("{:.2f}", problem.pcg.step_s / ours.step_s),
                  fmt::format("{:.2f}", problem.gamg.step_s / ours.step_s), fmt::format("{:.1e}", apart.largest),
                  fmt::format("{:.1e}", apart.inside), fmt::format("{:.1e}", apart.rms)});
    } else {
      row.insert(row.end(), 6, "-");
    }
    table.add_row(row);
  }
  fmt::print(
      "{}time of a step: cavity's by the clock, all steps; icoFoam's its own ExecutionTime, of processor time, without "
      "the "
      "first\ndifference: largest of cavity's velocity at cell centres (mean of two faces) from icoFoam's with GAMG, "
      "at "
      "the end\ninside: farther than 0.1 from the lid's ends, where the velocity jumps; rms: root of the mean square\n",
      table.text());
  if (!gains.empty()) {
    fmt::print("faster of the two icoFoams/cavity: median {:.2f}, least {:.2f}\n", median(gains),
               *std::min_element(gains.begin(), gains.end()));
  }
}

void print_iterations(const std::vector<Problem>& problems) {
  Table table(
      {"Re", "grid", "p PCG", "p GAMG", "p cavity", "U icoFoam", "U cavity", "imbalance PCG", "GAMG", "cavity"});
  for (const Problem& problem : problems) {
    const std::optional<Measured>& ours = problem.cavity;
    table.add_row(
        {fmt::format("{:g}", problem.reynolds), grid(problem), format_iterations(problem.pcg.pressure_iterations),
         format_iterations(problem.gamg.pressure_iterations), ours ? format_iterations(ours->pressure_iterations) : "-",
         format_iterations(problem.gamg.momentum_iterations), ours ? format_iterations(ours->momentum_iterations) : "-",
         fmt::format("{:.1e}", problem.pcg.field.mass_imbalance),
         fmt::format("{:.1e}", problem.gamg.field.mass_imbalance),
         ours ? fmt::format("{:.1e}", ours->field.mass_imbalance) : "-"});
  }
  fmt::print(
      "\n{}iterations per step: p of both corrections together; U of icoFoam the mean of its two components, "
      "solved one by one\nimbalance: largest net flow out of a cell at the end, over lid speed * cell width\n",
      table.text());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App parser("Tables of what benchmarks/cavity_icofoam ran", "steelyard-cavity-icofoam");
  fs::path folder;
  const TableResult result(parser, argc, argv);
  parser.add_option("folder", folder, "Where it ran")->required()->check(CLI::ExistingDirectory);
  CLI11_PARSE(parser, argc, argv);
  try {
    std::vector<Problem> problems;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().filename() == "problem.json") problems.push_back(read_problem(entry.path()));
    }
    if (problems.empty()) throw InvalidArgument(folder.string() + " holds no problem.json");
    std::sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
      return a.reynolds != b.reynolds ? a.reynolds < b.reynolds : a.size < b.size;
    });
    print_times(problems);
    print_iterations(problems);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "steelyard-cavity-icofoam: {}\n", error.what());
    return 2;
  }
}
