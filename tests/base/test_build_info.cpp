#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "core/base/build_info.hpp"

namespace steelyard::test_build_info {

using steelyard::build_info;

TEST_CASE("build info names the version as three numbers") {
  const std::string& version = build_info().version;
  CHECK(std::count(version.begin(), version.end(), '.') == 2);
  CHECK(version.find_first_not_of("0123456789.") == std::string::npos);
}

TEST_CASE("build info names a whole commit or says that it is unknown") {
  const std::string& commit = build_info().commit;
  const bool whole = commit.size() >= 40 && commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  CHECK((whole || commit == "unknown"));
  CHECK((whole || !build_info().dirty));
}

TEST_CASE("build info names the compiler and its version and the build type") {
#if defined(__clang__)
  const std::string version = std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
  const std::string version = std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
  CHECK(build_info().compiler.find(version) != std::string::npos);
  CHECK(build_info().flags.find(':') != std::string::npos);
}

TEST_CASE("build info is one object for the whole program") { CHECK(&build_info() == &build_info()); }

}  // namespace steelyard::test_build_info
