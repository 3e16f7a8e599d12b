#pragma once

#include "miniapps/fft2d/exchange.hpp"

namespace CLI {
class App;
}

namespace steelyard::fft2d {

/// Adds `--exchange` and `--batches`, which the program and `steelyard predict fft2d` share.
void add_exchange_options(CLI::App& parser, ExchangeOptions& exchange);

}  // namespace steelyard::fft2d
