#include "models/fupermod_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"

namespace steelyard::models {
namespace {

using Words = std::vector<std::string>;

Words split(const std::string& line) {
  std::istringstream stream(line);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Reads points line by line, and knows where it is when one is wrong.
class FupermodReader {
 public:
  explicit FupermodReader(std::string path) : path_(std::move(path)) {}

  void read(const std::string& line) {
    ++line_;
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos) return;
    if (line[start] == '#') {
      const std::size_t words = std::min(line.find_first_not_of("# \t", start), line.size());
      take_columns(split(line.substr(words)));
      return;
    }
    const Words words = split(line);
    MeasuredPoint point;
    point.units = required(words, "d");
    point.time_s = required(words, "t");
    const double repetitions = value(words, "reps").value_or(1.0);
    point.confidence_s = value(words, "ci").value_or(0.0);
    const double before = points_.empty() ? 0.0 : points_.back().units;
    if (!(point.units > before))
      fail(fmt::format("d is {} after {} (expected increasing sizes > 0)", point.units, before));
    if (!(point.time_s > 0.0)) fail(fmt::format("t is {} (expected seconds > 0)", point.time_s));
    if (!(repetitions >= 1.0 && repetitions <= std::numeric_limits<int>::max() &&
          repetitions == std::floor(repetitions))) {
      fail(fmt::format("reps is {} (expected 1, 2, …)", repetitions));
    }
    if (!(point.confidence_s >= 0.0)) fail(fmt::format("ci is {} (expected seconds >= 0)", point.confidence_s));
    point.repetitions = static_cast<int>(repetitions);
    points_.push_back(point);
  }

  const std::vector<MeasuredPoint>& points() const { return points_; }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw FileFormatError(path_, fmt::format("line {}", line_), problem);
  }

  void take_columns(const Words& words) {
    const auto has = [&](const char* name) { return std::find(words.begin(), words.end(), name) != words.end(); };
    if (has("d") && has("t")) columns_ = words;
  }

  double required(const Words& words, const std::string& name) const {
    const std::optional<double> found = value(words, name);
    if (!found) fail(fmt::format("has {} columns, without {} (expected d t reps ci)", words.size(), name));
    return *found;
  }

  std::optional<double> value(const Words& words, const std::string& name) const {
    const auto column = static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), name) - columns_.begin());
    if (column >= std::min(columns_.size(), words.size())) return std::nullopt;
    const std::string& word = words[column];
    double number = 0.0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number)) {
      fail(fmt::format("{} is \"{}\" (expected a finite number)", name, excerpt(word)));
    }
    return number;
  }

  std::string path_;
  int line_ = 0;
  Words columns_{"d", "t", "reps", "ci"};
  std::vector<MeasuredPoint> points_;
};

}  // namespace

FpmFile read_fupermod_file(const std::filesystem::path& path) {
  FupermodReader reader(path.string());
  std::istringstream lines(read_text_file(path));
  for (std::string line; std::getline(lines, line);) reader.read(line);
  if (reader.points().empty()) {
    throw FileFormatError(path.string(), "", "has no points (expected lines of d t reps ci)");
  }
  FpmFile file;
  file.points = reader.points();
  return file;
}

}  // namespace steelyard::models
