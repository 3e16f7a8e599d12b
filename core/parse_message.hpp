#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace steelyard {

/// What is wrong with a command line, in a line that names the argument, what was expected and, of a word that is
/// misspelt, the right one.
/// @param parser which has just thrown `error`
std::string parse_message(const CLI::App& parser, const CLI::ParseError& error);

/// @throws InvalidArgument naming an option of the command line whose value has no characters, such as `--output ''`
void require_values(const CLI::App& parser);

}  // namespace steelyard
