#include "miniapps/cavity/flow_files.hpp"

#include <nlohmann/json.hpp>

#include "core/base/new_file.hpp"
#include "core/base/text_file.hpp"
#include "miniapps/cavity/centre_lines.hpp"
#include "miniapps/cavity/checkpoint.hpp"
#include "miniapps/cavity/flow_picture.hpp"
#include "miniapps/cavity/flow_vti.hpp"

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
  for (const auto& path : {options.profiles, options.picture, options.checkpoint}) {
    if (!path.empty()) require_writable(path);
  }
}

void write_flow_outputs(const Options& options, const Problem& problem, const FlowState& state) {
  const std::filesystem::path& folder = options.run.result;
  const auto write = [&](const std::filesystem::path& given, const char* name, const auto& writer) {
    if (!given.empty()) writer(given, problem, state);
    if (!folder.empty() && name != nullptr) writer(folder / name, problem, state);
  };
  write(options.run.output, "flow.vti", write_flow_vti);
  write(options.profiles, "centre_lines.csv", write_centre_lines);
  write(options.picture, "flow.png", write_flow_picture);
  write(options.checkpoint, nullptr, write_checkpoint);
}

void write_histories(const std::filesystem::path& folder, const Problem& problem, const FlowState& start,
                     const RunLog& log) {
  NewFile file(folder / "solves.jsonl");
  for (std::size_t i = 0; i < log.reports.size(); ++i) {
    const StepReport& report = log.reports[i];
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

}  // namespace steelyard::cavity
