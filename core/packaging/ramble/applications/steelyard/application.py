# The suite as a Ramble application, a workload for each mini-app.
from ramble.appkit import *


class Steelyard(ExecutableApplication):
    """Kokkos mini-apps that run CPU and GPU at once on slices sized by performance models."""

    name = "steelyard"
    tags("mini-app", "kokkos", "mpi")
    software_spec("steelyard", pkg_spec="steelyard@0.1.0", package_manager="spack*")

    for workload_name in ["gemm", "summa", "wave2d", "fft2d", "cavity", "jacobi", "heat"]:
        executable(
            workload_name,
            workload_name + " --size {size} --result {experiment_run_dir} {options}",
            use_mpi=True,
        )
        workload(workload_name, executables=[workload_name])
        workload_variable("size", default="512", description="Rows of a square problem", workloads=[workload_name])
        workload_variable(
            "options",
            default="--steps 10" if workload_name == "cavity" else "",
            description="More options of the mini-app",
            workloads=[workload_name],
        )

    figure_of_merit(
        "figure of merit in {unit}",
        fom_regex=r"figure of merit  (?P<unit>\S+) (?P<value>\S+)$",
        group_name="value",
    )
    figure_of_merit(
        "time",
        log_file="{experiment_run_dir}/run.json",
        fom_regex=r'\s*"median_time_s": (?P<seconds>[^\s,]+)',
        group_name="seconds",
        units="s",
    )
    success_criteria("check", mode="string", match=r"check +passed: ")
