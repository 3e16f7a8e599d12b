// One matrix multiplication on host and companion units of every rank at once.

#include <CLI/CLI.hpp>

#include "miniapps/gemm/app.hpp"

int main(int argc, char** argv) {
  using namespace steelyard;
  CLI::App parser("C = alpha A B + beta C on host and companion units at once, on slices sized by speed models",
                  "gemm");
  gemm::Options options;
  gemm::add_options(parser, options);
  return run_program(argc, argv, parser, [&](Session& session) { return gemm::run(session, options); });
}
