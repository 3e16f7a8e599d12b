# Every mini-app as a ReFrame test: it passes its own check, and gives its time and its figure of merit.
import os

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class Steelyard(rfm.RunOnlyRegressionTest):
    app = parameter(["gemm", "summa", "wave2d", "fft2d", "cavity", "jacobi", "heat"])
    programs = variable(str, value="")  # folder of the programs where they are not on PATH
    size = variable(int, value=512)
    options = variable(str, value="")  # more options, the same for every app
    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    @run_after("init")
    def set_command(self):
        self.executable = os.path.join(self.programs, self.app)
        self.executable_opts = ["--size", str(self.size), "--result", "result"]
        if self.app == "cavity":
            self.executable_opts += ["--steps", "10"]
        self.executable_opts += self.options.split()

    @sanity_function
    def check_passed(self):
        return sn.assert_found(r"^check +passed: ", self.stdout)

    @performance_function("s")
    def time(self):
        return sn.extractsingle(r'"median_time_s": ([^\s,]+)', "result/run.json", 1, float)

    @run_before("performance")
    def read_figure_of_merit(self):
        line, output = r"^figure of merit  (\S+) (\S+)$", os.path.join(self.stagedir, sn.evaluate(self.stdout))
        unit = sn.evaluate(sn.extractsingle(line, output, 1))
        value = sn.extractsingle(line, output, 2, float)
        self.perf_variables["figure_of_merit"] = sn.make_performance_function(value, unit)
