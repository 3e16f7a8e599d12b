#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "comm/mpi_check.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_mpi_check {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using steelyard::tests::session;

TEST_CASE("an MPI call that succeeds does not throw") {
  int size = 0;
  CHECK_NOTHROW(STEELYARD_MPI(MPI_Comm_size(session().comm(), &size)));
  CHECK(size == session().size());
}

TEST_CASE("an MPI call that fails throws the call and MPI's own words, and the run goes on") {
  int value = 1;
  std::array<char, MPI_MAX_ERROR_STRING> words{};
  int length = 0;
  MPI_Error_string(MPI_ERR_RANK, words.data(), &length);
  CHECK_THROWS_MATCHES(STEELYARD_MPI(MPI_Send(&value, 1, MPI_INT, session().size(), 7, session().comm())), MpiError,
                       MessageMatches(ContainsSubstring("MPI_Send(&value, 1, MPI_INT, session().size(), 7") &&
                                      ContainsSubstring(std::string(words.data(), static_cast<std::size_t>(length)))));
  CHECK_NOTHROW(STEELYARD_MPI(MPI_Barrier(session().comm())));
}

TEST_CASE("a failed MPI call ends a program with the code of a failed run") {
  try {
    check_mpi(MPI_ERR_COMM, "MPI_Something");
    FAIL_CHECK("did not throw");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::failed);
    CHECK_THAT(error.what(), ContainsSubstring("MPI_Something"));
  }
}

}  // namespace steelyard::test_mpi_check
