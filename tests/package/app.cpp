// A mini-app of somebody else's, as far as its command line.
#include <CLI/CLI.hpp>

#include "steelyard/miniapps/app/mini_app.hpp"

int main() {
  steelyard::RunOptions options;
  CLI::App parser("An app outside the tree", "outside");
  steelyard::add_standard_options(parser);
  const steelyard::AppOptions parsers(parser, steelyard::Verb::run);
  steelyard::add_run_options(parsers, options);
  const char* const words[] = {"outside", "--repetitions", "2"};
  steelyard::parse_command_line(parser, 3, words);
  return options.repetitions == 2 ? 0 : 1;
}
