#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <utility>
#include <vector>

#include "comm/unit_messages.hpp"
#include "tests/comm/group_units.hpp"

namespace steelyard::test_unit_messages {

using namespace steelyard::tests;

namespace {

struct Message {
  int from = 0;
  int to = 0;
  std::int64_t length = 0;

  std::int64_t points() const { return length; }
};
using Messages = UnitMessages<double, Message>;

/// Between most slots, of different lengths.
std::vector<Message> messages_of(std::size_t slots) {
  std::vector<Message> messages;
  const int count = static_cast<int>(slots);
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      if (from != to && (from + 2 * to) % 5 != 4) messages.push_back({from, to, 1 + 37 * from + 5 * to});
    }
  }
  return messages;
}

/// What a message holds in a pass.
std::vector<double> content(const Message& message, int pass) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < message.length; ++i) {
    values.push_back(1e6 * pass + 1e3 * (message.from * 20 + message.to) + static_cast<double>(i));
  }
  return values;
}

template <class Execution>
void write(const UnitPeer<Execution>& peer, const MessageBuffer<double, Message>& buffer, int pass) {
  const std::vector<double> values = content(*buffer.message, pass);
  if (buffer.home == Home::host) {
    std::copy(values.begin(), values.end(), buffer.data);
  } else {
    copy_from_host(peer.space(), buffer.data, values.data(), values.size());
    peer.space().fence();
  }
}

template <class Execution>
bool holds(const UnitPeer<Execution>& peer, const MessageBuffer<double, Message>& buffer, int pass) {
  std::vector<double> values(buffer.data,
                             buffer.home == Home::host ? buffer.data + buffer.message->length : buffer.data);
  if (buffer.home == Home::unit) {
    values.resize(static_cast<std::size_t>(buffer.message->length));
    copy_to_host(peer.space(), values.data(), static_cast<const double*>(buffer.data), values.size());
    peer.space().fence();
  }
  return values == content(*buffer.message, pass);
}

}  // namespace

TEST_CASE("every unit takes in a pass what all others have packed for it in the pass before, whoever is late") {
  for (const Choice choice : choices) {
    for (const auto& [overlaps, barrier] : {std::pair{true, false}, {false, false}, {true, true}}) {
      GroupUnits units(choice);
      const std::vector<Message> all = messages_of(units.size());
      Messages messages(units.group(), all, overlaps, barrier);
      std::atomic<int> wrong = 0;
      // The second run goes on where the first one ended; what the third one begins with is loaded anew.
      for (const int run : {0, 1, 2}) {
        if (run == 2) messages.forget();
        units.group().run([&](const auto& peer) {
          Delays delays(peer.slot());
          const auto arriving =
              std::count_if(all.begin(), all.end(), [&](const Message& one) { return one.to == peer.slot(); });
          for (int pass = 0; pass < many_rounds(400); ++pass) {
            const auto& arrived = messages.arrived(peer.kind());
            const bool none = pass == 0 && run != 1;
            if (static_cast<std::ptrdiff_t>(arrived.size()) != (none ? 0 : arriving)) ++wrong;
            const int before = pass == 0 ? many_rounds(400) - 1 : pass - 1;
            for (const auto& buffer : arrived) wrong += holds(peer, buffer, before) ? 0 : 1;
            for (const auto& buffer : messages.leaving(peer.kind())) write(peer, buffer, pass);
            delays.wait();
            messages.start(peer.kind());
            delays.wait();
            messages.finish(peer.kind());
          }
        });
      }
      CAPTURE(static_cast<int>(choice), overlaps);
      CHECK(wrong == 0);
      CHECK(messages.exchange_s() >= 0.0);
    }
  }
}

}  // namespace steelyard::test_unit_messages
