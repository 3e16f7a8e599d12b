#include "miniapps/fft2d/input.hpp"

#include <algorithm>

#include "core/base/npy.hpp"
#include "miniapps/fft2d/unit_transform.hpp"

namespace steelyard::fft2d {
template <class Scalar>
template <class Element>
void Input<Scalar>::read(std::int64_t first_row, std::span<Element> elements) const {
  const NpyHeader header = read_npy_matrix_header<Element>(path_);
  const std::int64_t rows = static_cast<std::int64_t>(elements.size()) / problem_.columns;
  const std::int64_t present = std::clamp<std::int64_t>(extents_.rows - first_row, 0, rows);
  if (present == 0) return;
  const auto columns = static_cast<std::size_t>(extents_.columns);
  // Without gaps first, then each row to its place, the last one first.
  read_npy_rows<Element>(path_, header, first_row, elements.first(static_cast<std::size_t>(present) * columns));
  if (extents_.columns == problem_.columns) return;
  for (std::int64_t i = present - 1; i >= 0; --i) {
    Element* const to = elements.data() + i * problem_.columns;
    Element* const from = elements.data() + i * extents_.columns;
    std::copy_backward(from, from + columns, to + columns);
    std::fill(to + columns, to + problem_.columns, Element(0));
  }
}

template <class Scalar>
void Input<Scalar>::operator()(std::int64_t first_row, std::span<Scalar> values) const {
  if (values.empty()) return;
  const std::int64_t numbers = problem_.columns * (problem_.real ? 1 : 2);
  const std::int64_t rows = static_cast<std::int64_t>(values.size()) / numbers;
  const std::int64_t present = std::clamp<std::int64_t>(extents_.rows - first_row, 0, rows);
  const bool padded = present < rows || extents_.columns < problem_.columns;
  if (padded) std::fill(values.begin(), values.end(), Scalar(0));
  if (path_.empty()) {
    for_each_on_host("steelyard::fft2d::fill", HostExecution(), present, [=, this](const std::int64_t i) {
      Scalar* const row = values.data() + i * numbers;
      for (std::int64_t j = 0; j < extents_.columns; ++j) {
        const auto part = static_cast<Scalar>(real_.element(first_row + i, j));
        if (problem_.real) {
          row[j] = part;
        } else {
          row[2 * j] = part;
          row[2 * j + 1] = static_cast<Scalar>(imaginary_.element(first_row + i, j));
        }
      }
    });
  } else if (problem_.real) {
    read<Scalar>(first_row, values);
  } else {
    read<std::complex<Scalar>>(first_row, {reinterpret_cast<std::complex<Scalar>*>(values.data()), values.size() / 2});
  }
}

template class Input<double>;
template class Input<float>;

}  // namespace steelyard::fft2d
