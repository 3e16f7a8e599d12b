#include "core/base/json_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"

namespace steelyard {

nlohmann::json read_json_file(const std::filesystem::path& path) {
  const std::string text = read_text_file(path);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    std::size_t line = 1;
    for (std::size_t i = 0; i + 1 < error.byte && i < text.size(); ++i) line += text[i] == '\n' ? 1U : 0U;
    throw FileFormatError(path.string(), fmt::format("line {}", line),
                          "is not valid JSON here (truncated or mistyped)");
  } catch (const nlohmann::json::out_of_range& error) {
    throw FileFormatError(path.string(), "", fmt::format("holds a number that is too large ({})", error.what()));
  }
}

void write_json_file(const std::filesystem::path& path, const nlohmann::ordered_json& value) {
  write_text_file(path, value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

std::string excerpt(const nlohmann::json& value) {
  const auto is_structured = [](const nlohmann::json& element) { return element.is_structured(); };
  if (value.is_structured() && std::ranges::any_of(value, is_structured)) {
    return fmt::format("a nested {}", value.type_name());
  }
  return excerpt(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

JsonReader::JsonReader(std::string path, const nlohmann::json& value, std::string where)
    : path_(std::move(path)), value_(&value), where_(std::move(where)) {
  if (!value.is_object()) {
    throw FileFormatError(path_, where_, fmt::format("is {} (expected a JSON object)", value.type_name()));
  }
}

std::string JsonReader::place(const std::string& key) const {
  return where_ + (where_.empty() || key.empty() ? "" : ".") + key;
}

void JsonReader::fail(const std::string& key, const std::string& problem) const {
  throw FileFormatError(path_, place(key), problem);
}

bool JsonReader::has(const std::string& key) const { return value_->contains(key) && !(*value_)[key].is_null(); }

const nlohmann::json& JsonReader::member(const std::string& key) const {
  if (!value_->contains(key)) fail(key, "is missing");
  return (*value_)[key];
}

JsonReader JsonReader::object(const std::string& key) const { return {path_, member(key), place(key)}; }

std::vector<JsonReader> JsonReader::array(const std::string& key) const {
  const nlohmann::json& elements = member(key);
  if (!elements.is_array()) fail(key, fmt::format("is {} (expected an array)", elements.type_name()));
  std::vector<JsonReader> readers;
  readers.reserve(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    readers.emplace_back(path_, elements[i], fmt::format("{}[{}]", place(key), i));
  }
  return readers;
}

double JsonReader::number(const std::string& key) const {
  const nlohmann::json& value = member(key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    fail(key, fmt::format("is {} (expected a finite number)", excerpt(value)));
  }
  return value.get<double>();
}

double JsonReader::number(const std::string& key, double otherwise) const { return has(key) ? number(key) : otherwise; }

std::string JsonReader::text(const std::string& key) const {
  const nlohmann::json& value = member(key);
  if (!value.is_string()) fail(key, fmt::format("is {} (expected a string)", excerpt(value)));
  return value.get<std::string>();
}

std::string JsonReader::text(const std::string& key, const std::string& otherwise) const {
  return has(key) ? text(key) : otherwise;
}

bool JsonReader::flag(const std::string& key, bool otherwise) const {
  if (!has(key)) return otherwise;
  const nlohmann::json& value = member(key);
  if (!value.is_boolean()) fail(key, fmt::format("is {} (expected true or false)", excerpt(value)));
  return value.get<bool>();
}

void JsonReader::require_schema(const std::string& expected) const {
  const std::string found = text("schema");
  if (found != expected) fail("schema", fmt::format("is \"{}\" (expected \"{}\")", excerpt(found), expected));
}

}  // namespace steelyard
