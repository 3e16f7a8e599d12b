#include "models/fpm_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
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
    if (named_.size() == words.size()) columns_ = named_;
    named_.clear();
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

  /// A comment that has the words d and t names columns: at once where it has no word but those that are known, and
  /// otherwise where the next line has as many.
  void take_columns(const Words& words) {
    static const Words known{"d", "t", "reps", "ci"};
    if (std::count(words.begin(), words.end(), "d") != 1 || std::count(words.begin(), words.end(), "t") != 1) return;
    const bool all_known = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::find(known.begin(), known.end(), word) != known.end();
    });
    (all_known ? columns_ : named_) = words;
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
  Words named_;  ///< columns if the next line has as many
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

namespace {

constexpr const char* schema = "steelyard.fpm/1";

int read_count(const JsonReader& reader, const std::string& key, double otherwise) {
  const double count = reader.number(key, otherwise);
  if (!(count >= 1.0 && count <= std::numeric_limits<int>::max() && count == std::floor(count))) {
    reader.fail(key, fmt::format("is {} (expected 1, 2, …)", count));
  }
  return static_cast<int>(count);
}

MeasuredPoint read_point(const JsonReader& reader, double previous_units, const std::vector<std::string>& part_names) {
  MeasuredPoint point;
  point.units = reader.number("units");
  if (!(point.units > previous_units)) {
    reader.fail("units", fmt::format("is {} after {} (expected increasing sizes > 0)", point.units, previous_units));
  }
  point.time_s = reader.number("time_s");
  if (!(point.time_s > 0.0)) reader.fail("time_s", fmt::format("is {} (expected seconds > 0)", point.time_s));
  point.repetitions = read_count(reader, "repetitions", 1.0);
  point.confidence_s = reader.number("confidence_s", 0.0);
  if (point.confidence_s < 0.0) reader.fail("confidence_s", "is negative (expected seconds >= 0)");
  const double outliers = reader.number("outliers", 0.0);
  if (!(outliers >= 0.0 && outliers <= point.repetitions && outliers == std::floor(outliers))) {
    reader.fail("outliers", fmt::format("is {} (expected 0, 1, … {})", outliers, point.repetitions));
  }
  point.outliers = static_cast<int>(outliers);
  if (!part_names.empty()) {
    const JsonReader seconds = reader.object("parts_s");
    for (std::size_t part = 0; part < part_names.size(); ++part) {
      point.parts_s[part] = seconds.number(part_names[part]);
      if (point.parts_s[part] < 0.0) seconds.fail(part_names[part], "is negative (expected seconds >= 0)");
    }
  }
  return point;
}

std::vector<MeasuredPoint> read_points(const JsonReader& reader, const std::string& key,
                                       const std::vector<std::string>& part_names) {
  std::vector<MeasuredPoint> points;
  for (const JsonReader& point : reader.array(key)) {
    points.push_back(read_point(point, points.empty() ? 0.0 : points.back().units, part_names));
  }
  return points;
}

double read_limit(const JsonReader& reader, const std::string& key) {
  const double limit = reader.number(key, std::numeric_limits<double>::infinity());
  if (!(limit > 0.0)) reader.fail(key, fmt::format("is {} (expected > 0)", limit));
  return limit;
}

void read_unit(const JsonReader& unit, FpmFile& file) {
  file.unit_kind = unit.text("kind", "");
  file.unit_cores = unit.text("cores", "");
  file.unit_bound = unit.flag("bound", true);
  file.unit_device = unit.text("device", "");
  file.slowdown = unit.number("slowdown", 1.0);
  if (!(file.slowdown >= 1.0)) unit.fail("slowdown", fmt::format("is {} (expected >= 1)", file.slowdown));
}

Drift read_drift(const JsonReader& reader) {
  const Drift drift{reader.number("share"), read_count(reader, "degrees", reader.number("degrees")),
                    read_count(reader, "rounds", 1.0)};
  if (!(drift.share >= 0.0)) reader.fail("share", fmt::format("is {} (expected a number >= 0)", drift.share));
  return drift;
}

std::vector<std::string> read_parts(const JsonReader& reader) {
  std::vector<std::string> part_names;
  const nlohmann::json& names = reader.value().at("parts");
  for (const nlohmann::json& name : names) {
    if (!name.is_string() || names.size() > MeasuredPoint::most_parts) {
      reader.fail("parts", fmt::format("is {} (expected at most {} names)", excerpt(names), MeasuredPoint::most_parts));
    }
    part_names.push_back(name);
  }
  return part_names;
}

FpmFile read_fpm(const std::string& name, const nlohmann::json& json) {
  const JsonReader reader(name, json);
  reader.require_schema(schema);
  FpmFile file;
  file.app = reader.text("app", "");
  file.kernel = reader.text("kernel", "");
  file.element = reader.text("element", "");
  if (reader.has("unit")) read_unit(reader.object("unit"), file);
  file.computation_unit = reader.text("computation_unit", "");
  if (reader.has("parameters")) {
    const JsonReader parameters = reader.object("parameters");
    for (const auto& [key, value] : parameters.value().items()) file.parameters[key] = parameters.number(key);
  }
  if (reader.has("parts")) file.parts = read_parts(reader);
  file.flops_per_unit = reader.number("flops_per_unit", 0.0);
  file.bytes_per_unit = reader.number("bytes_per_unit", 0.0);
  file.in_core_units = read_limit(reader, "in_core_units");
  file.max_units = read_limit(reader, "max_units");
  file.solo = reader.flag("solo", false);
  file.machine = reader.text("machine", "");
  file.date = reader.text("date", "");
  file.commit = reader.text("commit", "");
  if (reader.has("drift")) file.drift = read_drift(reader.object("drift"));
  file.points = read_points(reader, "points", file.parts);
  if (reader.has("imprecise_points")) file.imprecise = read_points(reader, "imprecise_points", file.parts);
  return file;
}

nlohmann::ordered_json points_json(const std::vector<MeasuredPoint>& points,
                                   const std::vector<std::string>& part_names) {
  auto json = nlohmann::ordered_json::array();
  for (const MeasuredPoint& point : points) {
    json.push_back({{"units", point.units},
                    {"time_s", point.time_s},
                    {"repetitions", point.repetitions},
                    {"confidence_s", point.confidence_s}});
    if (point.outliers > 0) json.back()["outliers"] = point.outliers;
    for (std::size_t part = 0; part < part_names.size(); ++part)
      json.back()["parts_s"][part_names[part]] = point.parts_s[part];
  }
  return json;
}

nlohmann::ordered_json fpm_json(const FpmFile& file) {
  nlohmann::ordered_json json;
  json["schema"] = schema;
  json["app"] = file.app;
  json["kernel"] = file.kernel;
  json["element"] = file.element;
  json["unit"] = {{"kind", file.unit_kind},
                  {"cores", file.unit_cores},
                  {"bound", file.unit_bound},
                  {"device", file.unit_device},
                  {"slowdown", file.slowdown}};
  json["computation_unit"] = file.computation_unit;
  json["parameters"] = file.parameters;
  if (!file.parts.empty()) json["parts"] = file.parts;
  json["flops_per_unit"] = file.flops_per_unit;
  json["bytes_per_unit"] = file.bytes_per_unit;
  if (std::isfinite(file.in_core_units)) json["in_core_units"] = file.in_core_units;
  if (std::isfinite(file.max_units)) json["max_units"] = file.max_units;
  json["solo"] = file.solo;
  json["machine"] = file.machine;
  if (!file.date.empty()) json["date"] = file.date;
  json["commit"] = file.commit;
  if (file.drift.degrees > 0) {
    json["drift"] = {{"share", file.drift.share}, {"degrees", file.drift.degrees}, {"rounds", file.drift.rounds}};
  }
  json["points"] = points_json(file.all_imprecise ? std::vector<MeasuredPoint>{} : file.points, file.parts);
  const std::vector<MeasuredPoint>& imprecise = file.all_imprecise ? file.points : file.imprecise;
  if (!imprecise.empty()) json["imprecise_points"] = points_json(imprecise, file.parts);
  return json;
}

}  // namespace

