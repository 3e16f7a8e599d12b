#pragma once

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

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

/// A time for people: three significant digits with ns, us, ms or s; whole seconds from 1000 s on.
std::string format_seconds(double seconds);

/// A number of bytes for people: B, KiB, MiB, GiB.
std::string format_bytes(double bytes);

}  // namespace steelyard
