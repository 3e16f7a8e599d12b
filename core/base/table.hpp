#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace steelyard {

/// A table for people: the first column and other text columns flush left, numbers flush right.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);
  /// @throws InvalidArgument unless there is one cell per heading
  void add_row(std::vector<std::string> cells);
  /// A line of headings, a rule as wide as the widest line, and a line per row, without trailing blanks.
  std::string text() const;
  /// Comma-separated values (RFC 4180), headings first. A number with a unit is the number in SI units or bytes, a
  /// share in percent is the share, `-` is an empty cell.
  std::string csv() const;
  /// The number that a cell shows, in SI units, bytes, or as a share; nothing for words.
  static std::optional<double> number(const std::string& cell);

  /// Calls `look` with every table that a program prints: whose text() is made from now on. @param look null to stop
  static void on_text(std::function<void(const Table&)> look);

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

/// Whether a cell begins with a number, or has none because there is nothing to show: it stands flush right.
bool shows_number(const std::string& cell);

/// A time for people: three significant digits, zeros too, with ns, us, ms or s; whole seconds from 1000 s on.
std::string format_seconds(double seconds);

/// A number of bytes for people, with B, KiB and so on to EiB.
std::string format_bytes(double bytes);

}  // namespace steelyard
