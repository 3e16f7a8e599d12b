#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace steelyard {

/// An option that takes a whole number of a range. @param what it is, for `--help`
template <class Number>
CLI::Option* add_number(CLI::App& parser, const std::string& name, Number& number, const std::string& description,
                        std::int64_t least, std::int64_t most, const std::string& what = "N") {
  return parser.add_option(name, number, description)->check(CLI::Range(least, most))->type_name(what);
}

/// An option that takes one of some words, which stand for the values of an enumeration in its order.
/// @param value an enumerator, or std::optional of one
template <class Enumeration, class Value>
CLI::Option* add_choice(CLI::App& parser, const std::string& name, Value& value, const std::vector<std::string>& words,
                        const std::string& description) {
  const auto choose = [&value, words](const std::string& word) {
    value = static_cast<Enumeration>(std::find(words.begin(), words.end(), word) - words.begin());
  };
  return parser.add_option_function<std::string>(name, choose, description)
      ->check(CLI::IsMember(words))
      ->type_name(CLI::detail::join(words, "|"));
}

}  // namespace steelyard
