#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "miniapps/app/run_header.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/miniapps/app/described_run.hpp"

namespace steelyard::test_run_header {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::tests;

TEST_CASE("ranks, nodes and algorithm are told in words that agree with their number") {
  const int ranks = session().size();
  const std::string text = rank_text(session(), described_run());
  CHECK_THAT(text, ContainsSubstring(std::to_string(ranks) + (ranks == 1 ? " rank on " : " ranks on ")));
  if (session().nodes().count() == 1) CHECK_THAT(text, ContainsSubstring("on 1 node,"));
  CHECK_THAT(text, ContainsSubstring("partition geometric"));
}

TEST_CASE("cores that are shared or loose are warned of in a line each, all others are not") {
  RunRecord record = described_run();
  CHECK(core_notes(record).empty());
  record.settings["cores"] = "layout, oversubscribed";
  const std::string shared = core_notes(record);
  CHECK_THAT(shared, ContainsSubstring("more threads than cores"));
  record.settings["cores"] = "layout, unbound";
  const std::string loose = core_notes(record);
  CHECK_THAT(loose, ContainsSubstring("bind"));
  record.settings["cores"] = "layout, oversubscribed, unbound";
  CHECK(core_notes(record) == shared + loose);
  CHECK(shared.find('\n') == shared.size() - 1);
  CHECK(loose.find('\n') == loose.size() - 1);
}

}  // namespace steelyard::test_run_header
