#include "miniapps/wave2d/pictures.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/colour_map.hpp"
#include "core/base/png_file.hpp"
#include "core/base/vti_file.hpp"

namespace steelyard::wave2d {
namespace {

constexpr std::int64_t longest_side = 2048;

template <class Scalar>
class Pictures {
 public:
  Pictures(const Session& session, const Problem& problem, const std::filesystem::path& folder);

  /// Writes the next one; rank 0 holds the whole picture. Collective. @throws CollectiveError when it cannot be written
  void add(const Simulation<Scalar>& simulation);

  int count() const { return count_; }

 private:
  void write(const std::vector<float>& picture) const;
  std::int64_t rows() const { return (problem_.rows + square_ - 1) / square_; }
  std::int64_t columns() const { return (problem_.columns + square_ - 1) / square_; }

  const Session& session_;
  Problem problem_;
  std::filesystem::path folder_;
  std::int64_t square_;  ///< points per side of what becomes one
  float largest_ = 0.0F;
  int count_ = 0;
};

template <class Scalar>
Pictures<Scalar>::Pictures(const Session& session, const Problem& problem, const std::filesystem::path& folder)
    : session_(session),
      problem_(problem),
      folder_(folder),
      square_((std::max(problem.rows, problem.columns) + longest_side - 1) / longest_side) {}

template <class Scalar>
void Pictures<Scalar>::add(const Simulation<Scalar>& simulation) {
  std::vector<float> picture;
  collectively(session_.comm(), [&] {
    picture.assign(static_cast<std::size_t>(rows() * columns()), 0.0F);
    const float points = static_cast<float>(square_ * square_);
    simulation.store([&](const partition::Rectangle& part, std::span<const Scalar> values) {
      std::size_t at = 0;
      for (std::int64_t i = part.row; i < part.end_row(); ++i) {
        for (std::int64_t j = part.column; j < part.end_column(); ++j, ++at) {
          picture[static_cast<std::size_t>(i / square_ * columns() + j / square_)] +=
              static_cast<float>(values[at]) / points;
        }
      }
    });
  });
  STEELYARD_MPI(MPI_Reduce(session_.is_root() ? MPI_IN_PLACE : picture.data(), picture.data(),
                           static_cast<int>(picture.size()), MPI_FLOAT, MPI_SUM, 0, session_.comm()));
  on_root(session_.comm(), [&] {
    // Squares on the grid's lower and right edge have fewer points.
    for (std::int64_t i = 0; i < rows(); ++i) {
      const std::int64_t high = std::min(square_, problem_.rows - i * square_);
      for (std::int64_t j = 0; j < columns(); ++j) {
        const std::int64_t wide = std::min(square_, problem_.columns - j * square_);
        picture[static_cast<std::size_t>(i * columns() + j)] *=
            static_cast<float>(square_ * square_) / static_cast<float>(high * wide);
      }
    }
    if (count_ == 0) {
      for (const float value : picture) largest_ = std::max(largest_, std::abs(value));
    }
    write(picture);
  });
  ++count_;
}

template <class Scalar>
void Pictures<Scalar>::write(const std::vector<float>& picture) const {
  const std::string name = fmt::format("frame_{:04}", count_);
  VtiGrid grid;
  grid.rows = rows();
  grid.columns = columns();
  const auto spacing = static_cast<double>(square_);
  grid.spacing = {spacing, spacing};
  // A square's value is that of its middle.
  grid.origin = {0.5 * (spacing - 1.0), 0.5 * (spacing - 1.0)};
  VtiFile<float> values(folder_ / (name + ".vti"), "u", grid);
  values.write_rows(picture);
  values.finish();
  PngFile colours(folder_ / (name + ".png"), rows(), columns());
  std::vector<Rgb> row(static_cast<std::size_t>(columns()));
  const double scale = largest_ > 0.0F ? 1.0 / static_cast<double>(largest_) : 1.0;
  for (std::int64_t i = 0; i < rows(); ++i) {
    const std::span<const float> from(picture.data() + i * columns(), row.size());
    std::transform(from.begin(), from.end(), row.begin(),
                   [&](float value) { return diverging_colour(scale * static_cast<double>(value)); });
    colours.write_rows(row);
  }
  colours.finish();
}

}  // namespace

template <class Scalar>
int write_pictures(const Session& session, const Problem& problem, Simulation<Scalar>& simulation, std::int64_t steps,
                   int pictures, const std::filesystem::path& folder) {
  Pictures<Scalar> writer(session, problem, folder);
  std::int64_t done = -1;
  for (int i = 0; i < pictures; ++i) {
    const std::int64_t step = pictures == 1 ? steps : steps * i / (pictures - 1);
    if (step == done) continue;
    simulation.advance(step - std::max<std::int64_t>(done, 0));
    done = step;
    writer.add(simulation);
  }
  return writer.count();
}

template int write_pictures(const Session&, const Problem&, Simulation<double>&, std::int64_t, int,
                            const std::filesystem::path&);
template int write_pictures(const Session&, const Problem&, Simulation<float>&, std::int64_t, int,
                            const std::filesystem::path&);

}  // namespace steelyard::wave2d
