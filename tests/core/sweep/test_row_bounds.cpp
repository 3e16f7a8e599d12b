// Of builds that check bounds: what a kernel does wrong ends the program instead of reading some other number.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "core/sweep/row_field.hpp"
#include "core/sweep/row_sweep.hpp"
#include "tests/catch.hpp"
#include "tests/core/ended_program.hpp"

namespace steelyard::test_row_bounds {

using namespace steelyard::tests;

namespace {

/// Reads an element. @return what the program says where it ends; empty where it goes on
template <class Read>
std::string said(const Read& read) {
  const EndedProgram ended = ended_program([&] {
    // What a View of the host's throws ends a program that does not catch it.
    try {
      volatile double value = read();
      (void)value;
    } catch (const std::exception& error) {
      std::fputs(error.what(), stderr);
      std::abort();
    }
  });
  CHECK((ended.signal == SIGABRT) != ended.text.empty());
  return ended.text;
}

// Threads of other spaces do not live on in a copy of the process.
using Serial = SerialExecution;

/// x(j, i) = x(j, i + shift) in all cells of a row.
struct Shift {
  RowAccess<1> x;
  std::int64_t shift;

  KOKKOS_FUNCTION void operator()(const std::int64_t j, const std::int64_t i) const { x(j, i) = x(j, i + shift); }
};

constexpr const char* no_element = "an element that the row does not have";
constexpr const char* no_row = "a row that the unit does not hold";
constexpr const char* no_column = "a column that the grid does not have";

}  // namespace

TEST_CASE("a row has its elements and no other ones, and a table its values and their padding") {
  std::array<double, 8> numbers{};
  const auto row = row_pointer(numbers.data() + 2, -2, 6);
  CHECK(said([&] { return row[-2] + row[5]; }).empty());
  CHECK_THAT(said([&] { return row[-3]; }), ContainsSubstring(no_element));
  CHECK_THAT(said([&] { return row[6]; }), ContainsSubstring(no_element));
  const auto part = part_of_row(row, 1, -1, 2);
  CHECK(said([&] { return part[-1] + part[1]; }).empty());
  CHECK_THAT(said([&] { return part[2]; }), ContainsSubstring(no_element));
  CHECK_THAT(said([&] { return part_of_row(row, 4, 0, 100)[2]; }), ContainsSubstring(no_element));
  CHECK_THAT(said([&] { return part_of_row(row, 100, -1, 1)[0]; }), ContainsSubstring(no_element));
  const UnitTable<Serial, double> table(Serial(), {1.0, 2.0, 3.0}, 2);
  CHECK(said([&] { return table.data()[-2] + table.data()[4]; }).empty());
  CHECK_THAT(said([&] { return table.data()[5]; }), ContainsSubstring(no_element));
}

TEST_CASE("a field has its columns with a ghost on both sides, its rows and ghost rows, and its components") {
  const Serial space;
  const RowField<Serial, 2> field(space, {10, 14}, 5);
  const auto x = field.access();
  CHECK(said([&] { return x(0, 7, -1) + x(1, 16, 5); }).empty());
  CHECK_THAT(said([&] { return x(0, 6, 0); }), ContainsSubstring(no_row));
  CHECK_THAT(said([&] { return x(0, 17, 0); }), ContainsSubstring(no_row));
  CHECK_THAT(said([&] { return x(0, 10, -2); }), ContainsSubstring(no_column));
  CHECK_THAT(said([&] { return x(0, 10, 6); }), ContainsSubstring(no_column));
  CHECK_THAT(said([&] { return x(2, 10, 0); }), ContainsSubstring("a component that the field does not have"));
  const RowField<Serial> one(space, {10, 14}, 5);
  CHECK(said([&] { return one.access().row(16)[5]; }).empty());
  CHECK_THAT(said([&] { return one.access().row(16)[6]; }), ContainsSubstring(no_element));
}

TEST_CASE("a sweep with a wrong index ends") {
  const Serial space;
  const RowField<Serial> field(space, {0, 4}, 40);
  const auto sweep = [&](std::int64_t shift) {
    for_cells(space, "shift", {0, 4}, 40, Shift{field.access(), shift});
    space.fence();
    return 0.0;
  };
  CHECK(said([&] { return sweep(1); }).empty());
  CHECK_THAT(said([&] { return sweep(2); }), ContainsSubstring(no_column));
}

TEST_CASE("Kokkos checks Views as well") {
  const Kokkos::View<double**, Kokkos::LayoutRight, DeviceOf<Serial>> matrix("matrix", 3, 4);
  CHECK(said([&] { return matrix(2, 3); }).empty());
  CHECK_THAT(said([&] { return matrix(2, 4); }), ContainsSubstring("matrix"));
}

}  // namespace steelyard::test_row_bounds
