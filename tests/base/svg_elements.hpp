#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace steelyard::tests {

/// What a chart consists of, as a reader of its text finds it.
struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;
};

/// Name and attributes from the inside of a tag; fails unless every attribute is new and quoted.
inline Element element_of(const std::string& inside) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";
  std::size_t at = std::min(inside.find_first_not_of(letters), inside.size());
  REQUIRE(at > 0);
  Element element{inside.substr(0, at), {}, ""};
  while (at < inside.size()) {
    REQUIRE(inside[at] == ' ');
    const std::size_t equals = inside.find_first_not_of(letters, at + 1);
    REQUIRE(inside.compare(equals, 2, "=\"") == 0);
    const std::size_t end = inside.find('"', equals + 2);
    REQUIRE(end != std::string::npos);
    const std::string name = inside.substr(at + 1, equals - at - 1);
    REQUIRE(element.attributes.emplace(name, inside.substr(equals + 2, end - equals - 2)).second);
    at = end + 1;
  }
  return element;
}

/// All elements in the order of their opening tags; fails for text that is not well-formed.
inline std::vector<Element> elements_of(const std::string& svg) {
  static const std::regex stray("&(?!(amp|lt|gt|quot|#39);)");
  REQUIRE_FALSE(std::regex_search(svg, stray));
  std::vector<Element> elements;
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < svg.size();) {
    const std::size_t begin = std::min(svg.find('<', at), svg.size());
    const std::string text = svg.substr(at, begin - at);
    REQUIRE(text.find('>') == std::string::npos);
    if (open.empty()) REQUIRE(text.find_first_not_of('\n') == std::string::npos);
    if (!open.empty()) elements[open.back()].text += text;
    if (begin == svg.size()) break;
    const std::size_t end = svg.find('>', begin);
    REQUIRE(end != std::string::npos);
    std::string inside = svg.substr(begin + 1, end - begin - 1);
    REQUIRE(inside.find('<') == std::string::npos);
    at = end + 1;
    if (inside.starts_with('/')) {
      REQUIRE(!open.empty());
      REQUIRE(elements[open.back()].name == inside.substr(1));
      open.pop_back();
      continue;
    }
    REQUIRE((elements.empty() || !open.empty()));  // one root
    const bool closed = inside.ends_with('/');
    if (closed) inside.pop_back();
    elements.push_back(element_of(inside));
    if (!closed) open.push_back(elements.size() - 1);
  }
  REQUIRE(open.empty());
  return elements;
}

inline std::vector<Element> of_class(const std::vector<Element>& elements, const std::string& name) {
  std::vector<Element> found;
  for (const Element& element : elements) {
    const auto it = element.attributes.find("class");
    if (it != element.attributes.end() && it->second == name) found.push_back(element);
  }
  return found;
}

using Points = std::vector<std::pair<double, double>>;

inline std::vector<double> numbers_in(const std::string& text) {
  static const std::regex number(R"re(-?[0-9]+(\.[0-9]+)?)re");
  std::vector<double> numbers;
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
    numbers.push_back(std::stod(it->str()));
  }
  return numbers;
}

/// Where the marks of the data are; those of the legend have no values to point at.
inline Points marks_of(const std::string& svg) {
  Points points;
  const auto elements = elements_of(svg);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto transform = elements[i].attributes.find("transform");
    if (of_class({elements[i]}, "plot-mark").empty() || i + 1 == elements.size() || elements[i + 1].name != "title") {
      continue;
    }
    const auto numbers = numbers_in(transform->second);
    points.emplace_back(numbers.at(0), numbers.at(1));
  }
  return points;
}

/// The absolute points of a path of M, L, V, H and relative lines, in order.
inline Points path_points(const std::string& path) {
  static const std::regex command(R"re(([MLHVh])([^MLHVh]*))re");
  Points points;
  double x = 0.0;
  double y = 0.0;
  for (std::sregex_iterator it(path.begin(), path.end(), command), end; it != end; ++it) {
    const auto numbers = numbers_in((*it)[2]);
    const char letter = (*it)[1].str()[0];
    if (letter == 'V') {
      y = numbers.at(0);
    } else {
      x = letter == 'h' ? x + numbers.at(0) : numbers.at(0);
    }
    if (letter == 'M' || letter == 'L') y = numbers.at(1);
    points.emplace_back(x, y);
  }
  return points;
}

}  // namespace steelyard::tests
