#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace steelyard {

/// Parses a JSON file. @throws FileFormatError with the place of the first mistake
nlohmann::json read_json_file(const std::filesystem::path& path);

/// Writes a JSON value, indented, through write_text_file(). Bytes that are not UTF-8 become U+FFFD.
void write_json_file(const std::filesystem::path& path, const nlohmann::ordered_json& value);

/// Excerpt of a value for a message: the start of its text; of one that is nested its type alone.
std::string excerpt(const nlohmann::json& value);

/// Reads values out of a JSON object and, where one is missing or wrong, says which key of which file.
class JsonReader {
 public:
  /// @param where key path of `value` in the file, such as `points[3]`; empty at the top
  JsonReader(std::string path, const nlohmann::json& value, std::string where = "");

  bool has(const std::string& key) const;
  /// A member that is an object.
  JsonReader object(const std::string& key) const;
  /// The elements of a member that is an array.
  std::vector<JsonReader> array(const std::string& key) const;
  /// A finite number.
  double number(const std::string& key) const;
  double number(const std::string& key, double otherwise) const;
  std::string text(const std::string& key) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  /// true or false.
  bool flag(const std::string& key, bool otherwise) const;
  /// @throws FileFormatError unless member `schema` is `expected`
  void require_schema(const std::string& expected) const;

  const nlohmann::json& value() const { return *value_; }
  /// @throws FileFormatError always, naming the file and this object's `key`
  [[noreturn]] void fail(const std::string& key, const std::string& problem) const;

 private:
  const nlohmann::json& member(const std::string& key) const;
  /// Key path in the file.
  std::string place(const std::string& key) const;

  std::string path_;
  const nlohmann::json* value_;
  std::string where_;
};

}  // namespace steelyard
