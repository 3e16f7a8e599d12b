#include "miniapps/wave2d/initial_field.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/npy.hpp"

namespace steelyard::wave2d {
namespace {

template <class Scalar>
void read_part(const std::filesystem::path& path, const partition::Rectangle& part, std::span<Scalar> values) {
  read_npy_block(path, read_npy_matrix_header<Scalar>(path), part.row, part.column, part.rows, part.columns, values);
}

}  // namespace

template <class Scalar>
InitialField<Scalar>::InitialField(const Problem& problem, const StandingWave& wave,
                                   std::vector<std::filesystem::path> files)
    : problem_(problem), wave_(wave), files_(std::move(files)) {}

template <class Scalar>
void InitialField<Scalar>::operator()(Level level, const partition::Rectangle& part, std::span<Scalar> values) const {
  if (files_.empty()) {
    wave_.sample(wave_.exact_amplitude(level == Level::current ? 0 : -1), part, values);
    return;
  }
  read_part(level == Level::current ? files_.back() : files_.front(), part, values);
  const bool held = problem_.boundary == Boundary::dirichlet && files_.size() > 1;
  if (level == Level::previous && held) take_edges(part, values);
}

/// Values that the boundary holds are the current field's: edges of the previous one, which no step changes, would take
/// turns with them.
template <class Scalar>
void InitialField<Scalar>::take_edges(const partition::Rectangle& part, std::span<Scalar> values) const {
  std::vector<Scalar> current(values.size());
  read_part<Scalar>(files_.back(), part, current);
  std::size_t at = 0;
  for (std::int64_t i = part.row; i < part.end_row(); ++i) {
    for (std::int64_t j = part.column; j < part.end_column(); ++j, ++at) {
      const bool edge = i == 0 || i == problem_.rows - 1 || j == 0 || j == problem_.columns - 1;
      if (edge) values[at] = current[at];
    }
  }
}

template class InitialField<double>;
template class InitialField<float>;

}  // namespace steelyard::wave2d
