#pragma once

namespace CLI {
class App;
}

namespace steelyard::wave2d {

/// Adds `--order 2|4`, which the program and `steelyard measure wave2d` share.
void add_order_option(CLI::App& parser, int& order);

/// The most steps that a pass may make: what scratch memory and patience hold.
inline constexpr int most_steps_per_pass = 64;

}  // namespace steelyard::wave2d
