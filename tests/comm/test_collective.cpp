#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/collective.hpp"
#include "tests/comm/split_comm.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_collective {

using Catch::Matchers::ContainsSubstring;
using steelyard::tests::session;
using steelyard::tests::SplitComm;

namespace {

/// What rank `rank` complains about: three kinds of errors.
void complain(int rank) {
  const std::string message = "of rank " + std::to_string(rank);
  if (rank % 3 == 0) throw InvalidArgument(message);
  if (rank % 3 == 1) throw RuntimeFailure(message);
  throw std::out_of_range(message);
}

ExitCode code_of(int rank) { return rank % 3 == 0 ? ExitCode::wrong_input : ExitCode::failed; }

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
std::string text_of(int rank, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += static_cast<char>((i * 7 + static_cast<std::size_t>(rank)) % 256);
  return text;
}

}  // namespace

TEST_CASE("a rank without memory says how much there was; other exceptions speak for themselves") {
  CHECK_THAT(message_of(std::bad_alloc()), ContainsSubstring("memory is short") && ContainsSubstring("iB"));
  CHECK(message_of(std::runtime_error("what happened")) == "what happened");
  try {
    collectively(MPI_COMM_WORLD, [] { throw std::bad_alloc(); });
    CHECK(false);
  } catch (const CollectiveError& error) {
    CHECK(error.code() == ExitCode::failed);
    CHECK_THAT(error.what(), ContainsSubstring("memory is short"));
  }
}

TEST_CASE("whichever ranks throw, all throw the error of the lowest of them") {
  const int size = session().size();
  for (int mask = 0; mask < 1 << size; ++mask) {
    bool ran = false;
    const auto error = error_of([&] {
      collectively(session().comm(), [&] {
        ran = true;
        if ((mask >> session().rank() & 1) != 0) complain(session().rank());
      });
    });
    CHECK(ran);
    CHECK(error.has_value() == (mask != 0));
    if (!error) continue;
    int lowest = 0;
    while ((mask >> lowest & 1) == 0) ++lowest;
    CHECK(error->what() == "of rank " + std::to_string(lowest));
    CHECK(error->code() == code_of(lowest));
    CHECK(error->teller() == lowest);
  }
}

TEST_CASE("an error without words is still everyone's error") {
  const int last = session().size() - 1;
  const auto error = error_of([&] {
    collectively(session().comm(), [&] {
      if (session().rank() == last) throw InvalidArgument("");
    });
  });
  CHECK(error.has_value());
  if (error) {
    CHECK(error->teller() == last);
    CHECK(error->what() == std::string());
  }
}

TEST_CASE("work for the root runs on the root alone, and its error is everyone's") {
  int runs = 0;
  on_root(session().comm(), [&] { ++runs; });
  CHECK(runs == (session().rank() == 0 ? 1 : 0));
  const auto error = error_of([&] { on_root(session().comm(), [] { throw InvalidArgument("no such file"); }); });
  CHECK(error.has_value());
  if (error) {
    CHECK(error->what() == std::string("no such file"));
    CHECK(error->code() == ExitCode::wrong_input);
    CHECK(error->teller() == 0);
  }
}

TEST_CASE("errors stay within their communicator") {
  const SplitComm half(session().comm(), session().rank() % 2, session().rank());
  const auto error = error_of([&] {
    collectively(half.comm(), [&] {
      if (session().rank() % 2 == 1 && half.rank() == half.size() - 1) throw InvalidArgument("odd");
    });
  });
  CHECK(error.has_value() == (session().rank() % 2 == 1));
  if (error) CHECK(error->teller() == half.size() - 1);
}

