#include "miniapps/fft2d/exchange_options.hpp"

#include <CLI/CLI.hpp>

namespace steelyard::fft2d {

void add_exchange_options(CLI::App& parser, ExchangeOptions& exchange) {
  parser
      .add_option_function<std::string>(
          "--exchange",
          [&exchange](const std::string& word) {
            exchange.exchange = word == exchange_names()[0] ? Exchange::at_once : Exchange::pipelined;
          },
          "When ranks send what a pass has made: at its end (default on one node), or batch by batch on the way "
          "(default on several)")
      ->check(CLI::IsMember(exchange_names()))
      ->type_name("at-once|pipelined");
  parser.add_option("--batches", exchange.batches, "Batches of a unit's rows, where it is pipelined")
      ->check(CLI::Range(1, 4096))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace steelyard::fft2d
