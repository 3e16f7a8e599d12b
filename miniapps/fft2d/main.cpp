// The 2D discrete Fourier transform on host and companion units of every rank at once.

#include <CLI/CLI.hpp>

#include "miniapps/fft2d/app.hpp"

int main(int argc, char** argv) {
  using namespace steelyard;
  CLI::App parser("2D Fourier transform on host and companion units at once, on slices sized by speed models", "fft2d");
  fft2d::Options options;
  fft2d::add_options(parser, options);
  return run_program(argc, argv, parser, [&](Session& session) { return fft2d::run(session, options); });
}
