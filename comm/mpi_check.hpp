#pragma once

#include <mpi.h>

#include "core/base/errors.hpp"

namespace steelyard {

/// An MPI call failed; the message holds the call and MPI's own words.
class MpiError : public Error {
 public:
  MpiError(int code, const char* call);
};

/// @throws MpiError unless `code` is MPI_SUCCESS
inline void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) throw MpiError(code, call);
}

}  // namespace steelyard

/// Calls MPI and throws where it fails: STEELYARD_MPI(MPI_Barrier(comm)).
#define STEELYARD_MPI(call) ::steelyard::check_mpi((call), #call)
