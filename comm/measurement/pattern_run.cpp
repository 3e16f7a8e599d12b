#include "comm/measurement/pattern_run.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

constexpr int pattern_tag = 23;

}  // namespace

PatternRun::PatternRun(MPI_Comm comm, const models::MessagePattern& pattern) : comm_(comm) {
  models::require_pattern(pattern);
  int rank = 0;
  int size = 0;
  STEELYARD_MPI(MPI_Comm_rank(comm, &rank));
  STEELYARD_MPI(MPI_Comm_size(comm, &size));
  if (size != pattern.processes) {
    throw InvalidArgument(
        fmt::format("{} of {} processes on {} ranks (expected as many)", pattern.name, pattern.processes, size));
  }
  for (const models::Phase& phase : pattern.phases) {
    Step step;
    step.at_once = phase.sends == models::Phase::Sends::at_once;
    for (const models::Message& message : phase.messages) {
      if (message.bytes > std::numeric_limits<int>::max()) {
        throw InvalidArgument(
            fmt::format("{}: message of {} bytes (expected less than 2 GiB)", pattern.name, message.bytes));
      }
      const auto buffer = [&] { return std::vector<char>(static_cast<std::size_t>(message.bytes), '\1'); };
      if (message.from == rank) step.sends.push_back({message.to, buffer()});
      if (message.to == rank) step.receives.push_back({message.from, buffer()});
    }
    steps_.push_back(std::move(step));
  }
}

void PatternRun::run() {
  std::vector<MPI_Request> requests;
  for (Step& step : steps_) {
    requests.clear();
    for (Transfer& receive : step.receives) {
      STEELYARD_MPI(MPI_Irecv(receive.buffer.data(), static_cast<int>(receive.buffer.size()), MPI_BYTE, receive.partner,
                              pattern_tag, comm_, &requests.emplace_back()));
    }
    for (const Transfer& send : step.sends) {
      const auto bytes = static_cast<int>(send.buffer.size());
      if (step.at_once) {
        STEELYARD_MPI(
            MPI_Isend(send.buffer.data(), bytes, MPI_BYTE, send.partner, pattern_tag, comm_, &requests.emplace_back()));
      } else {
        STEELYARD_MPI(MPI_Send(send.buffer.data(), bytes, MPI_BYTE, send.partner, pattern_tag, comm_));
      }
    }
    STEELYARD_MPI(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  }
}

std::vector<double> PatternRun::times_s(int repetitions) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    STEELYARD_MPI(MPI_Barrier(comm_));
    const double start_s = now_s();
    run();
    times.push_back(now_s() - start_s);
  }
  return all_max(comm_, std::move(times));
}

}  // namespace steelyard
