#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <type_traits>
#include <vector>

#include "core/device/emulated/memory.hpp"
#include "core/device/emulated/queue.hpp"
#include "tests/miniapps/cavity/grid/grid_run.hpp"
#include "tests/miniapps/cavity/grid/unit_values.hpp"

namespace steelyard::test_device_rows {

using namespace steelyard::cavity;
using namespace steelyard::cavity::tests;

namespace {

struct Asked {
  std::int64_t sweeps = 0;          ///< launches of this label
  std::int64_t kernels = 0;         ///< launches of any label
  std::int64_t copies_to_host = 0;  ///< besides those of halos, two of which may leave a unit
  std::int64_t fences = 0;
};

/// What reductions ask of the calling unit's device.
template <class Reduce>
Asked asked_by(const Reduce& reduce) {
  emulated::take_orders();
  reduce();
  Asked asked;
  for (const emulated::Order& order : emulated::take_orders()) {
    if (order.kind == emulated::Order::Kind::fence) ++asked.fences;
    if (order.kind != emulated::Order::Kind::work) continue;
    if (order.label == "sums") ++asked.sweeps;
    if (order.label == emulated::copy_to_host) {
      ++asked.copies_to_host;
    } else if (order.label != emulated::copy_to_device) {
      ++asked.kernels;
    }
  }
  return asked;
}

}  // namespace

TEST_CASE("a device sums up in one launch and one copy, and with a halo in two launches") {
  TestUnits units;
  const std::int64_t rows = 8 * units.group().unit_count(), columns = 20;
  for (const std::vector<std::int64_t>& shares : units.shares(rows)) {
    SharedGrid grid(units.group(), shares, columns);
    units.group().run([&](const auto& peer) {
      using Execution = std::decay_t<decltype(peer.space())>;
      UnitGrid<Execution> unit(peer, grid);
      auto field = unit.field();
      const auto access = field.access();
      const auto body = KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
        return Terms<2>{{access(j, i), 1.0}};
      };
      const Asked without = asked_by([&] { unit.template totals<2>("sums", body); });
      const Asked exchange = asked_by([&] { unit.exchange(field); });
      const Asked with = asked_by([&] { unit.template totals_with_halo<2>(field, "sums", body); });
      if constexpr (!runs_on_host<Execution>) {
        if (unit.rows().empty()) return;
        CHECK(without.sweeps == 1);
        CHECK(without.kernels == 1);
        CHECK(without.copies_to_host == 1);
        CHECK(with.sweeps <= 2);
        CHECK(with.kernels - exchange.kernels <= 2);
        CHECK(with.copies_to_host - exchange.copies_to_host == 1);
      }
    });
  }
}

}  // namespace steelyard::test_device_rows
