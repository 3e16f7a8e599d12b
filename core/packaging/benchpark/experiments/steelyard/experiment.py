# The suite as a Benchpark experiment: a mini-app on two ranks or GPUs, and on more of them for strong scaling.
from benchpark.directives import variant
from benchpark.experiment import Experiment
from benchpark.programming_model import ProgrammingModel, ProgrammingModelType
from benchpark.scaling import Scaling, ScalingMode


class Steelyard(
    Experiment,
    ProgrammingModel(ProgrammingModelType.Mpionly, ProgrammingModelType.Cuda, ProgrammingModelType.Rocm),
    Scaling(ScalingMode.Strong),
):
    variant(
        "workload",
        default="gemm",
        values=("gemm", "summa", "wave2d", "fft2d", "cavity", "jacobi", "heat"),
        description="mini-app",
    )
    variant("version", default="0.1.0", values=("0.1.0", "main"), description="version of the suite")

    def compute_applications_section(self):
        has_device = self.spec.satisfies("+cuda") or self.spec.satisfies("+rocm")
        resource = "n_gpus" if has_device else "n_ranks"
        self.add_experiment_variable(resource, 2, True)
        self.add_experiment_variable("size", 2048, True)
        self.set_required_variables(
            n_resources=f"{{{resource}}}",
            process_problem_size=f"{{size}}*{{size}}/{{{resource}}}",
            total_problem_size="{size}*{size}",
        )
        more_of_it = {resource: lambda variable, step, dimension, factor: variable.val(dimension) * factor}
        self.register_scaling_config({ScalingMode.Strong: more_of_it})

    def compute_package_section(self):
        self.add_package_spec(self.name, [f"steelyard{self.determine_version()}"])
