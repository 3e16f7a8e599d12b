# The suite as a Spack package, built from the clone that this file lies in.
from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage


class Steelyard(CMakePackage, CudaPackage, ROCmPackage):
    """Kokkos mini-apps that run CPU and GPU at once on slices sized by performance models."""

    git = Path(__file__).resolve().parents[5].as_uri()
    license("BSD-3-Clause")
    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("kokkos-kernels", default=False, description="Multiply with Kokkos Kernels where no vendor's BLAS is known")
    variant("tests", default=False, description="Build the tests")

    depends_on("cxx", type="build")
    depends_on("cmake@3.23:", type="build")
    depends_on("mpi@3:")
    depends_on("hwloc@2:")
    depends_on("blas")
    depends_on("openblas threads=openmp", when="^[virtuals=blas] openblas")
    depends_on("fftw-api@3")
    # Found by the names of FFTW's own libraries, which MKL and others that have its interface lack.
    requires(
        *[f"^[virtuals=fftw-api] {fftw} precision=float,double" for fftw in ("fftw", "amdfftw", "fujitsu-fftw")],
        "^[virtuals=fftw-api] cray-fftw",
        policy="one_of",
        msg="Steelyard needs FFTW's own libraries",
    )
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.1:")
    depends_on("libpng")
    depends_on("boost")
    depends_on("eigen@3.3:")
    depends_on("catch2@3:", type="build", when="+tests")

    # Host and device execution spaces are used side by side, and Serial stands in for a device that is not there.
    depends_on("kokkos@4.5:5 +openmp +serial cxxstd=20")
    depends_on("kokkos +wrapper", when="+cuda")
    depends_on("kokkos-kernels@4.5:5", when="+kokkos-kernels")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos +cuda cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    for target in ROCmPackage.amdgpu_targets:
        depends_on(f"kokkos +rocm amdgpu_target={target}", when=f"+rocm amdgpu_target={target}")
    depends_on("hipblas", when="+rocm")
    depends_on("hipfft", when="+rocm")

    def cmake_args(self):
        args = [
            self.define_from_variant("STEELYARD_ENABLE_TESTS", "tests"),
            self.define("STEELYARD_REQUIRE_DEVICE", self.spec.satisfies("+cuda") or self.spec.satisfies("+rocm")),
            # Spack's compiler wrappers name the processor.
            self.define("STEELYARD_NATIVE", False),
        ]
        if self.spec.satisfies("+rocm"):  # for CUDA, Kokkos brings a launcher
            args.append(self.define("CMAKE_CXX_COMPILER", self.spec["hip"].prefix.bin.hipcc))
        return args
