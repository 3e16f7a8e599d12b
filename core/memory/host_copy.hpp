#pragma once

#include <cstddef>
#include <cstring>

#include "core/device/device.hpp"
#include "core/memory/matrix.hpp"

// Copies between a unit's own memory and (pinned) host memory, on the unit's queue; the caller fences.

namespace steelyard {

/// Where data of a processing unit lies: in (pinned) host memory, or in the unit's own, which is the same on hosts.
enum class Home { host, unit };

/// A message between units and where it lies.
template <class Scalar, class Message>
struct MessageBuffer {
  const Message* message = nullptr;
  Scalar* data = nullptr;
  Home home = Home::host;
};

namespace detail {

template <class Execution, class ToMemory, class FromMemory, class Element>
void copy(const Execution& space, Element* to, const Element* from, std::size_t count) {
  using Trait = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  if constexpr (runs_on_host<Execution>) {
    // Not deep_copy: between host memories it may run on the default host space, which is the other unit's.
    std::memcpy(to, from, count * sizeof(Element));
  } else {
    Kokkos::deep_copy(space, Kokkos::View<Element*, ToMemory, Trait>(to, count),
                      Kokkos::View<const Element*, FromMemory, Trait>(from, count));
  }
}

inline void copy_rows_here(const RowCopy& copy) {
  auto* to = static_cast<std::byte*>(copy.to);
  const auto* from = static_cast<const std::byte*>(copy.from);
  if (copy.to_pitch == copy.row_bytes && copy.from_pitch == copy.row_bytes) {
    std::memcpy(to, from, copy.rows * copy.row_bytes);
    return;
  }
  for (std::size_t i = 0; i < copy.rows; ++i) {
    std::memcpy(to + i * copy.to_pitch, from + i * copy.from_pitch, copy.row_bytes);
  }
}

/// @param on_device how a device copies rows between these memories
template <class Execution, class To, class From>
void copy_matrix(const Execution& space, const To& to, const From& from,
                 [[maybe_unused]] void (*on_device)(const CompanionExecution&, const RowCopy&)) {
  if (from.size() == 0) return;
  constexpr std::size_t size = sizeof(typename To::value_type);
  const RowCopy copy{to.data(),     size * to.stride(0), from.data(), size * from.stride(0), size * from.extent(1),
                     from.extent(0)};
  if constexpr (runs_on_host<Execution>) {
    (void)space;
    copy_rows_here(copy);
  } else {
    on_device(space, copy);
  }
}

}  // namespace detail

/// Copies contiguous elements from a unit's own memory to pinned host memory.
template <class Execution, class Element>
void copy_to_host(const Execution& space, Element* host, const Element* own, std::size_t count) {
  detail::copy<Execution, PinnedMemory, typename Execution::memory_space>(space, host, own, count);
}

/// The other way.
template <class Execution, class Element>
void copy_from_host(const Execution& space, Element* own, const Element* host, std::size_t count) {
  detail::copy<Execution, typename Execution::memory_space, PinnedMemory>(space, own, host, count);
}

/// Copies a matrix from pinned host memory to one of the same extents in a unit's own memory.
/// @throws RuntimeFailure from a device, as the other two
template <class Execution, class Scalar>
void copy_matrix_from_host(const Execution& space, const Matrix<Execution, Scalar>& own,
                           const ConstMatrix<HostExecution, Scalar>& host) {
  detail::copy_matrix(space, own, host, copy_rows_to_device);
}

/// The other way.
template <class Execution, class Scalar>
void copy_matrix_to_host(const Execution& space, const Matrix<HostExecution, Scalar>& host,
                         const ConstMatrix<Execution, Scalar>& own) {
  detail::copy_matrix(space, host, own, copy_rows_to_host);
}

/// Within the unit's own memory.
template <class Execution, class Scalar>
void copy_matrix_within(const Execution& space, const Matrix<Execution, Scalar>& to,
                        const ConstMatrix<Execution, Scalar>& from) {
  detail::copy_matrix(space, to, from, copy_rows_on_device);
}

}  // namespace steelyard
