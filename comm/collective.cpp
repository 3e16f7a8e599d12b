#include "comm/collective.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <new>
#include <numeric>
#include <sstream>
#include <string_view>
#include <thread>
#include <type_traits>

#include "comm/mpi_check.hpp"
#include "core/base/table.hpp"

namespace steelyard {

Communicator::Communicator(MPI_Comm comm, int color, int key) {
  STEELYARD_MPI(MPI_Comm_split(comm, color, key, &comm_));
  STEELYARD_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  rank_ = rank_in(comm_);
  size_ = size_of(comm_);
}

void sleeping_barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  STEELYARD_MPI(MPI_Ibarrier(comm, &request));
  for (int done = 0;;) {
    STEELYARD_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done != 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

std::string message_of(const std::exception& error) {
  if (std::string_view(error.what()) != std::bad_alloc().what()) return error.what();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double held_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
  const double node_bytes =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  return fmt::format(
      "memory is short: this process had up to {} of the node's {} when it was refused more (expected a "
      "smaller problem, or more nodes)",
      format_bytes(held_bytes), format_bytes(node_bytes));
}

ExitCode code_of(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  return known != nullptr ? known->code() : ExitCode::failed;
}

void collectively(MPI_Comm comm, const std::function<void()>& work) {
  std::string message;
  int code = 0;
  try {
    work();
  } catch (const std::exception& error) {
    message = message_of(error);
    code = static_cast<int>(code_of(error));
  }
  const int size = size_of(comm);
  int teller = code != 0 ? rank_in(comm) : size;
  STEELYARD_MPI(MPI_Allreduce(MPI_IN_PLACE, &teller, 1, MPI_INT, MPI_MIN, comm));
  if (teller == size) return;
  STEELYARD_MPI(MPI_Bcast(&code, 1, MPI_INT, teller, comm));
  throw CollectiveError(broadcast_text(comm, message, teller), static_cast<ExitCode>(code), teller);
}

void on_root(MPI_Comm comm, const std::function<void()>& work) {
  const bool root = rank_in(comm) == 0;
  collectively(comm, [&] {
    if (root) work();
  });
}

std::vector<std::string> all_gather_text(MPI_Comm comm, const std::string& text) {
  const auto size = static_cast<std::size_t>(size_of(comm));
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(size);
  STEELYARD_MPI(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm));
  std::vector<int> starts(size, 0);
  std::partial_sum(lengths.begin(), lengths.end() - 1, starts.begin() + 1);
  std::string all(static_cast<std::size_t>(starts.back() + lengths.back()), '\0');
  STEELYARD_MPI(
      MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, comm));
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < size; ++r) {
    texts.push_back(all.substr(static_cast<std::size_t>(starts[r]), static_cast<std::size_t>(lengths[r])));
  }
  return texts;
}

std::string broadcast_text(MPI_Comm comm, const std::string& text, int root) {
  int length = static_cast<int>(text.size());
  STEELYARD_MPI(MPI_Bcast(&length, 1, MPI_INT, root, comm));
  std::string received = text;
  received.resize(static_cast<std::size_t>(length));
  STEELYARD_MPI(MPI_Bcast(received.data(), length, MPI_CHAR, root, comm));
  return received;
}

std::vector<double> all_gather(MPI_Comm comm, const std::vector<double>& values) {
  const int count = static_cast<int>(values.size());
  std::vector<double> all(values.size() * static_cast<std::size_t>(size_of(comm)));
  STEELYARD_MPI(MPI_Allgather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, comm));
  return all;
}

std::vector<std::vector<models::MeasuredPoint>> all_gather_points(MPI_Comm comm,
                                                                  const std::vector<models::MeasuredPoint>& points) {
  using Point = models::MeasuredPoint;
  static_assert(std::is_trivially_copyable_v<Point>);
  std::string mine(points.size() * sizeof(Point), '\0');
  if (!points.empty()) std::memcpy(mine.data(), points.data(), mine.size());
  std::vector<std::vector<Point>> all;
  for (const std::string& bytes : all_gather_text(comm, mine)) {
    all.emplace_back(bytes.size() / sizeof(Point));
    if (!bytes.empty()) std::memcpy(all.back().data(), bytes.data(), bytes.size());
  }
  return all;
}

std::vector<std::vector<models::FpmFile>> all_gather_models(MPI_Comm comm, const std::vector<models::FpmFile>& own) {
  std::string mine;
  for (const models::FpmFile& file : own) mine += models::format_fpm(file) + "\n";
  std::vector<std::vector<models::FpmFile>> all;
  for (const std::string& lines : all_gather_text(comm, mine)) {
    std::istringstream text(lines);
    std::vector<models::FpmFile>& of_rank = all.emplace_back();
    for (std::string line; std::getline(text, line);) of_rank.push_back(models::parse_fpm_description(line, "rank"));
  }
  return all;
}

bool any_rank(MPI_Comm comm, bool value) { return all_max(comm, value ? 1.0 : 0.0) > 0.0; }

double all_max(MPI_Comm comm, double value) {
  STEELYARD_MPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm));
  return value;
}

std::vector<double> all_max(MPI_Comm comm, std::vector<double> values) {
  STEELYARD_MPI(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, comm));
  return values;
}

double all_sum(MPI_Comm comm, double value) {
  STEELYARD_MPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, comm));
  return value;
}

CommunicationTime split_waiting(MPI_Comm comm, double own_s) {
  const std::vector<double> extremes = all_max(comm, {own_s, -own_s});
  return {-extremes[1], extremes[0] + extremes[1]};
}

}  // namespace steelyard
