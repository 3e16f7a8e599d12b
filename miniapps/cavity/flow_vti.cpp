#include "miniapps/cavity/flow_vti.hpp"

#include <cstdint>
#include <vector>

#include "core/base/vti_file.hpp"
#include "miniapps/cavity/flow_check.hpp"
#include "miniapps/cavity/streamfunction.hpp"

namespace steelyard::cavity {

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
