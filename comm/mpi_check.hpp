#pragma once

#include <mpi.h>

#include <string>

#include "core/base/errors.hpp"

/// Calls MPI and throws where it fails: STEELYARD_MPI(MPI_Barrier(comm)).
#define STEELYARD_MPI(call) ::steelyard::check_mpi((call), #call)

namespace steelyard {

/// An MPI call failed; the message holds the call and MPI's own words.
class MpiError : public Error {
 public:
  MpiError(int code, const char* call) : Error(std::string(call) + ": " + words(code), ExitCode::failed) {}

 private:
  static std::string words(int code) {
    std::string text(MPI_MAX_ERROR_STRING, '\0');
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    return text.substr(0, static_cast<std::size_t>(length));
  }
};

/// @throws MpiError unless `code` is MPI_SUCCESS
inline void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) throw MpiError(code, call);
}

/// The calling process's rank in a communicator. @throws MpiError
inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  STEELYARD_MPI(MPI_Comm_rank(comm, &rank));
  return rank;
}

/// Ranks of a communicator. @throws MpiError
inline int size_of(MPI_Comm comm) {
  int size = 0;
  STEELYARD_MPI(MPI_Comm_size(comm, &size));
  return size;
}

}  // namespace steelyard
