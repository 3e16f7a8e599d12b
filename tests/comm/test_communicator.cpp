#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <ctime>
#include <vector>

#include "comm/collective.hpp"
#include "comm/communicator.hpp"
#include "core/timing.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/comm/synthetic_kernel.hpp"

namespace steelyard::test_communicator {

using steelyard::tests::session;

namespace {

double thread_cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

TEST_CASE("a communicator holds the ranks of its colour in their old order") {
  for (int colours = 1; colours <= session().size(); ++colours) {
    const int colour = session().rank() % colours;
    const Communicator part(session().comm(), colour);
    std::vector<double> expected;
    for (int rank = colour; rank < session().size(); rank += colours) expected.push_back(rank);
    CHECK(part.size() == static_cast<int>(expected.size()));
    CHECK(all_gather(part.get(), {static_cast<double>(session().rank())}) == expected);
    CHECK(expected[static_cast<std::size_t>(part.rank())] == session().rank());
  }
}

TEST_CASE("communicators can be had of communicators, and are given back") {
  // MPI has a limited number of them.
  for (int i = 0; i < 300; ++i) {
    const Communicator half(session().comm(), session().rank() % 2);
    const Communicator own(half.get(), half.rank());
    if (own.size() == 1 && own.rank() == 0) continue;
    CHECK(own.size() == 1);
    CHECK(own.rank() == 0);
  }
}

TEST_CASE("errors of a communicator are returned, not fatal") {
  const Communicator whole(session().comm(), 0);
  int value = 0;
  CHECK(MPI_Bcast(&value, 1, MPI_INT, whole.size(), whole.get()) != MPI_SUCCESS);
}

TEST_CASE("nobody leaves a sleeping barrier before all have come") {
  if (session().nodes().count() > 1) SKIP("clocks of several nodes differ");
  for (int late = 0; late < session().size(); ++late) {
    if (session().rank() == late) tests::rest(5e-3);
    const double came_s = now_s();
    sleeping_barrier(session().comm());
    const double left_s = now_s();
    CHECK(left_s >= all_max(session().comm(), came_s));
  }
}

TEST_CASE("waiting in a sleeping barrier takes little of a core") {
  const double before_s = thread_cpu_s();
  if (session().is_root()) tests::rest(0.2);
  sleeping_barrier(session().comm());
  CHECK(thread_cpu_s() - before_s < 0.1);
}

TEST_CASE("a thread that may not spin takes little of a core while it waits for messages") {
  const double before_s = thread_cpu_s();
  if (session().is_root()) tests::rest(0.2);
  MPI_Request request = MPI_REQUEST_NULL;
  STEELYARD_MPI(MPI_Ibarrier(session().comm(), &request));
  wait_all({&request, 1}, false);
  CHECK(thread_cpu_s() - before_s < 0.1);
}

}  // namespace steelyard::test_communicator