TEST_CASE("texts of any length arrive on every rank in the order of the ranks") {
  const auto rank_of = [](std::size_t r) { return static_cast<int>(r); };
  const auto size = static_cast<std::size_t>(session().size());
  // Every rank in turn is the one whose text is empty; the rest differ in length.
  for (std::size_t empty = 0; empty <= size; ++empty) {
    const auto length = [&](std::size_t r) { return r == empty ? 0 : 1 + 40000 * ((r + empty) % 3); };
    const auto mine = static_cast<std::size_t>(session().rank());
    const auto texts = all_gather_text(session().comm(), text_of(session().rank(), length(mine)));
    CHECK(texts.size() == size);
    for (std::size_t r = 0; r < texts.size(); ++r) CHECK((texts[r] == text_of(rank_of(r), length(r))));
  }
  CHECK(all_gather_text(session().comm(), "") == std::vector<std::string>(size));
}

TEST_CASE("the root's text replaces everyone's, whatever their lengths") {
  for (const std::size_t length : {0, 1, 5, 100000}) {
    for (const std::size_t others : {0, 3, 200000}) {
      const std::string mine = text_of(session().rank(), session().is_root() ? length : others);
      CHECK((broadcast_text(session().comm(), mine) == text_of(0, length)));
    }
  }
}

TEST_CASE("values of all ranks arrive one after the other") {
  const double rank = session().rank();
  for (const int count : {0, 1, 3}) {
    std::vector<double> mine, expected;
    for (int i = 0; i < count; ++i) mine.push_back(rank + 0.1 * i);
    for (int r = 0; r < session().size(); ++r) {
      for (int i = 0; i < count; ++i) expected.push_back(r + 0.1 * i);
    }
    CHECK(all_gather(session().comm(), mine) == expected);
  }
}

TEST_CASE("points of all ranks arrive as they are, as many as each has") {
  using models::MeasuredPoint;
  const auto points_of = [](int rank, int shift) {
    std::vector<MeasuredPoint> points;
    for (int i = 0; i < (rank + shift) % 3; ++i) points.push_back({1.0 + i, 0.1 * rank, 7 + i, 1e-3 / (1.0 + rank), i});
    return points;
  };
  for (int shift = 0; shift < 3; ++shift) {
    const auto all = all_gather_points(session().comm(), points_of(session().rank(), shift));
    CHECK(all.size() == static_cast<std::size_t>(session().size()));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const std::vector<MeasuredPoint> expected = points_of(static_cast<int>(rank), shift);
      CHECK(all[rank].size() == expected.size());
      for (std::size_t i = 0; i < std::min(all[rank].size(), expected.size()); ++i) {
        CHECK(all[rank][i].units == expected[i].units);
        CHECK(all[rank][i].time_s == expected[i].time_s);
        CHECK(all[rank][i].repetitions == expected[i].repetitions);
        CHECK(all[rank][i].confidence_s == expected[i].confidence_s);
        CHECK(all[rank][i].outliers == expected[i].outliers);
      }
    }
  }
  for (const auto& points : all_gather_points(session().comm(), {})) CHECK(points.empty());
}

TEST_CASE("the largest of each entry is found entry by entry") {
  const double rank = session().rank();
  const double last = session().size() - 1;
  CHECK(all_max(session().comm(), std::vector<double>{}).empty());
  CHECK(all_max(session().comm(), std::vector<double>{rank}) == std::vector<double>{last});
  CHECK(all_max(session().comm(), {rank, -rank, 0.5}) == std::vector<double>{last, 0.0, 0.5});
  // Every rank has the largest of one entry.
  std::vector<double> own(static_cast<std::size_t>(session().size()), 0.0);
  own[static_cast<std::size_t>(session().rank())] = 1.0 + rank;
  std::vector<double> expected;
  for (int r = 0; r < session().size(); ++r) expected.push_back(1.0 + r);
  CHECK(all_max(session().comm(), own) == expected);
}

TEST_CASE("maximum and sum are over all ranks") {
  const int size = session().size();
  const double rank = session().rank();
  CHECK(all_max(session().comm(), rank) == size - 1);
  CHECK(all_max(session().comm(), -rank) == 0.0);
  CHECK(all_max(session().comm(), -1.0 - rank) == -1.0);
  CHECK(all_sum(session().comm(), rank) == size * (size - 1) / 2);
  CHECK(all_sum(session().comm(), -0.5) == -0.5 * size);
}

}  // namespace steelyard::test_collective
