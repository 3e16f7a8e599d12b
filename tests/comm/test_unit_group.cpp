#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>

#include "comm/unit_group.hpp"
#include "tests/catch.hpp"
#include "tests/comm/shared_units.hpp"

namespace steelyard::test_unit_group {

using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;

namespace {

/// What a unit adds to value `k` of a sum: large terms of both signs, so that most of it cancels, in 30 orders of size.
double term(std::size_t slot, int round, std::size_t k) {
  std::mt19937_64 random(static_cast<std::uint64_t>(round) * 1024 + slot * 16 + k);
  const double size = std::pow(10.0, static_cast<double>(random() % 31) - 15.0);
  const double part = static_cast<double>(random() % 1000003) / 1000003.0;
  return random() % 2 == 0 ? size * part : -size * part;
}

double expected_total(std::size_t slots, int round, std::size_t k) {
  CompensatedSum sum;
  for (std::size_t slot = 0; slot < slots; ++slot) sum.add(term(slot, round, k));
  return sum.value();
}

}  // namespace

TEST_CASE("a program runs once on every unit of a group, each on a thread of its own") {
  for (const Choice choice : choices) {
    TestUnits units(choice);
    UnitGroup& group = units.group();
    std::mutex mutex;
    std::vector<int> slots;
    std::set<std::thread::id> threads;
    int driving = 0;
    const UnitSeconds seconds = group.run([&](const auto& peer) {
      peer.compute([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
      const std::scoped_lock lock(mutex);
      slots.push_back(peer.slot());
      threads.insert(std::this_thread::get_id());
      if (group.drives(peer.kind())) ++driving;
    });
    CHECK(static_cast<int>(slots.size()) == group.unit_count());
    CHECK(static_cast<int>(threads.size()) == group.unit_count());
    CHECK(driving == 1);
    for (const int slot : slots) CHECK(group.slots()[static_cast<std::size_t>(slot)].rank == group.rank());
    CHECK((seconds.host_s >= 1e-3) == (group.slot(Kind::host) >= 0));
    CHECK((seconds.companion_s >= 1e-3) == (group.slot(Kind::companion) >= 0));
  }
}

TEST_CASE("sums are the same bits on all units, whoever is late") {
  for (const Choice choice : choices) {
    TestUnits units(choice);
    std::atomic<int> wrong = 0;
    units.group().run([&](const auto& peer) {
      Delays delays(peer.slot());
      for (int round = 0; round < many_rounds(3000); ++round) {
        const std::size_t count = 1 + static_cast<std::size_t>(round) % UnitGroup::most_values;
        std::array<CompensatedSum, UnitGroup::most_values> values;
        std::array<double, UnitGroup::most_values> totals = {};
        for (std::size_t k = 0; k < count; ++k) values[k].add(term(static_cast<std::size_t>(peer.slot()), round, k));
        delays.wait();
        peer.sum({values.data(), count}, {totals.data(), count});
        for (std::size_t k = 0; k < count; ++k) {
          if (totals[k] != expected_total(units.size(), round, k)) ++wrong;
        }
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("a group runs any number of programs, also after units that failed at the same place") {
  TestUnits units(Choice::all);
  const double slots = static_cast<double>(units.size());
  std::atomic<int> wrong = 0;
  int thrown = 0;
  const int runs = many_rounds(2000);
  for (int run = 0; run < runs; ++run) {
    try {
      units.group().run([&](const auto& peer) {
        for (int round = 0; round < run % 4; ++round) {
          if (sum_one(peer, run) != run * slots) ++wrong;
        }
        if (run % 3 == 0) throw std::out_of_range("all of us");
      });
    } catch (const std::out_of_range&) {
      ++thrown;
    }
  }
  CHECK(thrown == (runs + 2) / 3);
  CHECK(wrong == 0);
}

}  // namespace steelyard::test_unit_group
