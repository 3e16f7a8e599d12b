#pragma once

#include <map>
#include <regex>

#include "tests/catch.hpp"

namespace steelyard::tests {

/// An element of an XML file; its text is that between its tags, without that of elements within.
struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;
};

/// The attributes ` name="value"` of a tag, of any length, which the library's regular expressions do not take.
inline std::map<std::string, std::string> attributes_of(std::string text) {
  std::map<std::string, std::string> attributes;
  while (!text.empty()) {
    const std::size_t equals = text.find("=\""), end = text.find('"', std::min(equals, text.size()) + 2);
    REQUIRE((text[0] == ' ' && equals != std::string::npos && end != std::string::npos));
    const std::string name = text.substr(1, equals - 1), value = text.substr(equals + 2, end - equals - 2);
    REQUIRE(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == std::string::npos);
    REQUIRE((!name.empty() && value.find('<') == std::string::npos));
    REQUIRE(attributes.emplace(name, value).second);
    text.erase(0, end + 1);
  }
  return attributes;
}

/// All elements in the order of their opening tags; fails for text that is not well-formed.
inline std::vector<XmlElement> elements_of(const std::string& xml) {
  static const std::regex stray("&(?!(amp|lt|gt|quot|#39);)");
  REQUIRE_FALSE(std::regex_search(xml, stray));
  std::vector<XmlElement> elements;
  std::vector<std::size_t> open;
  std::string rest = xml;
  for (std::size_t begin = 0; (begin = rest.find('<')) != std::string::npos;) {
    const std::size_t end = rest.find('>', begin);
    REQUIRE(end != std::string::npos);
    const std::string text = rest.substr(0, begin);
    std::string tag = rest.substr(begin + 1, end - begin - 1);
    rest.erase(0, end + 1);
    REQUIRE(text.find('>') == std::string::npos);
    if (!open.empty()) elements[open.back()].text += text;
    if (tag.starts_with('/')) {
      REQUIRE(!open.empty());
      REQUIRE(elements[open.back()].name == tag.substr(1));
      open.pop_back();
      continue;
    }
    REQUIRE((elements.empty() || !open.empty()));  // one root
    const bool is_empty = tag.ends_with('/');
    if (is_empty) tag.pop_back();
    const std::size_t name_end = std::min(tag.find(' '), tag.size());
    elements.push_back({tag.substr(0, name_end), attributes_of(tag.substr(name_end)), ""});
    if (!is_empty) open.push_back(elements.size() - 1);
  }
  REQUIRE(open.empty());
  REQUIRE(rest == "\n");
  return elements;
}

}  // namespace steelyard::tests
