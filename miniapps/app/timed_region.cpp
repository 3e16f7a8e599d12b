#include "miniapps/app/timed_region.hpp"

#include <Kokkos_Core.hpp>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

/// Open for the length of a scope, so that an error leaves no region open.
class Region {
 public:
  explicit Region(const std::string& name) { Kokkos::Profiling::pushRegion(name); }
  ~Region() { Kokkos::Profiling::popRegion(); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
};

}  // namespace

double timed_region(const Session& session, const std::string& name, const std::function<void()>& work) {
  STEELYARD_MPI(MPI_Barrier(session.comm()));
  const double start_s = now_s();
  {
    const Region region(name);
    work();
  }
  return all_max(session.comm(), now_s() - start_s);
}

}  // namespace steelyard
