#include "core/device_blas.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"

#if defined(KOKKOS_ENABLE_CUDA)
#include <cublas_v2.h>

#include <map>
#include <utility>

#include "core/cuda_check.hpp"
#endif

namespace steelyard {

#if defined(KOKKOS_ENABLE_CUDA)
namespace {

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw RuntimeFailure(fmt::format("{} failed: {}", call, cublasGetStatusString(status)));
  }
}

class Handle {
 public:
  Handle() { check(cublasCreate(&handle_), "cublasCreate"); }
  ~Handle() { cublasDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

/// A handle that works on the space's stream while this object lives; it must not keep a stream that may be gone later.
class StreamHandle {
 public:
  explicit StreamHandle(const Kokkos::Cuda& space) {
    use_device_of(space);
    thread_local std::map<std::pair<int, cudaStream_t>, Handle> handles;
    handle_ = handles[{space.cuda_device(), space.cuda_stream()}].get();
    check(cublasSetStream(handle_, space.cuda_stream()), "cublasSetStream");
  }
  ~StreamHandle() { cublasSetStream(handle_, nullptr); }
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;
  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

int property(libraryPropertyType type) {
  int value = 0;
  check(cublasGetProperty(type, &value), "cublasGetProperty");
  return value;
}

}  // namespace

std::string device_blas_name() {
  return fmt::format("cuBLAS {}.{}.{}", property(MAJOR_VERSION), property(MINOR_VERSION), property(PATCH_LEVEL));
}

// cuBLAS reads matrices column after column, which makes each of ours its transpose: C' = alpha B' A' + beta C'.
void device_blas_gemm(const CompanionExecution& space, const GemmCall<double>& x) {
  const StreamHandle handle(space);
  check(cublasDgemm(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, x.n, x.m, x.k, &x.alpha, x.b, x.b_leading, x.a, x.a_leading,
                    &x.beta, x.c, x.c_leading),
        "cublasDgemm");
}
void device_blas_gemm(const CompanionExecution& space, const GemmCall<float>& x) {
  const StreamHandle handle(space);
  check(cublasSgemm(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, x.n, x.m, x.k, &x.alpha, x.b, x.b_leading, x.a, x.a_leading,
                    &x.beta, x.c, x.c_leading),
        "cublasSgemm");
}

#else
namespace {

[[noreturn]] void refuse_blas() { throw RuntimeFailure("this build has no BLAS for a device"); }

}  // namespace

std::string device_blas_name() { refuse_blas(); }
void device_blas_gemm(const CompanionExecution& /*space*/, const GemmCall<double>& /*call*/) { refuse_blas(); }
void device_blas_gemm(const CompanionExecution& /*space*/, const GemmCall<float>& /*call*/) { refuse_blas(); }
#endif

}  // namespace steelyard
