// Catch2's main under mpirun: all ranks run the same test cases. They are collective and use CHECK, so that a rank that
// finds a mistake goes on with the others. The exit status of every rank says whether any of them failed.

#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <iostream>

#include "comm/collective.hpp"
#include "core/runtime.hpp"
#include "tests/comm/started_session.hpp"

namespace {

const steelyard::Session* session_of_main = nullptr;
const steelyard::RankUnits* units_of_main = nullptr;

/// A rank that left a test case early has left the others waiting in it: ends them all, after Catch2 has told why.
class AbortOnException : public Catch::EventListenerBase {
 public:
  using Catch::EventListenerBase::EventListenerBase;

  void assertionEnded(const Catch::AssertionStats& stats) override {
    const auto type = stats.assertionResult.getResultType();
    if (type == Catch::ResultWas::ThrewException || type == Catch::ResultWas::FatalErrorCondition) left_early_ = true;
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (!left_early_ || session_of_main->size() == 1) return;
    std::cout << "rank " << session_of_main->rank() << " left \"" << stats.testInfo->name << "\" early" << std::endl;
    MPI_Abort(session_of_main->comm(), 1);
  }

 private:
  bool left_early_ = false;
};

}  // namespace

CATCH_REGISTER_LISTENER(AbortOnException)

namespace steelyard::tests {

const Session& session() { return *session_of_main; }
const RankUnits& started_units() { return *units_of_main; }

}  // namespace steelyard::tests

int main(int argc, char** argv) {
  const steelyard::Session session(argc, argv);
  const steelyard::RankUnits units = session.plan_units({});
  const steelyard::Runtime runtime(session.machine(), units);
  session_of_main = &session;
  units_of_main = &units;
  const int failed = Catch::Session().run(argc, argv);
  return steelyard::all_max(session.comm(), failed == 0 ? 0.0 : 1.0) > 0.0 ? 1 : 0;
}
