#include <ctime>
#include <new>
#include <optional>
#include <stdexcept>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "comm/unit_group.hpp"
#include "core/timing.hpp"
#include "tests/catch.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/comm/synthetic_kernel.hpp"

namespace steelyard::test_collective {

using steelyard::tests::session;

namespace {

/// Errors of five kinds, one of them without words.
void complain(int kind) {
  if (kind == 0) throw InvalidArgument("wrong");
  if (kind == 1) throw RuntimeFailure("failed");
  if (kind == 2) throw std::out_of_range("beyond the end");
  if (kind == 3) throw std::bad_alloc();
  throw InvalidArgument("");
}
constexpr std::array complaints = {"wrong", "failed", "beyond the end", "memory is short", ""};

/// The error that collective work ends with; nothing where it ends well.
template <class Run>
std::optional<CollectiveError> error_of(const Run& run) {
  try {
    run();
  } catch (const CollectiveError& error) {
    return error;
  }
  return std::nullopt;
}

/// Long enough to go through every protocol of MPI.
std::string text_of(std::size_t rank, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += static_cast<char>((i * 7 + rank) % 256);
  return text;
}

double thread_cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

TEST_CASE("whichever ranks throw whatever, all throw the error of the lowest of them") {
  for (int mask = 0; mask < 1 << session().size(); ++mask) {
    for (int shift = 0; shift < 5; ++shift) {
      bool ran = false;
      const auto error = error_of([&] {
        collectively(session().comm(), [&] {
          ran = true;
          if ((mask >> session().rank() & 1) != 0) complain((session().rank() + shift) % 5);
        });
      });
      CHECK(ran);
      CHECK(error.has_value() == (mask != 0));
      if (!error) continue;
      int lowest = 0;
      while ((mask >> lowest & 1) == 0) ++lowest;
      const int kind = (lowest + shift) % 5;
      const std::string words = error->what(), expected = complaints[static_cast<std::size_t>(kind)];
      CHECK((kind == 3 ? words.starts_with(expected) : words == expected));
      CHECK(error->code() == (kind % 4 == 0 ? ExitCode::wrong_input : ExitCode::failed));
      CHECK(error->teller() == lowest);
    }
  }
}

TEST_CASE("texts of any length arrive on every rank in the order of the ranks, or are the root's") {
  const auto size = static_cast<std::size_t>(session().size()), mine = static_cast<std::size_t>(session().rank());
  // Every rank in turn is the one whose text is empty; the rest differ in length.
  for (std::size_t empty = 0; empty <= size; ++empty) {
    const auto length = [&](std::size_t r) { return r == empty ? 0 : 1 + 40000 * ((r + empty) % 3); };
    const auto texts = all_gather_text(session().comm(), text_of(mine, length(mine)));
    CHECK(texts.size() == size);
    for (std::size_t r = 0; r < texts.size(); ++r) CHECK((texts[r] == text_of(r, length(r))));
    CHECK((broadcast_text(session().comm(), text_of(mine, length(mine))) == text_of(0, length(0))));
  }
  CHECK(all_gather_text(session().comm(), "") == std::vector<std::string>(size));
}

TEST_CASE("numbers of all ranks arrive one after the other, are summed up, and the largest of each entry is found") {
  const double rank = session().rank(), last = session().size() - 1;
  for (const int count : {0, 1, 3}) {
    std::vector<double> mine, expected, greatest;
    for (int i = 0; i < count; ++i) mine.push_back(i % 2 == 0 ? rank + 0.1 * i : -rank);
    for (int i = 0; i < count; ++i) greatest.push_back(i % 2 == 0 ? last + 0.1 * i : 0.0);
    for (int r = 0; r < session().size(); ++r) {
      for (int i = 0; i < count; ++i) expected.push_back(i % 2 == 0 ? r + 0.1 * i : -r);
    }
    CHECK(all_gather(session().comm(), mine) == expected);
    CHECK(all_max(session().comm(), mine) == greatest);
  }
  CHECK(all_max(session().comm(), -1.0 - rank) == -1.0);
  CHECK(all_sum(session().comm(), rank - 0.5) == last * (last + 1.0) / 2.0 - 0.5 * (last + 1.0));
}

TEST_CASE(
    "a communicator holds the ranks of its colour in their old order, errors stay within it, and it is given back") {
  for (int colours = 1; colours <= session().size(); ++colours) {
    const int colour = session().rank() % colours;
    const Communicator part(session().comm(), colour);
    std::vector<double> expected;
    for (int rank = colour; rank < session().size(); rank += colours) expected.push_back(rank);
    CHECK(part.size() == static_cast<int>(expected.size()));
    CHECK(all_gather(part.get(), {static_cast<double>(session().rank())}) == expected);
    CHECK(expected[static_cast<std::size_t>(part.rank())] == session().rank());
    const auto error = error_of([&] {
      collectively(part.get(), [&] {
        if (colour == colours - 1 && part.rank() == part.size() - 1) throw InvalidArgument("the last");
      });
    });
    CHECK(error.has_value() == (colour == colours - 1));
    if (error) CHECK(error->teller() == part.size() - 1);
    int value = 0;
    CHECK(MPI_Bcast(&value, 1, MPI_INT, part.size(), part.get()) != MPI_SUCCESS);
  }
  // MPI has a limited number of them.
  bool alone = true;
  for (int i = 0; i < 300; ++i) {
    const Communicator half(session().comm(), session().rank() % 2), own(half.get(), half.rank());
    alone = alone && own.size() == 1 && own.rank() == 0;
  }
  CHECK(alone);
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

TEST_CASE("a thread that sleeps in a barrier, or may not spin while it waits for messages, takes little of a core") {
  for (const bool barrier : {true, false}) {
    const double before_s = thread_cpu_s();
    if (session().is_root()) tests::rest(0.2);
    if (barrier) {
      sleeping_barrier(session().comm());
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      STEELYARD_MPI(MPI_Ibarrier(session().comm(), &request));
      wait_all({&request, 1}, false);
    }
    CHECK(thread_cpu_s() - before_s < 0.1);
  }
}

TEST_CASE("an MPI call that fails throws the call and MPI's own words, and the run goes on") {
  int value = 1, length = 0;
  std::array<char, MPI_MAX_ERROR_STRING> words{};
  MPI_Error_string(MPI_ERR_RANK, words.data(), &length);
  CHECK_THROWS_MATCHES(STEELYARD_MPI(MPI_Send(&value, 1, MPI_INT, session().size(), 7, session().comm())), MpiError,
                       MessageMatches(ContainsSubstring("MPI_Send(&value, 1, MPI_INT, session().size(), 7") &&
                                      ContainsSubstring(std::string(words.data(), static_cast<std::size_t>(length)))));
  CHECK_NOTHROW(STEELYARD_MPI(MPI_Barrier(session().comm())));
}

}  // namespace steelyard::test_collective
