#pragma once

#include <cstring>
#include <sstream>

#include "tests/base/xml_elements.hpp"

namespace steelyard::tests {

/// A file taken apart as the format says: XML up to an underscore, for each array a length of 8 bytes and that many
/// bytes, XML.
struct VtiParts {
  struct Array {
    std::map<std::string, std::string> attributes;
    std::string data;
  };
  std::map<std::string, std::string> attributes;  ///< by element.attribute; of several arrays, those of the first
  std::vector<Array> arrays;
};

inline VtiParts parse_vti(const std::string& bytes) {
  const std::string declaration = "<?xml version=\"1.0\"?>\n", closing = "\n  </AppendedData>\n</VTKFile>\n";
  REQUIRE((bytes.starts_with(declaration) && bytes.ends_with(closing)));
  const std::size_t mark = bytes.find('_', bytes.find("<AppendedData"));
  REQUIRE(mark != std::string::npos);
  VtiParts parsed;
  for (const XmlElement& element : elements_of(bytes.substr(declaration.size(), mark - declaration.size()) + closing)) {
    REQUIRE(element.text.find_first_not_of(" \n") == std::string::npos);
    if (element.name == "DataArray") parsed.arrays.push_back({element.attributes, ""});
    if (element.name == "DataArray" && parsed.arrays.size() > 1) continue;
    for (const auto& [key, value] : element.attributes) {
      REQUIRE(parsed.attributes.emplace(element.name + "." + key, value).second);
    }
  }
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
  REQUIRE(bytes.size() - at == closing.size());
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
