#include "core/base/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard {
namespace {

/// A cell of text() as one of csv().
std::string csv_cell(const std::string& cell) {
  if (cell == "-") return "";
  const bool has_unit = cell.find(' ') != std::string::npos;
  if (const auto number = has_unit ? Table::number(cell) : std::nullopt) return fmt::format("{:.6g}", *number);
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char letter : cell) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

std::function<void(const Table&)> on_text_look;

}  // namespace

Table::Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

void Table::add_row(std::vector<std::string> cells) {
  if (cells.size() != headings_.size()) {
    throw InvalidArgument(fmt::format("table row of {} cells (expected {})", cells.size(), headings_.size()));
  }
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  const std::size_t columns = headings_.size();
  std::vector<std::size_t> width(columns);
  std::vector<bool> right(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    width[c] = headings_[c].size();
    right[c] = c > 0;
    for (const auto& row : rows_) {
      width[c] = std::max(width[c], row[c].size());
      right[c] = right[c] && shows_number(row[c]);
    }
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t c = 0; c < columns; ++c) {
      text += c > 0 ? "  " : "";
      text += right[c] ? fmt::format("{:>{}}", cells[c], width[c]) : fmt::format("{:<{}}", cells[c], width[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line(headings_);
  std::size_t total = 0;
  for (const std::size_t w : width) total += w + (total > 0 ? 2 : 0);
  text += std::string(total, '-') + "\n";
  for (const auto& row : rows_) text += line(row);
  if (on_text_look) on_text_look(*this);
  return text;
}

std::string Table::csv() const {
  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::vector<std::string> written;
    std::ranges::transform(cells, std::back_inserter(written), csv_cell);
    text += fmt::format("{}\n", fmt::join(written, ","));
  };
  add_line(headings_);
  for (const auto& row : rows_) add_line(row);
  return text;
}

std::optional<double> Table::number(const std::string& cell) {
  static const std::map<std::string, double> units{
      {"", 1.0},        {" ns", 1e-9},    {" us", 1e-6},    {" ms", 1e-3},    {" s", 1.0},
      {" %", 1e-2},     {" B", 1.0},      {" KiB", 0x1p10}, {" MiB", 0x1p20}, {" GiB", 0x1p30},
      {" TiB", 0x1p40}, {" PiB", 0x1p50}, {" EiB", 0x1p60}};
  char* end = nullptr;
  const double number = std::strtod(cell.c_str(), &end);
  const auto unit = units.find(end);
  if (end == cell.c_str() || unit == units.end() || !std::isfinite(number)) return std::nullopt;
  return number * unit->second;
}

void Table::on_text(std::function<void(const Table&)> look) { on_text_look = std::move(look); }

bool shows_number(const std::string& cell) {
  if (cell.empty() || cell == "-") return true;
  const std::size_t sign = cell[0] == '-' || cell[0] == '+' ? 1 : 0;
  return cell.size() > sign && std::isdigit(static_cast<unsigned char>(cell[sign])) != 0;
}

std::string format_seconds(double seconds) {
  if (seconds == 0.0) return "0 ns";
  const std::pair<const char*, double> units[] = {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1.0}};
  for (const auto& [unit, scale] : units) {
    // 999.5 would round to 1000 and be printed with an exponent.
    if (!(std::abs(seconds) * scale < 999.5)) continue;
    const double number = seconds * scale, size = std::abs(number);
    // Below a nanosecond no fixed number of decimals is enough.
    if (size < 1.0) return fmt::format("{:.3g} {}", number, unit);
    return fmt::format("{:.{}f} {}", number, size < 9.995 ? 2 : size < 99.95 ? 1 : 0, unit);
  }
  return fmt::format("{:.0f} s", seconds);
}

std::string format_bytes(double bytes) {
  const char* const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int scale = 0;
  while (bytes >= 1024.0 && scale < 6) {
    bytes /= 1024.0;
    ++scale;
  }
  return fmt::format("{:.4g} {}", bytes, names[scale]);
}

}  // namespace steelyard
