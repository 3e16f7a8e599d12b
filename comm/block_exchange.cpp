#include "comm/block_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "comm/communicator.hpp"
#include "comm/mpi_check.hpp"

namespace steelyard {

BlockExchange::BlockExchange(MPI_Comm comm, std::size_t element_bytes, std::span<const ExchangedBlock> sends,
                             std::span<const ExchangedBlock> receives) {
  std::vector<ExchangedBlock> in_batches(sends.begin(), sends.end());
  for (const std::span<const ExchangedBlock>& blocks : {sends, receives}) {
    for (const ExchangedBlock& block : blocks) {
      if (block.elements >= 0 && block.elements <= std::numeric_limits<int>::max() && block.batch >= 0) continue;
      throw InvalidArgument(
          fmt::format("block of {} elements in batch {} (expected 0 to 2^31 - 1 elements, batch 0 or "
                      "more)",
                      block.elements, block.batch));
    }
  }
  STEELYARD_MPI(MPI_Comm_dup(comm, &comm_));
  STEELYARD_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  STEELYARD_MPI(MPI_Type_contiguous(static_cast<int>(element_bytes), MPI_BYTE, &element_));
  STEELYARD_MPI(MPI_Type_commit(&element_));
  for (const ExchangedBlock& block : receives) {
    if (block.elements == 0) continue;
    requests_.push_back(MPI_REQUEST_NULL);
    STEELYARD_MPI(MPI_Recv_init(block.data, static_cast<int>(block.elements), element_, block.rank, block.tag, comm_,
                                &requests_.back()));
  }
  begin_of_batch_.push_back(requests_.size());
  std::stable_sort(in_batches.begin(), in_batches.end(),
                   [](const ExchangedBlock& a, const ExchangedBlock& b) { return a.batch < b.batch; });
  for (const ExchangedBlock& block : in_batches) {
    while (static_cast<int>(begin_of_batch_.size()) <= block.batch) begin_of_batch_.push_back(requests_.size());
    if (block.elements == 0) continue;
    requests_.push_back(MPI_REQUEST_NULL);
    STEELYARD_MPI(MPI_Send_init(block.data, static_cast<int>(block.elements), element_, block.rank, block.tag, comm_,
                                &requests_.back()));
  }
  begin_of_batch_.push_back(requests_.size());
}

BlockExchange::~BlockExchange() {
  for (MPI_Request& request : requests_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  if (element_ != MPI_DATATYPE_NULL) MPI_Type_free(&element_);
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void BlockExchange::start(std::size_t first, std::size_t end) {
  if (first == end) return;
  STEELYARD_MPI(MPI_Startall(static_cast<int>(end - first), requests_.data() + first));
}

void BlockExchange::start_receives() { start(0, begin_of_batch_.front()); }

void BlockExchange::send(int batch) {
  const auto index = static_cast<std::size_t>(batch);
  if (batch < 0 || index + 1 >= begin_of_batch_.size()) return;
  start(begin_of_batch_[index], begin_of_batch_[index + 1]);
}

void BlockExchange::progress() {
  if (requests_.empty()) return;
  int done = 0;
  STEELYARD_MPI(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE));
}

void BlockExchange::wait(bool may_spin) { wait_all(requests_, may_spin); }

}  // namespace steelyard
