#pragma once

#include <nlohmann/json.hpp>

namespace steelyard::tests {

inline nlohmann::json segment(const nlohmann::json& up_to_bytes, double latency_s, double bandwidth) {
  return {{"up_to_bytes", up_to_bytes}, {"latency_s", latency_s}, {"bandwidth_bytes_per_s", bandwidth}};
}

inline nlohmann::json tau_lop(double seconds_per_byte) {
  return {{"overhead", {{{"bytes", 0}, {"time_s", 1e-7}}, {{"bytes", 4096}, {"time_s", 3e-7}}}},
          {"transfer",
           {{{"bytes", 4096}, {"concurrency", 1}, {"time_s", 4096 * seconds_per_byte}},
            {{"bytes", 65536}, {"concurrency", 1}, {"time_s", 65536 * seconds_per_byte}},
            {{"bytes", 65536}, {"concurrency", 4}, {"time_s", 2 * 65536 * seconds_per_byte}}}}};
}

/// Shared memory in two segments and a network, each with everything that a channel can have.
inline nlohmann::json two_channels() {
  const nlohmann::json loggp = {{"latency_s", 1e-6},
                                {"send_overhead_s", 2e-7},
                                {"receive_overhead_s", 3e-7},
                                {"gap_s", 4e-7},
                                {"gap_per_byte_s", 1e-10}};
  return {{"schema", "steelyard.platform/1"},
          {"commit", "0123abc"},
          {"mpi", "Open MPI 4.1.4"},
          {"channels",
           {{{"id", 0},
             {"name", "shared memory"},
             {"scope", "node"},
             {"path", {0, 0}},
             {"hockney", {{"segments", {segment(4096, 1e-7, 5e9), segment(nullptr, 1e-6, 1e10)}}}},
             {"loggp", loggp},
             {"tau_lop", tau_lop(1e-10)}},
            {{"id", 1},
             {"name", "network"},
             {"scope", "network"},
             {"path", {0, 1, 0}},
             {"between", {"fat", "thin"}},
             {"hockney", {{"segments", {segment(nullptr, 2e-6, 1e9)}}}},
             {"loggp", loggp},
             {"tau_lop", tau_lop(1e-9)}}}},
          {"nodes",
           {{{"host", "a"}, {"kind", "fat"}, {"cores", 64}, {"memory_bytes_per_s", 2e11}},
            {{"host", "b"}, {"kind", "thin"}, {"cores", 8}}}}};
}

}  // namespace steelyard::tests
