#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "miniapps/fft2d/padding.hpp"
#include "miniapps/fft2d/problem.hpp"
#include "miniapps/fft2d/random_field.hpp"

namespace steelyard::fft2d {

/// The matrix that is transformed: of a file or at random, with zeros appended where it is padded.
template <class Scalar>
class Input {
 public:
  /// @param path empty: a random field
  Input(const Problem& problem, const Extents& extents, std::filesystem::path path, std::uint64_t seed)
      : problem_(problem), extents_(extents), path_(std::move(path)), field_(seed) {}

  /// Fills whole rows of the padded matrix, from a row on; complex numbers are pairs. Uses the host unit's threads.
  /// @throws FileFormatError
  void operator()(std::int64_t first_row, std::span<Scalar> values) const;

 private:
  template <class Element>
  void read(std::int64_t first_row, std::span<Element> elements) const;

  Problem problem_;
  Extents extents_;
  std::filesystem::path path_;
  RandomField field_;
};

}  // namespace steelyard::fft2d
