#include <catch2/catch_test_macros.hpp>
#include <exception>
#include <string>

#include "core/base/errors.hpp"

namespace steelyard::test_errors {

TEST_CASE("exit codes are the ones that the architecture promises to scripts") {
  CHECK(static_cast<int>(ExitCode::good) == 0);
  CHECK(static_cast<int>(ExitCode::check_failed) == 1);
  CHECK(static_cast<int>(ExitCode::wrong_input) == 2);
  CHECK(static_cast<int>(ExitCode::failed) == 3);
}

TEST_CASE("wrong arguments and files end a program with 2 and failures while running with 3") {
  CHECK(InvalidArgument("m").code() == ExitCode::wrong_input);
  CHECK(FileFormatError("f", "", "p").code() == ExitCode::wrong_input);
  CHECK(RuntimeFailure("m").code() == ExitCode::failed);
  CHECK(Error("m", ExitCode::check_failed).code() == ExitCode::check_failed);
}

TEST_CASE("errors keep the message word for word") {
  CHECK(std::string(InvalidArgument("size -1 (expected >= 0)").what()) == "size -1 (expected >= 0)");
  CHECK(std::string(RuntimeFailure("no memory: 100%").what()) == "no memory: 100%");
  CHECK(std::string(InvalidArgument("").what()).empty());
}

TEST_CASE("a file format error reads file then place then problem") {
  CHECK(std::string(FileFormatError("a/b.json", "line 3", "is wrong").what()) == "a/b.json: line 3: is wrong");
  CHECK(std::string(FileFormatError("a/b.json", "", "is a folder").what()) == "a/b.json: is a folder");
}

TEST_CASE("every error is caught as Error and as a standard exception") {
  const auto caught_as_error = [](const auto& error) {
    try {
      throw error;
    } catch (const Error& caught) {
      return std::string(caught.what()) == error.what() && caught.code() == error.code();
    } catch (...) {
      return false;
    }
  };
  CHECK(caught_as_error(InvalidArgument("m")));
  CHECK(caught_as_error(FileFormatError("f", "w", "p")));
  CHECK(caught_as_error(RuntimeFailure("m")));
  CHECK_THROWS_AS(throw InvalidArgument("m"), std::exception);
}

}  // namespace steelyard::test_errors
