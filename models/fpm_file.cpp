#include "models/fpm_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <sstream>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/text_file.hpp"

namespace steelyard::models {
namespace {

bool is_count(double number) {
  return number >= 1.0 && number <= std::numeric_limits<int>::max() && number == std::floor(number);
}

/// A point of a file, whose sizes grow from `before`.
/// @param numbers its size, seconds, repetitions and confidence interval, which are called `keys` in the file
/// @param fail called with key and problem of a number that is none of a point
template <class Fail>
MeasuredPoint checked_point(double before, const std::array<double, 4>& numbers, const std::array<const char*, 4>& keys,
                            const Fail& fail) {
  const auto [units, time_s, repetitions, confidence_s] = numbers;
  if (!(units > before)) fail(keys[0], fmt::format("is {} after {} (expected increasing sizes > 0)", units, before));
  if (!(time_s > 0.0)) fail(keys[1], fmt::format("is {} (expected seconds > 0)", time_s));
  if (!is_count(repetitions)) fail(keys[2], fmt::format("is {} (expected 1, 2, …)", repetitions));
  if (!(confidence_s >= 0.0)) fail(keys[3], fmt::format("is {} (expected seconds >= 0)", confidence_s));
  return {units, time_s, static_cast<int>(repetitions), confidence_s};
}

FpmFile read_fupermod_file(const std::filesystem::path& path) {
  constexpr std::array<const char*, 4> columns{"d", "t", "reps", "ci"};
  FpmFile file;
  int line_number = 0;
  const auto fail = [&](const std::string& column, const std::string& problem) {
    throw FileFormatError(path.string(), fmt::format("line {}", line_number), column + " " + problem);
  };
  std::istringstream lines(read_text_file(path));
  for (std::string line; std::getline(lines, line);) {
    ++line_number;
    std::istringstream stream(line);
    const std::vector<std::string> words(std::istream_iterator<std::string>(stream), {});
    if (words.empty() || words[0].starts_with('#')) continue;
    if (words.size() < 2) fail("t", "is missing (expected d t reps ci)");
    std::array<double, 4> numbers{0.0, 0.0, 1.0, 0.0};
    for (std::size_t i = 0; i < std::min(words.size(), columns.size()); ++i) {
      const char* const word_end = words[i].data() + words[i].size();
      const auto [end, error] = std::from_chars(words[i].data(), word_end, numbers[i]);
      if (error != std::errc() || end != word_end || !std::isfinite(numbers[i])) {
        fail(columns[i], fmt::format("is \"{}\" (expected a finite number)", excerpt(words[i])));
      }
    }
    const double before = file.points.empty() ? 0.0 : file.points.back().units;
    file.points.push_back(checked_point(before, numbers, columns, fail));
  }
  if (file.points.empty()) throw FileFormatError(path.string(), "", "has no points (expected lines of d t reps ci)");
  return file;
}

constexpr const char* schema = "steelyard.fpm/1";

int read_count(const JsonReader& reader, const std::string& key, double otherwise) {
  const double count = reader.number(key, otherwise);
  if (!is_count(count)) reader.fail(key, fmt::format("is {} (expected 1, 2, …)", count));
  return static_cast<int>(count);
}

MeasuredPoint read_point(const JsonReader& reader, double before, const std::vector<std::string>& part_names) {
  MeasuredPoint point = checked_point(before,
                                      {reader.number("units"), reader.number("time_s"),
                                       reader.number("repetitions", 1.0), reader.number("confidence_s", 0.0)},
                                      {"units", "time_s", "repetitions", "confidence_s"},
                                      [&](const char* key, const std::string& problem) { reader.fail(key, problem); });
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

FpmFile read_fpm(const std::string& name, const nlohmann::json& json) {
  const JsonReader reader(name, json);
  reader.require_schema(schema);
  FpmFile file;
  file.app = reader.text("app", "");
  file.kernel = reader.text("kernel", "");
  file.element = reader.text("element", "");
  if (reader.has("unit")) {
    const JsonReader unit = reader.object("unit");
    file.unit_kind = unit.text("kind", "");
    file.unit_cores = unit.text("cores", "");
    file.unit_bound = unit.flag("bound", true);
    file.unit_device = unit.text("device", "");
    file.unit_blas = unit.text("blas", "");
    file.slowdown = unit.number("slowdown", 1.0);
    if (!(file.slowdown >= 1.0)) unit.fail("slowdown", fmt::format("is {} (expected >= 1)", file.slowdown));
  }
  file.computation_unit = reader.text("computation_unit", "");
  if (reader.has("parameters")) {
    const JsonReader parameters = reader.object("parameters");
    for (const auto& [key, value] : parameters.value().items()) file.parameters[key] = parameters.number(key);
  }
  if (reader.has("parts")) {
    const nlohmann::json& names = reader.value()["parts"];
    const auto is_text = [](const nlohmann::json& part) { return part.is_string(); };
    if (!std::ranges::all_of(names, is_text) || names.size() > MeasuredPoint::most_parts) {
      reader.fail("parts", fmt::format("is {} (expected at most {} names)", excerpt(names), MeasuredPoint::most_parts));
    }
    for (const nlohmann::json& part : names) file.parts.push_back(part);
  }
  file.flops_per_unit = reader.number("flops_per_unit", 0.0);
  file.bytes_per_unit = reader.number("bytes_per_unit", 0.0);
  file.in_core_units = read_limit(reader, "in_core_units");
  file.max_units = read_limit(reader, "max_units");
  file.solo = reader.flag("solo", false);
  file.machine = reader.text("machine", "");
  file.date = reader.text("date", "");
  file.commit = reader.text("commit", "");
  file.note = reader.text("note", "");
  if (reader.has("drift")) {
    const JsonReader drift = reader.object("drift");
    file.drift = {drift.number("share"), read_count(drift, "degrees", drift.number("degrees")),
                  read_count(drift, "rounds", 1.0)};
    if (file.drift.share < 0.0) drift.fail("share", fmt::format("is {} (expected >= 0)", file.drift.share));
  }
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
  if (!file.unit_blas.empty()) json["unit"]["blas"] = file.unit_blas;
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
  if (!file.note.empty()) json["note"] = file.note;
  if (file.drift.degrees > 0) {
    json["drift"] = {{"share", file.drift.share}, {"degrees", file.drift.degrees}, {"rounds", file.drift.rounds}};
  }
  json["points"] = points_json(file.all_imprecise ? std::vector<MeasuredPoint>{} : file.points, file.parts);
  const std::vector<MeasuredPoint>& imprecise = file.all_imprecise ? file.points : file.imprecise;
  if (!imprecise.empty()) json["imprecise_points"] = points_json(imprecise, file.parts);
  return json;
}

}  // namespace

std::array<double, MeasuredPoint::most_parts> FpmFile::parts_s(double units) const {
  std::array<double, MeasuredPoint::most_parts> seconds{};
  if (points.empty()) return seconds;
  const auto [left, right, share] = place_among(points, units);
  for (std::size_t part = 0; part < seconds.size(); ++part) {
    seconds[part] = std::lerp(points[left].parts_s[part], points[right].parts_s[part], share);
  }
  return seconds;
}

FpmFile read_fpm_file(const std::filesystem::path& path) {
  if (path.extension() == ".fpm") return read_fupermod_file(path);
  FpmFile file = read_fpm(path.string(), read_json_file(path));
  if (file.points.empty()) {
    file.points.swap(file.imprecise);
    file.all_imprecise = !file.points.empty();
  }
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
