#pragma once

#include <mpi.h>

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "models/fpm_file.hpp"
#include "models/measured_point.hpp"

namespace steelyard {

/// A communicator of our own, freed at the end of the scope.
class Communicator {
 public:
  /// The ranks of `comm` with the same `color`, by `key` and then in the same order; errors are returned, not fatal.
  /// Collective. @throws MpiError
  Communicator(MPI_Comm comm, int color, int key = 0);
  ~Communicator() { MPI_Comm_free(&comm_); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// A barrier that leaves the core to others while it waits: for ranks that stay idle while another one is measured.
/// Collective. @throws MpiError
void sleeping_barrier(MPI_Comm comm);

/// An error that every rank knows of: one rank tells the user, all end with the same exit code, nobody has to be
/// killed.
class CollectiveError : public Error {
 public:
  CollectiveError(const std::string& message, ExitCode code, int teller) : Error(message, code), teller_(teller) {}
  /// The rank whose message this is.
  int teller() const noexcept { return teller_; }

 private:
  int teller_;
};

/// Message of an exception for the user: its own words or, where memory is short, how much there was, for
/// std::bad_alloc says no more than its name.
std::string message_of(const std::exception& error);
/// Exit code of a program that an exception ends.
ExitCode code_of(const std::exception& error);

/// Runs `work` on every rank; if it throws on any, throws on all the error of the lowest such rank. `work` itself must
/// not communicate, for a rank that throws would leave the others waiting. Collective. @throws CollectiveError,
/// MpiError
void collectively(MPI_Comm comm, const std::function<void()>& work);

/// Runs `work` as collectively() does, on rank 0 alone: files that one rank reads or writes for all.
void on_root(MPI_Comm comm, const std::function<void()>& work);

/// Text of every rank, on every rank. Collective.
std::vector<std::string> all_gather_text(MPI_Comm comm, const std::string& text);

/// The root's text for everyone. Collective.
std::string broadcast_text(MPI_Comm comm, const std::string& text, int root = 0);

/// Values of every rank, one after the other; as many from each. Collective.
std::vector<double> all_gather(MPI_Comm comm, const std::vector<double>& values);

/// Points of every rank, as many as each has. Collective.
std::vector<std::vector<models::MeasuredPoint>> all_gather_points(MPI_Comm comm,
                                                                  const std::vector<models::MeasuredPoint>& points);

/// Gathers the speed models of all ranks, any number from each. Collective.
std::vector<std::vector<models::FpmFile>> all_gather_models(MPI_Comm comm, const std::vector<models::FpmFile>& own);

/// Whether any rank says so. Collective.
bool any_rank(MPI_Comm comm, bool value);

double all_max(MPI_Comm comm, double value);
/// The largest of each entry; as many on every rank.
std::vector<double> all_max(MPI_Comm comm, std::vector<double> values);
double all_sum(MPI_Comm comm, double value);

/// Seconds that ranks spend in messages to each other.
struct CommunicationTime {
  double messages_s = 0.0;  ///< on the rank that waits least
  double waiting_s = 0.0;   ///< what the rank that waits longest for slower ranks spends beyond that
};
/// Splits the ranks' seconds in messages, which include what they wait for slower ranks. Collective.
CommunicationTime split_waiting(MPI_Comm comm, double own_s);

}  // namespace steelyard
