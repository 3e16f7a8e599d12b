#include "comm/mpi_check.hpp"

#include <array>
#include <string>

namespace steelyard {
namespace {

std::string describe(int code, const char* call) {
  std::array<char, MPI_MAX_ERROR_STRING> words{};
  int length = 0;
  MPI_Error_string(code, words.data(), &length);
  return std::string(call) + ": " + std::string(words.data(), static_cast<std::size_t>(length));
}

}  // namespace

MpiError::MpiError(int code, const char* call) : Error(describe(code, call), ExitCode::failed) {}

}  // namespace steelyard
