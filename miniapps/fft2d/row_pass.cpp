#include "miniapps/fft2d/row_pass.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/errors.hpp"
#include "miniapps/fft2d/device_row_pass.hpp"
#include "miniapps/fft2d/fftw_row_pass.hpp"
#include "miniapps/fft2d/portable_row_pass.hpp"

namespace steelyard::fft2d::detail {

template <ProcessingUnit::Kind unit, class Execution, class Scalar>
std::unique_ptr<RowPass<Scalar>> make_row_pass(const Execution& space, const RowTransformation& transformation,
                                               std::int64_t rows, const RowFftChoice& choice) {
  const std::vector<std::string> libraries = row_fft_libraries<Execution>();
  const std::string library = choice.library.empty() && !libraries.empty() ? libraries.front() : choice.library;
  if constexpr (runs_on_host<Execution>) {
    if (library == "fftw") {
      return std::make_unique<FftwRowPass<Execution, Scalar>>(space, transformation, rows, choice.planner);
    }
  } else if constexpr (has_device_libraries) {
    if (library == "vendor") return std::make_unique<DeviceRowPass<Execution, Scalar>>(transformation, rows);
  }
  if (library == "portable") {
    return std::make_unique<PortableRowPass<Execution, Scalar>>(space, transformation, rows);
  }
  throw InvalidArgument(
      fmt::format("unknown FFT library '{}'; this unit has: {}", library, fmt::join(libraries, ", ")));
}

template std::unique_ptr<RowPass<double>> make_row_pass<ProcessingUnit::Kind::host, HostExecution, double>(
    const HostExecution&, const RowTransformation&, std::int64_t, const RowFftChoice&);
template std::unique_ptr<RowPass<float>> make_row_pass<ProcessingUnit::Kind::host, HostExecution, float>(
    const HostExecution&, const RowTransformation&, std::int64_t, const RowFftChoice&);
template std::unique_ptr<RowPass<double>> make_row_pass<ProcessingUnit::Kind::companion, CompanionExecution, double>(
    const CompanionExecution&, const RowTransformation&, std::int64_t, const RowFftChoice&);
template std::unique_ptr<RowPass<float>> make_row_pass<ProcessingUnit::Kind::companion, CompanionExecution, float>(
    const CompanionExecution&, const RowTransformation&, std::int64_t, const RowFftChoice&);

}  // namespace steelyard::fft2d::detail
