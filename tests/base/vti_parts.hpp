#pragma once

#include <cstring>
#include <map>
#include <regex>
#include <sstream>

#include "tests/catch.hpp"

namespace steelyard::tests {

/// A file taken apart as the format says: XML up to the underscore, for each array a length of 8 bytes and that many
/// bytes, XML.
struct VtiParts {
  struct Array {
    std::map<std::string, std::string> attributes;
    std::string data;
  };
  std::map<std::string, std::string> attributes;  ///< by element.attribute; of several arrays, those of the first
  std::vector<std::string> open;                  ///< the elements around the data
  std::vector<Array> arrays;
  std::string behind;
};

inline VtiParts parse_vti(const std::string& bytes) {
  VtiParts parsed;
  const std::size_t appended = bytes.find("<AppendedData");
  REQUIRE(appended != std::string::npos);
  const std::size_t mark = bytes.find('_', appended);
  REQUIRE(mark != std::string::npos);
  const std::string xml = bytes.substr(0, mark);
  REQUIRE(xml.starts_with("<?xml version=\"1.0\"?>\n"));
  static const std::regex tag(R"re(<(/?)([A-Za-z]+)((?: [A-Za-z_]+="[^"<]*")*)(/?)>)re");
  static const std::regex attribute(R"re( ([A-Za-z_]+)="([^"]*)")re");
  std::string text = xml.substr(xml.find('\n'));
  for (std::smatch match; std::regex_search(text, match, tag); text = match.suffix()) {
    REQUIRE(match.prefix().str().find_first_not_of(" \n") == std::string::npos);
    const std::string name = match[2];
    if (match[1].length() > 0) {
      REQUIRE(!parsed.open.empty());
      REQUIRE(parsed.open.back() == name);
      parsed.open.pop_back();
      continue;
    }
    const std::string attributes = match[3];
    std::map<std::string, std::string> found;
    for (std::sregex_iterator it(attributes.begin(), attributes.end(), attribute), end; it != end; ++it) {
      REQUIRE(found.emplace((*it)[1].str(), (*it)[2].str()).second);
    }
    const bool later_array = name == "DataArray" && !parsed.arrays.empty();
    for (const auto& [key, value] : found) {
      if (!later_array) REQUIRE(parsed.attributes.emplace(name + "." + key, value).second);
    }
    if (name == "DataArray") parsed.arrays.push_back({found, ""});
    if (match[4].length() == 0) parsed.open.push_back(name);
  }
  REQUIRE(text.find_first_not_of(" \n") == std::string::npos);
  std::size_t at = mark + 1;
  for (VtiParts::Array& array : parsed.arrays) {
    REQUIRE(array.attributes.at("offset") == std::to_string(at - (mark + 1)));
    std::uint64_t length = 0;
    REQUIRE(bytes.size() >= at + sizeof(length));
    std::memcpy(&length, bytes.data() + at, sizeof(length));
    at += sizeof(length);
    REQUIRE(bytes.size() - at >= length);
    array.data = bytes.substr(at, length);
    at += length;
  }
  parsed.behind = bytes.substr(at);
  return parsed;
}

/// The numbers in an attribute.
inline std::vector<double> numbers(const std::string& text) {
  std::istringstream stream(text);
  std::vector<double> found;
  for (double number = 0.0; stream >> number;) found.push_back(number);
  return found;
}

}  // namespace steelyard::tests
