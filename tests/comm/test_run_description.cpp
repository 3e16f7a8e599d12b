#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <optional>
#include <vector>

#include "comm/collective.hpp"
#include "comm/run_description.hpp"
#include "core/runtime.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_run_description {

using Catch::Matchers::StartsWith;
using steelyard::tests::session;

namespace {

/// As if planned: odd ranks have a companion too, every third nothing but one.
RankUnits units_of(int rank) {
  RankUnits units;
  const double slowdown = 1.0 + 0.1 * rank;
  if (rank % 3 != 2) units.host = ProcessingUnit{ProcessingUnit::Kind::host, "Host", {0, 1, 5}, -1, slowdown};
  if (rank % 2 == 1 || !units.host) {
    units.companion = ProcessingUnit{ProcessingUnit::Kind::companion, "Companion", {rank}, -1, 2.0 * slowdown};
  }
  units.cores_from = "layout";
  return units;
}

}  // namespace

TEST_CASE("the units of all ranks are described as planned, by rank and the host first") {
  const RunRecord record = describe_run(session(), "app", {}, units_of(session().rank()));
  std::size_t next = 0;
  for (int rank = 0; rank < session().size(); ++rank) {
    const RankUnits units = units_of(rank);
    for (const std::optional<ProcessingUnit>* unit : {&units.host, &units.companion}) {
      if (!*unit || next >= record.units.size()) continue;
      const UnitRecord& found = record.units[next++];
      CHECK(found.rank == rank);
      CHECK(found.kind == (*unit)->name());
      CHECK(found.space == (*unit)->space);
      CHECK(found.cores == format_cores((*unit)->cores));
      CHECK(found.slowdown == (*unit)->slowdown);
    }
  }
  CHECK(next == record.units.size());
  double planned = 0.0;
  for (int rank = 0; rank < session().size(); ++rank) planned += units_of(rank).count();
  CHECK(static_cast<double>(record.units.size()) == planned);
}

TEST_CASE("a run is described by its program, versions, hosts and options") {
  RunOptions options;
  options.seed = 12345678901234567890U;
  options.element = ElementType::float32;
  options.partition = "even";
  const RunRecord record = describe_run(session(), "wave2d", options, units_of(session().rank()));
  CHECK(record.app == "wave2d");
  CHECK(record.argv == session().arguments());
  CHECK(record.seed == options.seed);
  CHECK(record.kokkos == kokkos_version());
  CHECK(record.mpi == Session::mpi_version());
  CHECK(record.hosts == session().nodes().hosts);
  REQUIRE(record.processors.size() == record.hosts.size());
  CHECK(record.processors.front() == session().machine().processor());
  CHECK(record.date.size() == std::string("2026-11-24T12:00:00Z").size());
  CHECK(record.date.ends_with("Z"));
  CHECK(record.params.at("ranks") == session().size());
  // What only some apps have is theirs to add.
  CHECK(record.params.size() == 1);
  CHECK(record.settings.at("element") == "float");
  CHECK(record.settings.at("partition") == "even");
}

TEST_CASE("shared cores of one rank are said of the whole run") {
  for (int sharing = -1; sharing < session().size(); ++sharing) {
    RankUnits units = units_of(session().rank());
    units.oversubscribed = session().rank() == sharing;
    CHECK(any_oversubscribed(session(), units) == (sharing >= 0));
    const std::string cores = describe_run(session(), "app", {}, units).settings.at("cores");
    CHECK_THAT(cores, StartsWith("layout"));
    CHECK((cores.find("oversubscribed") != std::string::npos) == (sharing >= 0));
  }
}

TEST_CASE("threads of one rank that cannot be bound are said of the whole run") {
  for (int loose = -1; loose < session().size(); ++loose) {
    RankUnits units = units_of(session().rank());
    units.bound = session().rank() != loose;
    CHECK(any_unbound(session(), units) == (loose >= 0));
    const std::string cores = describe_run(session(), "app", {}, units).settings.at("cores");
    CHECK((cores.find("unbound") != std::string::npos) == (loose >= 0));
  }
}

}  // namespace steelyard::test_run_description
