#include "miniapps/app/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "comm/collective.hpp"
#include "core/base/npy.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"

namespace steelyard {

void add_check(const Session& session, CheckResult& check, const FoundError& found) {
  // A NaN compares as nothing, least of all as large.
  const double mine = std::isfinite(found.error) ? found.error : std::numeric_limits<double>::infinity();
  const double error = all_max(session.comm(), mine);
  check.passed = (!check.performed || check.passed) && error <= found.tolerance;
  check.error = check.performed ? std::max(check.error, error) : error;
  check.tolerance = found.tolerance;
  check.performed = true;
  check.against = found.against;
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::vector<std::string> core_doubts(const Session& session, const RankUnits& units) {
  std::vector<std::string> why;
  const MPI_Comm comm = session.comm();
  if (any_rank(comm, units.oversubscribed)) why.emplace_back("there are more threads than cores; times mean little");
  if (any_rank(comm, !units.bound)) why.emplace_back("this system refuses to bind threads to cores; times vary");
  return why;
}

std::string library_lines(const RunRecord& record, const std::string& what,
                          const std::map<std::string, std::string>& notes) {
  std::string lines;
  for (const char* unit : {"host", "device"}) {
    const auto library = record.settings.find(fmt::format("{}_{}", unit, what));
    if (library == record.settings.end()) continue;
    const auto note = notes.find(library->second);
    lines += fmt::format("{:<10} {}{}\n", unit, library->second, note == notes.end() ? "" : note->second);
  }
  return lines;
}

std::string table_text(const std::vector<TableRow>& rows) {
  std::optional<Table> table;
  for (const TableRow& row : rows) {
    std::vector<std::string> headings, cells;
    for (const auto& [heading, cell] : row) {
      headings.push_back(heading);
      cells.push_back(cell);
    }
    if (!table) table.emplace(headings);
    table->add_row(cells);
  }
  return table ? table->text() : "";
}

std::string interval_text(const std::optional<Interval>& interval_s) {
  if (!interval_s) return "";
  const std::string lower = format_seconds(interval_s->lower), upper = format_seconds(interval_s->upper);
  return lower == upper ? "" : fmt::format(" ({} to {})", lower, upper);
}

std::string behind_prediction(double measured_s, double predicted_s) {
  if (!(measured_s > 0.0 && predicted_s > 0.0)) return "";
  const std::string difference = difference_text(measured_s, predicted_s);
  return (difference.starts_with("mu") ? ", " : ", difference ") + difference;
}

std::string phase_line(const PhaseTime& phase, int columns, double count, const std::string& per) {
  std::string line = fmt::format("  {:<{}}{}{}", phase.name, columns, format_seconds(phase.measured_s / count), per);
  if (!phase.predicted_s) return line + "\n";
  return line + fmt::format(", predicted {}{}\n", format_seconds(*phase.predicted_s / count),
                            behind_prediction(phase.measured_s, *phase.predicted_s));
}

template <class Element>
void write_matrix(const Session& session, const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
                  const MatrixStore<Element>& store, const std::function<std::string()>& behind) {
  if (path.empty()) return;
  std::string made;
  on_root(session.comm(), [&] {
    const NpyMatrixFile file = NpyMatrixFile::create<Element>(path, rows, columns);
    made = fmt::format("{} {}", file.data_offset(), file.part().string());
  });
  made = broadcast_text(session.comm(), made);
  const std::size_t blank = made.find(' ');
  const NpyMatrixFile mine(path, made.substr(blank + 1), std::stoll(made.substr(0, blank)), rows, columns);
  try {
    collectively(session.comm(), [&] {
      store([&](std::int64_t row, std::int64_t column, std::int64_t block_columns, std::span<const Element> block) {
        mine.write_block(row, column, block_columns, block);
      });
    });
    const std::string end = behind ? behind() : "";
    on_root(session.comm(), [&] {
      mine.append(end);
      mine.finish();
    });
  } catch (...) {
    if (session.is_root()) mine.discard();
    throw;
  }
}

template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<double>&, const std::function<std::string()>&);
template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<float>&, const std::function<std::string()>&);
template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<std::complex<double>>&, const std::function<std::string()>&);
template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<std::complex<float>>&, const std::function<std::string()>&);

}  // namespace steelyard
