#include "miniapps/cavity/output/flow_files.hpp"

#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/new_file.hpp"
#include "core/base/text_file.hpp"
#include "core/base/vti_file.hpp"
#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/output/centre_lines.hpp"
#include "miniapps/cavity/output/checkpoint.hpp"
#include "miniapps/cavity/output/flow_picture.hpp"
#include "miniapps/cavity/output/streamfunction.hpp"

namespace steelyard::cavity {
namespace {

nlohmann::json solve_json(const SolveReport& report) {
  nlohmann::json residuals = nlohmann::json::array();
  const double scale = report.right_side > 0.0 ? 1.0 / report.right_side : 1.0;
  for (const double residual : report.history) residuals.push_back(scale * residual);
  return {{"iterations", report.iterations}, {"restarts", report.restarts}, {"residuals", residuals}};
}

}  // namespace

void require_flow_outputs(const Options& options) {
  std::map<std::filesystem::path, std::string> names;
  for (const auto& [option, path] : {std::pair{"--output", options.run.output},
                                     {"--profiles", options.profiles},
                                     {"--picture", options.picture},
                                     {"--checkpoint", options.checkpoint}}) {
    if (path.empty()) continue;
    const auto [other, is_new] = names.emplace(std::filesystem::absolute(path).lexically_normal(), option);
    if (!is_new) {
      throw InvalidArgument(
          fmt::format("{} and {} both name {} (expected a file each)", other->second, option, path.string()));
    }
    require_writable(path);
  }
}

void write_flow_outputs(const Options& options, const Problem& problem, const FlowState& state) {
  const std::filesystem::path& folder = options.run.result;
  std::vector<std::string> failures;
  const auto write_one = [&](const std::filesystem::path& path, const auto& writer) {
    try {
      writer(path, problem, state);
    } catch (const RuntimeFailure& failure) {
      failures.emplace_back(failure.what());
    }
  };
  const auto write = [&](const std::filesystem::path& given, const char* name, const auto& writer) {
    if (!given.empty()) write_one(given, writer);
    if (!folder.empty() && name != nullptr) write_one(folder / name, writer);
  };
  // Those first that cost most to make again.
  write(options.checkpoint, nullptr, write_checkpoint);
  write(options.run.output, "flow.vti", write_flow_vti);
  write(options.profiles, "centre_lines.csv", write_centre_lines);
  write(options.picture, "flow.png", write_flow_picture);
  if (!failures.empty()) throw RuntimeFailure(fmt::format("{}", fmt::join(failures, "; ")));
}

void write_histories(const std::filesystem::path& folder, const Problem& problem, const FlowState& start,
                     std::span<const StepReport> reports) {
  NewFile file(folder / "solves.jsonl");
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const StepReport& report = reports[i];
    const auto done = static_cast<std::int64_t>(i + 1);
    nlohmann::json line{{"step", start.steps + done},
                        {"time", start.time + static_cast<double>(done) * problem.time_step},
                        {"momentum", solve_json(report.momentum)},
                        {"pressure", nlohmann::json::array()},
                        {"mass_imbalance", report.mass_imbalance},
                        {"change", report.change}};
    for (const SolveReport& pressure : report.pressure) line["pressure"].push_back(solve_json(pressure));
    file.write(line.dump() + "\n");
  }
  file.finish();
}

void write_flow_vti(const std::filesystem::path& path, const Problem& problem, const FlowState& state) {
  require_flow_of(problem, state);
  const Streamfunction psi = streamfunction(problem, state);
  VtiGrid grid;
  grid.rows = problem.rows;
  grid.columns = problem.columns;
  grid.spacing = {problem.dx(), problem.dy()};
  grid.origin = {0.5 * problem.dx(), 0.5 * problem.dy()};
  VtiFile<double> file(path, {{"velocity", 3}, {"pressure"}, {"streamfunction"}}, grid);
  std::vector<double> row;
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    row.clear();
    for (std::int64_t i = 0; i < problem.columns; ++i) {
      row.push_back(0.5 * (state.u_at(j, i) + state.u_at(j, i + 1)));
      row.push_back(0.5 * (state.v_at(j, i) + state.v_at(j + 1, i)));
      row.push_back(0.0);
    }
    file.write_rows(row);
  }
  file.write_rows(state.p);
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    row.clear();
    for (std::int64_t i = 0; i < problem.columns; ++i) {
      row.push_back(0.25 * ((psi.at(j, i) + psi.at(j, i + 1)) + (psi.at(j + 1, i) + psi.at(j + 1, i + 1))));
    }
    file.write_rows(row);
  }
  file.finish();
}

}  // namespace steelyard::cavity
