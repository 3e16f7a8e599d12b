// One matrix multiplication over the processing units of many ranks, each with a rectangle of the matrices.

#include <CLI/CLI.hpp>

#include "miniapps/summa/app.hpp"

int main(int argc, char** argv) {
  using namespace steelyard;
  CLI::App parser("C += A B over ranks whose speeds differ, on rectangles sized by speed models (SUMMA)", "summa");
  summa::Options options;
  summa::add_options(parser, options);
  return run_program(argc, argv, parser, [&](Session& session) { return summa::run(session, options); });
}
