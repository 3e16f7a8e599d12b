#include "miniapps/app/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/base/npy.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {
namespace {

void require_one_each(std::size_t count, const std::string& what, const RunRecord& record) {
  if (count == record.units.size()) return;
  throw InvalidArgument(
      fmt::format("{} {} for {} processing units (expected one each)", count, what, record.units.size()));
}

/// Ends a line: `, difference 7.5 %` or `, mu 5.59`.
std::string behind_prediction(double measured, double estimated) {
  const std::string difference = difference_text(measured, estimated);
  return (difference.starts_with("mu") ? ", " : ", difference ") + difference;
}

}  // namespace

bool is_check_due(const RunOptions& options, int repetition) {
  const bool last = repetition + 1 == options.repetitions;
  return options.check == CheckLevel::all || (options.check == CheckLevel::last && last);
}

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

std::string check_line(const CheckResult& check) {
  if (!check.performed) return fmt::format("check      not done: {}\n", check.against);
  return fmt::format("check      {}: largest error {:.2e} against {} (tolerance {:.2g})\n",
                     check.passed ? "passed" : "FAILED", check.error, check.against, check.tolerance);
}

ExitCode exit_code(const CheckResult& check) {
  return check.performed && !check.passed ? ExitCode::check_failed : ExitCode::good;
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string core_notes(const Session& session, const RankUnits& units) {
  std::string notes;
  const MPI_Comm comm = session.comm();
  if (any_rank(comm, units.oversubscribed)) notes += "note: there are more threads than cores; times mean little\n";
  if (any_rank(comm, !units.bound)) notes += "note: this system refuses to bind threads to cores; times vary\n";
  return notes;
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

std::vector<UnitColumn> rectangle_columns(std::span<const partition::Rectangle> parts) {
  std::vector<UnitColumn> columns{{"row", {}}, {"column", {}}, {"rows", {}}, {"columns", {}}};
  for (const partition::Rectangle& part : parts) {
    auto column = columns.begin();
    for (const std::int64_t number : {part.row, part.column, part.rows, part.columns}) {
      (column++)->cells.push_back(part.empty() ? "-" : fmt::format("{}", number));
    }
  }
  return columns;
}

std::string unit_table(const RunRecord& record, const UnitHeadings& headings, std::span<const double> predicted_s,
                       std::span<const double> measured_s) {
  require_one_each(record.distribution.size(), "slices", record);
  require_one_each(predicted_s.size(), "predicted times", record);
  if (!measured_s.empty()) require_one_each(measured_s.size(), "measured times", record);
  for (const UnitColumn& column : headings.columns) {
    require_one_each(column.cells.size(), "cells of column " + column.heading, record);
  }
  std::vector<TableRow> rows;
  double total = 0.0;
  for (const std::int64_t units : record.distribution) total += static_cast<double>(units);
  for (std::size_t i = 0; i < record.units.size(); ++i) {
    const UnitRecord& unit = record.units[i];
    const double share = total > 0.0 ? static_cast<double>(record.distribution[i]) / total : 0.0;
    TableRow row{{"unit", fmt::format("rank {} {}", unit.rank, unit.kind)},
                 {"space", unit.space},
                 {"core-ids", unit.cores},
                 {"slowdown", unit.slowdown > 1.0 ? fmt::format("{:g} (emulated)", unit.slowdown) : "-"}};
    for (const UnitColumn& column : headings.columns) row.emplace_back(column.heading, column.cells[i]);
    const bool is_predicted = predicted_s[i] > 0.0 || record.distribution[i] == 0;
    row.emplace_back(headings.computation_units, fmt::format("{}", record.distribution[i]));
    row.emplace_back("share", fmt::format("{:.1f} %", 100.0 * share));
    row.emplace_back("predicted" + headings.per, is_predicted ? format_seconds(predicted_s[i]) : "-");
    if (!measured_s.empty()) {
      const bool comparable = measured_s[i] > 0.0 && predicted_s[i] > 0.0;
      row.emplace_back("measured" + headings.per, format_seconds(measured_s[i]));
      row.emplace_back("difference", comparable ? difference_text(measured_s[i], predicted_s[i]) : "-");
    }
    rows.push_back(std::move(row));
  }
  return table_text(rows);
}

void record_times(RunRecord& record, std::span<const double> times_s, std::optional<double> predicted) {
  const double predicted_s = predicted.value_or(0.0);
  record.median_time_s = median(times_s);
  record.predicted_time_s = predicted;
  record.figures["confidence_s"] = times_s.size() > 1 ? confidence_half_width(times_s, 0.95) : 0.0;
  record.figures["coefficient_of_variation"] = coefficient_of_variation(times_s);
  if (predicted_s > 0.0 && record.median_time_s > 0.0) {
    record.figures["percentage_difference"] = percentage_difference(predicted_s, record.median_time_s);
    record.figures["proportional_error"] = proportional_error(record.median_time_s, predicted_s);
  }
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    record.samples.push_back({record.params, "time_s", times_s[i], record.settings});
    record.samples.back().params["repetition"] = static_cast<double>(i);
  }
}

std::string time_line(const RunRecord& record, const std::string& of_what) {
  const auto count = std::count_if(record.samples.begin(), record.samples.end(),
                                   [](const Sample& sample) { return sample.metric == "time_s"; });
  const std::string spread = count > 1
                                 ? fmt::format("median of {}, 95 % interval +- {}, coefficient of variation {:.1f} %",
                                               count, format_seconds(record.figures.at("confidence_s")),
                                               100.0 * record.figures.at("coefficient_of_variation"))
                                 : "measured once";
  return fmt::format("time       {}{}{} ({})\n", format_seconds(record.median_time_s), of_what.empty() ? "" : " ",
                     of_what, spread);
}

std::string interval_text(const std::optional<Interval>& interval_s) {
  if (!interval_s) return "";
  const std::string lower = format_seconds(interval_s->lower), upper = format_seconds(interval_s->upper);
  return lower == upper ? "" : fmt::format(" ({} to {})", lower, upper);
}

std::string predicted_line(const RunRecord& record) {
  if (!record.predicted_time_s) return "";
  const double predicted_s = *record.predicted_time_s;
  const bool comparable = record.figures.contains("proportional_error");
  return fmt::format("predicted  {}{}{}\n", format_seconds(predicted_s), interval_text(record.predicted_interval_s),
                     comparable ? behind_prediction(record.median_time_s, predicted_s) : "");
}

std::string phase_line(const PhaseTime& phase, int columns, double count, const std::string& per) {
  const double predicted_s = phase.predicted_s.value_or(0.0);
  std::string line = fmt::format("  {:<{}}{}{}", phase.name, columns, format_seconds(phase.measured_s / count), per);
  if (phase.predicted_s) line += ", predicted " + format_seconds(predicted_s / count);
  if (predicted_s > 0.0 && phase.measured_s > 0.0) {
    line += behind_prediction(phase.measured_s, predicted_s);
  }
  return line + "\n";
}

void require_outputs(const Session& session, const RunOptions& options) {
  on_root(session.comm(), [&] {
    if (!options.output.empty()) require_writable(options.output);
    if (options.result.empty()) return;
    if (options.result.lexically_normal() == options.output.lexically_normal()) {
      throw InvalidArgument(
          fmt::format("--output and --result both name {} (expected a file and a folder)", options.result.string()));
    }
    require_writable(options.result / "run.json");
    if (options.dry_run || !std::filesystem::exists(options.result / "run.json")) return;
    fmt::print(stderr, "note: {} has the result of an earlier run, which this one's will replace\n",
               options.result.string());
  });
}

template <class Element>
void write_matrix(const Session& session, const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
                  const MatrixStore<Element>& store) {
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
    on_root(session.comm(), [&] { mine.finish(); });
  } catch (...) {
    if (session.is_root()) mine.discard();
    throw;
  }
}

template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<double>&);
template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<float>&);
template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<std::complex<double>>&);
template void write_matrix(const Session&, const std::filesystem::path&, std::int64_t, std::int64_t,
                           const MatrixStore<std::complex<float>>&);

std::string write_result(const std::filesystem::path& folder, const RunRecord& record, const std::vector<Slot>& slots,
                         const std::vector<KeptModels>& models) {
  if (folder.empty()) return "";
  const bool replaces = std::filesystem::exists(folder / "run.json");
  // The numbers first, should there be no room for all.
  write_run_record(folder, record);
  for (const KeptModels& kept : models) {
    for (std::size_t i = 0; i < kept.files.size(); ++i) {
      const char* kind = slots[i].kind == ProcessingUnit::Kind::host ? "host" : "device";
      models::write_fpm_file(folder / "models" / fmt::format("rank{}-{}{}.fpm.json", slots[i].rank, kind, kept.suffix),
                             kept.files[i]);
    }
  }
  return fmt::format("result     {}{}\n", folder.string(), replaces ? ", in place of an earlier run's" : "");
}

}  // namespace steelyard
