// The 2D wave equation on host and companion units of every rank at once.

#include <CLI/CLI.hpp>

#include "miniapps/wave2d/app.hpp"

int main(int argc, char** argv) {
  using namespace steelyard;
  CLI::App parser("2D wave equation on host and companion units at once, on slices sized by speed models", "wave2d");
  wave2d::Options options;
  wave2d::add_options(parser, options);
  return run_program(argc, argv, parser, [&](Session& session) { return wave2d::run(session, options); });
}
