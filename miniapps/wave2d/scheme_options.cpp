#include "miniapps/wave2d/scheme_options.hpp"

#include <CLI/CLI.hpp>

namespace steelyard::wave2d {

void add_order_option(CLI::App& parser, int& order) {
  parser.add_option("--order", order, "Order in space: 2 (5 points) or 4 (9 points) (default 2)")
      ->check(CLI::IsMember({2, 4}))
      ->type_name("2|4");
}

}  // namespace steelyard::wave2d
