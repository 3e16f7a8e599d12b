// The flow in a lid-driven cavity on host and companion units of every rank at once.

#include <CLI/CLI.hpp>

#include "miniapps/cavity/app.hpp"

int main(int argc, char** argv) {
  using namespace steelyard;
  CLI::App parser("Lid-driven cavity flow on host and companion units at once, on slices sized by speed models",
                  "cavity");
  cavity::Options options;
  cavity::add_options(parser, options);
  return run_program(argc, argv, parser, [&](Session& session) { return cavity::run(session, options); });
}
