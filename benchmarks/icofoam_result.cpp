#include "benchmarks/icofoam_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>

#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {
namespace {

/// The number that follows `label` in `line`, if both are there.
std::optional<double> number_after(const std::string& line, const std::string& label) {
  const std::size_t at = line.find(label);
  if (at == std::string::npos) return std::nullopt;
  const char* const begin = line.c_str() + at + label.size();
  char* end = nullptr;
  const double value = std::strtod(begin, &end);
  return end != begin ? std::optional(value) : std::nullopt;
}

/// The first list behind `label`: `(a b c)`, or `((a b c) (d e f))` with all numbers in a row.
std::vector<double> read_list(const std::filesystem::path& path, const std::string& label, std::size_t expected) {
  const std::string text = read_text_file(path);
  const std::size_t found = text.find(label);
  const std::size_t begin = found == std::string::npos ? found : text.find('(', found);
  if (begin == std::string::npos) throw FileFormatError(path.string(), label, "is not followed by a list");
  std::vector<double> values;
  values.reserve(expected);
  int depth = 0;
  for (const char* at = text.c_str() + begin; *at != '\0';) {
    if (*at == '(' || *at == ')') {
      depth += *at == '(' ? 1 : -1;
      if (depth == 0) break;
      ++at;
      continue;
    }
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at) {
      ++at;
    } else {
      values.push_back(value);
      at = end;
    }
  }
  if (values.size() != expected || depth != 0) {
    throw FileFormatError(path.string(), label, fmt::format("has {} numbers (expected {})", values.size(), expected));
  }
  return values;
}

}  // namespace

IcofoamLog read_icofoam_log(const std::filesystem::path& path) {
  std::istringstream lines(read_text_file(path));
  IcofoamLog log;
  double first_s = 0.0;
  double last_s = 0.0;
  double pressure = 0.0;
  double momentum = 0.0;
  for (std::string line; std::getline(lines, line);) {
    if (const auto elapsed_s = number_after(line, "ExecutionTime = ")) {
      if (log.steps == 0) first_s = *elapsed_s;
      last_s = *elapsed_s;
      ++log.steps;
    } else if (const auto iterations = number_after(line, "No Iterations ")) {
      (line.find("Solving for p,") != std::string::npos ? pressure : momentum) += *iterations;
    }
  }
  if (log.steps < 2) {
    throw FileFormatError(path.string(), "", fmt::format("is of {} steps (expected two at least)", log.steps));
  }
  log.step_s = (last_s - first_s) / static_cast<double>(log.steps - 1);
  log.pressure_iterations = pressure / static_cast<double>(log.steps);
  log.momentum_iterations = momentum / 2.0 / static_cast<double>(log.steps);
  return log;
}

CentreVelocity read_icofoam_field(const std::filesystem::path& folder, const std::filesystem::path& mesh,
                                  std::int64_t n) {
  const auto cells = static_cast<std::size_t>(n * n);
  const auto inner_faces = static_cast<std::size_t>(2 * n * (n - 1));
  // Two faces a cell in front and behind, and the walls.
  const std::size_t faces = inner_faces + static_cast<std::size_t>(4 * n) + 2 * cells;
  const std::vector<double> velocity = read_list(folder / "U", "internalField", 3 * cells);
  const std::vector<double> flux = read_list(folder / "phi", "internalField", inner_faces);
  const std::vector<double> owner = read_list(mesh / "owner", "object", faces);
  const std::vector<double> neighbour = read_list(mesh / "neighbour", "object", inner_faces);
  CentreVelocity field;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    field.u.push_back(velocity[3 * cell]);
    field.v.push_back(velocity[3 * cell + 1]);
  }
  std::vector<double> outflow(cells, 0.0);
  for (std::size_t face = 0; face < inner_faces; ++face) {
    // Both throw for a cell that the mesh does not have.
    outflow.at(static_cast<std::size_t>(owner[face])) += flux[face];
    outflow.at(static_cast<std::size_t>(neighbour[face])) -= flux[face];
  }
  for (const double net : outflow) {
    field.mass_imbalance = std::max(field.mass_imbalance, std::abs(net) * static_cast<double>(n));
  }
  return field;
}

}  // namespace steelyard
