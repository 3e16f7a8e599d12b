#include "core/matrix_copy.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include "core/cuda_check.hpp"
#endif

namespace steelyard::detail {

#if defined(KOKKOS_ENABLE_CUDA)
namespace {

void copy_rows(const Kokkos::Cuda& queue, const RowCopy& copy, cudaMemcpyKind direction) {
  use_device_of(queue);
  check_cuda(cudaMemcpy2DAsync(copy.to, copy.to_pitch, copy.from, copy.from_pitch, copy.row_bytes, copy.rows, direction,
                               queue.cuda_stream()),
             "cudaMemcpy2DAsync");
}

}  // namespace

void copy_rows_to_device(const CompanionExecution& queue, const RowCopy& copy) {
  copy_rows(queue, copy, cudaMemcpyHostToDevice);
}
void copy_rows_to_host(const CompanionExecution& queue, const RowCopy& copy) {
  copy_rows(queue, copy, cudaMemcpyDeviceToHost);
}
void copy_rows_on_device(const CompanionExecution& queue, const RowCopy& copy) {
  copy_rows(queue, copy, cudaMemcpyDeviceToDevice);
}

#else
namespace {

template <class Memory, class Byte>
auto bytes_at(Byte* data, std::size_t count) {
  return Kokkos::View<Byte*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged> >(data, count);
}

/// Kokkos copies between memories what is contiguous: row by row.
template <class ToMemory, class FromMemory>
void copy_rows(const CompanionExecution& queue, const RowCopy& copy) {
  auto* to = static_cast<unsigned char*>(copy.to);
  const auto* from = static_cast<const unsigned char*>(copy.from);
  for (std::size_t i = 0; i < copy.rows; ++i) {
    Kokkos::deep_copy(queue, bytes_at<ToMemory>(to + i * copy.to_pitch, copy.row_bytes),
                      bytes_at<FromMemory>(from + i * copy.from_pitch, copy.row_bytes));
  }
}

}  // namespace

void copy_rows_to_device(const CompanionExecution& queue, const RowCopy& copy) {
  copy_rows<CompanionExecution::memory_space, PinnedMemory>(queue, copy);
}
void copy_rows_to_host(const CompanionExecution& queue, const RowCopy& copy) {
  copy_rows<PinnedMemory, CompanionExecution::memory_space>(queue, copy);
}
void copy_rows_on_device(const CompanionExecution& queue, const RowCopy& copy) {
  copy_rows<CompanionExecution::memory_space, CompanionExecution::memory_space>(queue, copy);
}
#endif

}  // namespace steelyard::detail
