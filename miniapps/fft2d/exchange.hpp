#pragma once

#include <optional>
#include <string>
#include <vector>

namespace steelyard::fft2d {

/// When what a pass has made for other ranks is sent.
enum class Exchange {
  at_once,    ///< when the pass has ended
  pipelined,  ///< batch by batch, while the next one is transformed
};

struct ExchangeChoice {
  Exchange exchange = Exchange::at_once;
  int batches = 8;  ///< of a unit's rows, where it is pipelined

  /// Batches that a unit's rows are cut into.
  int parts() const { return exchange == Exchange::pipelined ? batches : 1; }
};

/// What the user asks for.
struct ExchangeOptions {
  std::optional<Exchange> exchange;
  int batches = 8;

  /// Unless the user says otherwise, pipelined between nodes: inside one the cores that transform copy the messages, so
  /// that nothing goes on at the same time and batches only cost.
  ExchangeChoice choice(int nodes) const {
    return {exchange.value_or(nodes > 1 ? Exchange::pipelined : Exchange::at_once), batches};
  }
};

/// `at-once`, `pipelined`, in the order of the values.
inline const std::vector<std::string>& exchange_names() {
  static const std::vector<std::string> names{"at-once", "pipelined"};
  return names;
}

}  // namespace steelyard::fft2d
