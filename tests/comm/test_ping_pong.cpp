#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "comm/collective.hpp"
#include "comm/ping_pong.hpp"
#include "tests/comm/started_session.hpp"

using namespace steelyard;
using steelyard::tests::session;

TEST_CASE("partners measure a positive time for every size, in the order asked for") {
  const int partner = session().rank() ^ 1;
  if (partner >= session().size()) return;
  const std::vector<double> sizes{4096.0, 0.0, 8.0, 262144.0};
  const auto messages = ping_pong(session().comm(), partner, sizes, 20);
  CHECK(messages.size() == sizes.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    CHECK(messages[i].bytes == sizes[i]);
    CHECK(messages[i].time_s > 0.0);
  }
  CHECK(ping_pong(session().comm(), partner, {}, 20).empty());
  // Fewer round trips than are timed at once are still enough.
  CHECK(ping_pong(session().comm(), partner, {8.0}, 1).at(0).time_s > 0.0);
}

TEST_CASE("neighbours find one latency and bandwidth for all ranks; a single rank has no neighbours") {
  const auto hockney = measure_neighbours(session().comm(), 1 << 18);
  CHECK(hockney.has_value() == (session().size() > 1));
  if (!hockney) return;
  CHECK(hockney->bandwidth_bytes_per_s > 0.0);
  CHECK(hockney->latency_s >= 0.0);
  const auto all = all_gather(session().comm(), {hockney->bandwidth_bytes_per_s, hockney->latency_s});
  for (std::size_t i = 0; i < all.size(); i += 2) {
    CHECK(all[i] == hockney->bandwidth_bytes_per_s);
    CHECK(all[i + 1] == hockney->latency_s);
  }
}

TEST_CASE("a bandwidth is found for rows of any length, however much other processes disturb") {
  for (const double bytes : {8.0, 64.0, 1000.0, 8192.0}) {
    CAPTURE(bytes);
    for (int i = 0; i < 3; ++i) {
      const auto hockney = measure_neighbours(session().comm(), bytes);
      if (hockney) CHECK(hockney->bandwidth_bytes_per_s > 0.0);
    }
  }
}
