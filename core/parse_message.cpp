#include "core/parse_message.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "core/base/errors.hpp"

namespace steelyard {
namespace {

using Words = std::vector<std::string>;

/// The command that the line has come to: the parser itself, or the subcommand's subcommand … that was chosen.
const CLI::App& chosen_command(const CLI::App& parser) {
  const CLI::App* command = &parser;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

Words subcommand_names(const CLI::App& command) {
  Words names;
  for (const CLI::App* subcommand : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

Words option_names(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Least number of characters to insert, remove or replace that makes one word of the other (Levenshtein).
std::size_t edit_distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : from) {
    std::size_t diagonal = row[0]++;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t replaced = diagonal + (letter == to[i] ? 0 : 1);
      diagonal = row[i + 1];
      row[i + 1] = std::min({replaced, row[i] + 1, row[i + 1] + 1});
    }
  }
  return row.back();
}

/// `; did you mean X?` where one of the names begins like the word or differs from it by about a third of it at most.
std::string suggestion(const std::string& word, const Words& names) {
  std::string nearest;
  std::size_t least = (word.size() + 2) / 3 + 1;
  for (const std::string& name : names) {
    const bool is_short_for = word.size() > 3 && name.starts_with(word);
    const std::size_t distance = is_short_for ? 0 : edit_distance(word, name);
    if (distance >= least || distance >= word.size()) continue;
    least = distance;
    nearest = name;
  }
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

std::string expected(const Words& names) {
  std::string text = "expected ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text;
}

/// Of words that no option or subcommand takes.
std::string surplus_message(const CLI::App& parser) {
  const CLI::App& command = chosen_command(parser);
  const Words words = parser.remaining(true);
  const auto option = std::find_if(words.begin(), words.end(), [](const auto& word) { return word.starts_with("-"); });
  if (option != words.end()) {
    const std::string name = option->substr(0, option->find('='));
    return fmt::format("{} is not expected{}", name, suggestion(name, option_names(command)));
  }
  const std::string word = words.empty() ? "an argument" : words.front();
  const Words names = subcommand_names(command);
  if (names.empty()) return fmt::format("{} is not expected", word);
  return fmt::format("{} is not expected ({}{})", word, expected(names), suggestion(word, names));
}

/// Takes what stands before `mark` off the front of a text, and the mark; nothing, and nothing taken, without a mark.
std::optional<std::string> take_before(std::string& text, const std::string& mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::string before = text.substr(0, at);
  text.erase(0, at + mark.size());
  return before;
}

/// CLI11's own message, with the option before its value and what is expected in brackets behind it. They are
/// `OPTION: Value VALUE not in range LEAST to MOST`, `OPTION: VALUE not in {CHOICE,…}`,
/// `OPTION: 1 required TYPE missing`, `Could not convert: OPTION = VALUE` and what validators say.
std::string value_message(const CLI::App& command, const CLI::ParseError& error) {
  std::string rest = error.what();
  if (rest.starts_with("Could not convert: ")) {
    const std::size_t equals = rest.find(" = ");
    const std::string option = rest.substr(19, equals - 19);
    const CLI::Option* known = command.get_option_no_throw(option);
    const bool is_flag = known != nullptr && known->get_items_expected_max() == 0;
    return fmt::format("{} {} (expected {})", option, rest.substr(equals + 3), is_flag ? "no value" : "a number");
  }
  const std::size_t colon = rest.find(": ");
  if (colon == std::string::npos || !rest.starts_with("--")) return rest;
  const std::string option = rest.substr(0, colon);
  rest.erase(0, colon + 2);
  const bool has_value = rest.starts_with("Value ");
  if (has_value) rest.erase(0, 6);
  if (const auto value = take_before(rest, " not in {")) {
    const Words names = CLI::detail::split(rest.substr(0, rest.find('}')), ',');
    return fmt::format("{} {} ({}{})", option, *value, expected(names), suggestion(*value, names));
  }
  if (const auto value = take_before(rest, " not in range ")) {
    std::erase_if(rest, [](char letter) { return letter == '[' || letter == ']'; });
    // CLI11 writes `LEAST - MOST` from 2.5 on.
    if (const std::size_t dash = rest.find(" - "); dash != std::string::npos) rest.replace(dash, 3, " to ");
    return fmt::format("{} {} (expected a number from {})", option, *value, rest);
  }
  if (rest.starts_with("At Most 1 ")) return fmt::format("{} is given more than once", option);
  if (rest.ends_with(" missing")) return fmt::format("{} has no value", option);
  const bool is_value = has_value || dynamic_cast<const CLI::ValidationError*>(&error) != nullptr;
  return is_value ? fmt::format("{} {}", option, rest) : error.what();
}

}  // namespace

std::string parse_message(const CLI::App& parser, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return surplus_message(parser);
  const CLI::App& command = chosen_command(parser);
  const Words names = subcommand_names(command);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !names.empty()) {
    return fmt::format("{} ({})", error.what(), expected(names));
  }
  return value_message(command, error);
}

void require_values(const CLI::App& parser) {
  for (const CLI::Option* option : parser.get_options()) {
    const Words& values = option->results();
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    throw InvalidArgument(fmt::format("{} has an empty value (see --help)", option->get_name()));
  }
  for (const CLI::App* subcommand : parser.get_subcommands()) require_values(*subcommand);
}

}  // namespace steelyard
