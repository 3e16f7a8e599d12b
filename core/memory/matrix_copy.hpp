#pragma once

#include <cstddef>
#include <cstring>

#include "core/device/device.hpp"
#include "core/memory/matrix.hpp"
#include "core/spaces.hpp"

namespace steelyard {
namespace detail {

inline void copy_rows_here(const RowCopy& copy) {
  auto* to = static_cast<std::byte*>(copy.to);
  const auto* from = static_cast<const std::byte*>(copy.from);
  const bool contiguous = copy.to_pitch == copy.row_bytes && copy.from_pitch == copy.row_bytes;
  const std::size_t pieces = contiguous ? 1 : copy.rows;
  const std::size_t piece_bytes = contiguous ? copy.rows * copy.row_bytes : copy.row_bytes;
  for (std::size_t i = 0; i < pieces; ++i) {
    std::memcpy(to + i * copy.to_pitch, from + i * copy.from_pitch, piece_bytes);
  }
}

template <class To, class From>
RowCopy row_copy(const To& to, const From& from) {
  constexpr std::size_t size = sizeof(typename To::value_type);
  return {to.data(), size * to.stride(0), from.data(), size * from.stride(0), size * from.extent(1), from.extent(0)};
}

}  // namespace detail

/// Copies a matrix from pinned host memory to one of the same extents in a unit's own memory, on the unit's queue; the
/// caller fences. @throws RuntimeFailure from a device
template <class Execution, class Scalar>
void copy_matrix_from_host(const Execution& space, const Matrix<Execution, Scalar>& own,
                           const ConstMatrix<HostExecution, Scalar>& host) {
  if (host.size() == 0) return;
  if constexpr (runs_on_host<Execution>) {
    detail::copy_rows_here(detail::row_copy(own, host));
  } else {
    copy_rows_to_device(space, detail::row_copy(own, host));
  }
}

/// The other way.
template <class Execution, class Scalar>
void copy_matrix_to_host(const Execution& space, const Matrix<HostExecution, Scalar>& host,
                         const ConstMatrix<Execution, Scalar>& own) {
  if (host.size() == 0) return;
  if constexpr (runs_on_host<Execution>) {
    detail::copy_rows_here(detail::row_copy(host, own));
  } else {
    copy_rows_to_host(space, detail::row_copy(host, own));
  }
}

/// Within the unit's own memory.
template <class Execution, class Scalar>
void copy_matrix_within(const Execution& space, const Matrix<Execution, Scalar>& to,
                        const ConstMatrix<Execution, Scalar>& from) {
  if (from.size() == 0) return;
  if constexpr (runs_on_host<Execution>) {
    detail::copy_rows_here(detail::row_copy(to, from));
  } else {
    copy_rows_on_device(space, detail::row_copy(to, from));
  }
}

}  // namespace steelyard
