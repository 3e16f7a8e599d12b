#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "comm/session.hpp"
#include "core/base/plot/picture.hpp"
#include "core/base/vti_file.hpp"
#include "miniapps/wave2d/simulation.hpp"

namespace steelyard::wave2d {

/// Pictures of the field, for people and for ParaView: `frame_0000.png` in colours and `frame_0000.vti` (VTK image
/// data) with values, in grid spacings. Large grids are averaged over squares of points, such that no side has more
/// than 2048. Colours mean the same in all pictures: light grey is 0, the ends are the largest value of the first one.
/// A picture's first row is the grid's; ParaView shows that at the bottom. Below it is a PictureLegend with the step.
class Pictures {
 public:
  Pictures(const Session& session, const Problem& problem, const std::filesystem::path& folder)
      : session_(session),
        problem_(problem),
        folder_(folder),
        square_((std::max(problem.rows, problem.columns) + longest_side - 1) / longest_side),
        rows_((problem.rows + square_ - 1) / square_),
        columns_((problem.columns + square_ - 1) / square_) {}

  /// Advances the field by `steps` and draws it `count` times, spread evenly from the start to the last step; a single
  /// picture is of the last. Collective. @throws CollectiveError when one cannot be written
  template <class Scalar>
  void draw(Simulation<Scalar>& simulation, std::int64_t steps, int count) {
    std::int64_t done = -1;
    for (int i = 0; i < count; ++i) {
      const std::int64_t step = count == 1 ? steps : steps * i / (count - 1);
      if (step == done) continue;
      simulation.advance(step - std::max<std::int64_t>(done, 0));
      done = step;
      add(simulation, step);
    }
  }

  int count() const { return count_; }

 private:
  static constexpr std::int64_t longest_side = 2048;

  /// Writes the next one; rank 0 holds the whole picture.
  template <class Scalar>
  void add(const Simulation<Scalar>& simulation, std::int64_t step) {
    std::vector<float> picture;
    collectively(session_.comm(), [&] { picture = own_part(simulation); });
    STEELYARD_MPI(MPI_Reduce(session_.is_root() ? MPI_IN_PLACE : picture.data(), picture.data(),
                             static_cast<int>(picture.size()), MPI_FLOAT, MPI_SUM, 0, session_.comm()));
    on_root(session_.comm(), [&] {
      if (count_ == 0) {
        for (const float value : picture) largest_ = std::max(largest_, std::abs(value));
      }
      write(picture, step);
    });
    ++count_;
  }

  template <class Scalar>
  std::vector<float> own_part(const Simulation<Scalar>& simulation) const {
    std::vector<float> picture(static_cast<std::size_t>(rows_ * columns_));
    simulation.store([&](const partition::Rectangle& part, std::span<const Scalar> values) {
      const Scalar* value = values.data();
      for_points(part, [&](std::int64_t i, std::int64_t j) {
        const std::int64_t row = i / square_, column = j / square_;
        // Squares on the grid's lower and right edge have fewer points.
        const std::int64_t points =
            std::min(square_, problem_.rows - row * square_) * std::min(square_, problem_.columns - column * square_);
        picture[static_cast<std::size_t>(row * columns_ + column)] +=
            static_cast<float>(*value++) / static_cast<float>(points);
      });
    });
    return picture;
  }

  void write(const std::vector<float>& picture, std::int64_t step) const {
    const std::string path = (folder_ / fmt::format("frame_{:04}", count_)).string();
    // A square's value is that of its middle.
    const double spacing = static_cast<double>(square_), middle = 0.5 * (spacing - 1.0);
    write_vti_file<float>(path + ".vti", {rows_, columns_, {spacing, spacing}, {middle, middle}}, {{"u", 1, picture}});
    const double scale = largest_ > 0.0F ? 1.0 / static_cast<double>(largest_) : 1.0;
    std::vector<Rgb> pixels;
    for (const float value : picture) pixels.push_back(diverging_colour(scale * static_cast<double>(value)));
    const PictureLegend legend{diverging_colour, -1.0, fmt::format("{:.3g}", -largest_),
                               fmt::format("{:.3g}", largest_), fmt::format("step {}", step)};
    std::ranges::copy(legend.pixels(columns_), std::back_inserter(pixels));
    write_png_file(path + ".png", columns_, pixels);
  }

  const Session& session_;
  Problem problem_;
  std::filesystem::path folder_;
  std::int64_t square_;   ///< points per side of a square
  std::int64_t rows_;     ///< of squares
  std::int64_t columns_;  ///< of squares
  float largest_ = 0.0F;  ///< value of the first picture
  int count_ = 0;
};

}  // namespace steelyard::wave2d
