#include <initializer_list>

#include "core/sweep/row_sweep.hpp"
#include "tests/catch.hpp"
#include "tests/device/emulated/memory.hpp"
#include "tests/device/emulated/queue.hpp"

namespace steelyard::test_device_rows {

namespace {

struct Asked {
  std::int64_t sweeps = 0;   ///< launches of this label
  std::int64_t kernels = 0;  ///< launches of any label
  std::int64_t copies_to_host = 0;
};

/// What sums ask of the device.
template <class Reduce>
Asked asked_by(const Reduce& reduce) {
  emulated::recorded_operations();
  reduce();
  Asked asked;
  for (const emulated::Order& order : emulated::recorded_operations()) {
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

TEST_CASE("a device sums up in one launch and one copy, and rows in two pieces in a launch of their own") {
  const std::int64_t columns = 20;
  for (const std::int64_t count : {1, 8, 100}) {
    const CompanionExecution space;
    const RowRange rows{3, 3 + count};
    const CellSums<CompanionExecution> sums(space, rows);
    const RowField<CompanionExecution> field(space, rows, columns);
    const auto access = field.access();
    const auto body = KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
      return Terms<2>{{access(j, i), 1.0}};
    };
    const auto sum_up = [&](std::initializer_list<RowPieces> sweeps) {
      for (const RowPieces& pieces : sweeps) sums.sweep<2>(space, "sums", pieces, columns, body);
      CHECK(sums.total<2>(space, columns)[1].value() == static_cast<double>(count * columns));
    };
    CAPTURE(count);
    const Asked at_once = asked_by([&] { sum_up({{rows, {}}}); });
    CHECK(at_once.sweeps == 1);
    CHECK(at_once.kernels == 1);
    CHECK(at_once.copies_to_host == 1);
    const RowPieces ends{{3, 4}, {std::max<std::int64_t>(4, 2 + count), 3 + count}};
    const Asked after_halo = asked_by([&] { sum_up({{{ends.first.end, ends.second.begin}, {}}, ends}); });
    CHECK(after_halo.sweeps <= 2);
    CHECK(after_halo.kernels <= 2);
    CHECK(after_halo.copies_to_host == 1);
  }
}

}  // namespace steelyard::test_device_rows
