#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>

#include "core/memory/host_copy.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/spaces.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_host_copy {

namespace {

template <class Element, class Execution>
void round_trip(std::size_t count) {
  const auto space = tests::unit_space<Execution>();
  const std::size_t offset = 3, room = count + 2 * offset;
  const UntouchedArray<Element, PinnedMemory> sent("sent", room), received("received", room);
  const Kokkos::View<Element*, DeviceOf<Execution>> own("own", room);
  for (std::size_t i = 0; i < room; ++i) {
    sent.data()[i] = static_cast<Element>(7 * i + 1);
    received.data()[i] = Element{-5};
  }
  copy_from_host(space, own.data() + offset, sent.data() + offset, count);
  copy_to_host(space, received.data() + offset, static_cast<const Element*>(own.data() + offset), count);
  space.fence();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < room; ++i) {
    const bool inside = i >= offset && i < offset + count;
    if (received.data()[i] != (inside ? static_cast<Element>(7 * i + 1) : Element{-5})) ++wrong;
  }
  CHECK(wrong == 0);

  // The unit's memory around the copied part is untouched too.
  const auto all = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), own);
  for (std::size_t i = 0; i < offset; ++i) {
    CHECK(all(i) == Element{0});
    CHECK(all(room - 1 - i) == Element{0});
  }
}

}  // namespace

TEMPLATE_TEST_CASE("what is copied to a unit and back comes back, and nothing beside it changes", "", HostExecution,
                   CompanionExecution) {
  for (const std::size_t count : {0, 1, 2, 1000, 100003}) {
    CAPTURE(count);
    round_trip<double, TestType>(count);
    round_trip<float, TestType>(count);
  }
}

}  // namespace steelyard::test_host_copy
