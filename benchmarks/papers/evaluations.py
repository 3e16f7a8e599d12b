"""What follows from an experiment's earlier points: errors, histograms, lines of a roofline."""

from collections import Counter


def mean_errors(run):
    """Means of the proportional errors over what was measured with the same values of the columns `alike` (001, Table 2):
    runs whose ranks have a core each apart from those whose ranks share cores, who also wait for these."""
    alike, errors = run.variables["alike"].split(), {}
    for values in run.points:
        each = values.get("processes", 1) <= run.driver.facts["cores"]
        values = {**values, "ranks_have": "a core each" if each else "shared cores"}
        for model, column in (("tau-Lop", "mu_tau_lop"), ("HLogGP", "mu_hloggp"), ("Hockney", "mu_hockney")):
            if column in values:
                errors.setdefault((*(values[name] for name in alike), model), []).append(values[column])
    return [{**dict(zip([*alike, "model"], key)), "mu": sum(mus) / len(mus)} for key, mus in errors.items()]


def _histogram(values):
    """How many values there are in steps of 1, by the middle of each."""
    return [{"bin": middle, "count": count} for middle, count in sorted(Counter(map(round, values)).items())]


def share_histogram(run):
    """Where searches end, in per cent of the rows (003, Fig. 7.32)."""
    shares = {}
    for values in run.points_of("calibrations"):
        shares.setdefault(values["balance"], []).append(values["host_share"])
    return [{"balance": balance, **row} for balance, found in shares.items() for row in _histogram(found)]


def deviation_histogram(run):
    """How far calibrations between equal ranks are from half of the rows (003, Fig. 7.33)."""
    return _histogram([2.0 * (values["first_share"] - 50.0) for values in run.points_of("calibration")])


def roofline(run):
    """Lines of each unit's bandwidth and peak, the kernel's point below them (003, Figs. 7.2 and 7.4 to 7.6), and the
    bandwidths of STREAM by kernel (7.15, 7.16)."""
    rates = {"rank %d %s" % (values["rank"], values["unit"]): values for values in run.points_of("rates")}
    kernels = {values["unit"]: values for values in run.points_of("kernel")}
    rows = []
    for unit, rate in rates.items():
        stream = {"copy": rate["copy GB/s"], **{name: rate[name] for name in ("scale", "add", "triad")}}
        for name, value in stream.items():
            rows.append({"step": "STREAM", "unit": unit, "kernel": name, "stream_gb_per_s": value})
        peak = rate["GEMM GFLOP/s double"]
        for intensity in (1 / 64, 1 / 16, 1 / 4, 1, 4, 16):
            rows.append({"unit": unit, "line": "STREAM and GEMM", "intensity": intensity,
                         "gflops": min(peak, stream["triad"] * intensity)})
        if unit in kernels:
            kernel = kernels[unit]
            rows.append({
                "unit": unit, "line": "kernel", "gflops": kernel["gflops"],
                "intensity": 1e9 * kernel["gflops"] / kernel["bytes_per_s"],
                "share_of_stream": kernel["bytes_per_s"] / stream["triad"] / 1e7,
                "share_of_peak": 100.0 * kernel["gflops"] / peak,
            })
    return rows


def node_speeds(run):
    """Speed of a node: c cores that compute x / c each, as long as the slowest of them takes (004, section III)."""
    times = {}
    for values in run.points_of("cores"):
        times.setdefault((values["node"], values["units"]), []).append((values["time_s"], values["gflops"]))
    rows = []
    for (node, units), cores in sorted(times.items()):
        slowest_s = max(time_s for time_s, _ in cores)
        flops = sum(time_s * gflops for time_s, gflops in cores)
        rows.append({"node": node, "total": units * len(cores), "node_gflops": flops / slowest_s})
    return rows
