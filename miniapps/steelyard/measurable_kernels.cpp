#include "miniapps/steelyard/measurable_kernels.hpp"

#include "miniapps/cavity/measured_kernel.hpp"
#include "miniapps/fft2d/measured_kernel.hpp"
#include "miniapps/gemm/measured_kernel.hpp"
#include "miniapps/summa/measured_kernel.hpp"
#include "miniapps/wave2d/measured_kernel.hpp"

namespace steelyard::tool {

std::vector<std::shared_ptr<MeasurableKernel>> measurable_kernels() {
  return {std::make_shared<gemm::MeasuredKernel>(), std::make_shared<summa::MeasuredKernel>(),
          std::make_shared<wave2d::MeasuredKernel>(), std::make_shared<fft2d::MeasuredKernel>(),
          std::make_shared<cavity::MeasuredKernel>()};
}

}  // namespace steelyard::tool
