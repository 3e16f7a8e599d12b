#pragma once

#include "core/base/run_record.hpp"

namespace steelyard::tests {

/// A run on three units, the second of which is emulated.
inline RunRecord described_run() {
  RunRecord record;
  record.app = "app";
  record.params = {{"ranks", 2.0}, {"size", 9.0}};
  record.settings = {{"partition", "geometric"}, {"cores", "even share"}};
  record.units = {
      {0, "host", "OpenMP", "0-3", 1.0}, {0, "device", "Serial", "4", 2.5}, {1, "host", "OpenMP", "5", 1.0}};
  record.distribution = {60, 30, 10};
  return record;
}

}  // namespace steelyard::tests
