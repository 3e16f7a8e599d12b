#pragma once

namespace CLI {
class App;
}

namespace steelyard::wave2d {

/// Adds `--order 2|4`, which the program and `steelyard measure wave2d` share.
void add_order_option(CLI::App& parser, int& order);

}  // namespace steelyard::wave2d