void FpmFile::make_do() {
  if (!points.empty() || imprecise.empty()) return;
  points.swap(imprecise);
  all_imprecise = true;
}

std::array<double, MeasuredPoint::most_parts> FpmFile::parts_s(double units) const {
  if (points.empty()) return {};
  const auto above =
      std::find_if(points.begin(), points.end(), [&](const MeasuredPoint& point) { return point.units >= units; });
  if (above == points.begin()) return above->parts_s;
  const auto below = std::prev(above);
  if (above == points.end()) return below->parts_s;
  const double share = (units - below->units) / (above->units - below->units);
  std::array<double, MeasuredPoint::most_parts> seconds{};
  for (std::size_t part = 0; part < seconds.size(); ++part) {
    seconds[part] = std::lerp(below->parts_s[part], above->parts_s[part], share);
  }
  return seconds;
}

FpmFile read_fpm_file(const std::filesystem::path& path) {
  if (path.extension() == ".fpm") return read_fupermod_file(path);
  FpmFile file = read_fpm(path.string(), read_json_file(path));
  file.make_do();
  if (file.points.empty()) {
    throw FileFormatError(path.string(), "points", "is empty (expected at least one measured size)");
  }
  return file;
}

void write_fpm_file(const std::filesystem::path& path, const FpmFile& file) { write_json_file(path, fpm_json(file)); }

std::string format_fpm(const FpmFile& file) {
  return fpm_json(file).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

FpmFile parse_fpm_description(const std::string& text, const std::string& name) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) throw FileFormatError(name, "", "is not valid JSON");
  return read_fpm(name, json);
}

}  // namespace steelyard::models
