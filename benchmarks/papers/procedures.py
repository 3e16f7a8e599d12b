"""Experiments that need code: a procedure takes the driver, the experiment's folder, the variables and the results so far,
and returns rows."""

import json

from readers import READERS
from results import write_text


def hpopta_inputs(driver, folder, variables, results):
    """The time functions of 002, Fig. 5, by workload; also as files of speed models, in Fupermod's format."""
    del driver, variables, results
    for i, times in enumerate(EXAMPLE):
        lines = "".join(f"{units} {time_s} 1 0\n" for units, time_s in sorted(times))
        write_text(folder / f"P{i}.fpm", lines)
    return [
        {"unit": f"P{i}", "units": units, "time_s": time_s, "speed": units / time_s}
        for i, times in enumerate(EXAMPLE)
        for units, time_s in sorted(times)
    ]


# 002, Fig. 5: workloads and their times, in the order in which HPOPTA examines them.
EXAMPLE = [
    list(zip(workloads, times))
    for workloads, times in (
        ((8, 3, 12, 9, 15, 10, 14, 1, 16, 13, 4, 2, 7, 5, 6, 11), (1, 2, 2, 3, 3, 4, 5, 6, 10, 11, 12, 13, 13, 14, 14, 20)),
        ((8, 9, 5, 6, 4, 3, 7, 2, 1, 11, 12, 10, 13, 16, 14, 15), (1, 3, 4, 4, 6, 7, 8, 10, 12, 13, 13, 16, 16, 17, 18, 20)),
        ((1, 7, 3, 4, 2, 5, 6, 9, 8, 10, 12, 15, 13, 14, 11, 16), (1, 1, 4, 4, 7, 8, 9, 13, 14, 14, 15, 16, 18, 18, 19, 19)),
        ((6, 2, 5, 3, 4, 1, 7, 8, 9, 11, 10, 15, 12, 14, 13, 16), (2, 3, 3, 4, 4, 6, 7, 9, 13, 13, 14, 15, 16, 17, 19, 20)),
    )
]


class Tree:
    """HPOPTA's tree (002, section 4): depth first, with its four operations Cut, Save, Backtrack and ReadMemory."""

    def __init__(self, total, times):
        self.times = times
        self.steps = []
        self.memory = {}  # (level, workload) -> (time, workloads of this level and below)
        even = total // len(times)
        self.best_s = max(dict(one)[even] for one in times)
        self.best = [even] * len(times)
        self.thresholds = self._size_thresholds()
        self.note(0, total, "start", f"even split {tuple(self.best)}")
        self._examine(0, total, [], [])

    def _size_thresholds(self):
        """sigma_i: the most that units i and after can do in less than the time threshold."""
        sizes = [max((units for units, time_s in one if time_s < self.best_s), default=0) for one in self.times]
        return [sum(sizes[i:]) for i in range(len(sizes))]

    def note(self, level, workload, operation, text):
        self.steps.append({
            "number": len(self.steps), "level": level, "workload": workload, "operation": operation, "what": text,
            "threshold_s": self.best_s, "size_thresholds": " ".join(map(str, self.thresholds)),
        })

    def _solve(self, given, taken_s):
        """Takes a solution that is faster than the best one. Returns the level to go on at: above the unit that takes
        longest, whose other workloads would take longer still."""
        rest = len(self.times) - len(given)
        self.best_s, self.best = max(taken_s), given + [0] * rest
        self.thresholds = self._size_thresholds()
        for level in range(1, len(self.times) - 1):
            self.memory[level, sum(self.best[level:])] = (max([*taken_s, *[0] * rest][level:]), self.best[level:])
        self.note(len(given), 0, "Save", f"{tuple(self.best)} takes {self.best_s}")
        target = taken_s.index(self.best_s) - 1
        where = f"to the node of {sum(self.best[target:])} at level {target}" if target >= 0 else "beyond the root: done"
        self.note(max(target, 0), sum(self.best[max(target, 0) :]), "Backtrack", where)
        return target

    def _examine(self, level, workload, given, taken_s):
        """Expands a node. Returns the level to go on at, one above or further up."""
        if workload > self.thresholds[level]:
            self.note(level, workload, "Cut", f"{workload} > {self.thresholds[level]}, the size threshold of the level")
            return level - 1
        if (level, workload) in self.memory:
            time_s, known = self.memory[level, workload]
            if time_s >= self.best_s:
                self.note(level, workload, "ReadMemory", f"{tuple(known)} takes {time_s}, not less than {self.best_s}")
                return level - 1
        last = level == len(self.times) - 1
        for units, time_s in [(0, 0), *self.times[level]]:
            if time_s >= self.best_s:
                break
            if units > workload or (last and units < workload):
                continue
            if units == workload:
                target = self._solve([*given, units], [*taken_s, time_s])
            else:
                target = self._examine(level + 1, workload - units, [*given, units], [*taken_s, time_s])
            if target < level:
                return target
        return level - 1


def hpopta_tree(driver, folder, variables, results):
    """Every operation of HPOPTA on the worked example."""
    del driver, folder, variables, results
    return Tree(16, EXAMPLE).steps


def _extrema(speeds):
    """Local minima and maxima of a sequence, ends included."""
    kept = [speeds[0]]
    for before, here, after in zip(speeds, speeds[1:], speeds[2:]):
        if (here - before) * (after - here) < 0.0:
            kept.append(here)
    return [*kept, speeds[-1]]


def variations(driver, folder, variables, results):
    """Largest variation of neighbouring extrema, |s1 - s2| / min(s1, s2) (002, eq. 1), of each unit's measured speeds, and
    the widest gap between lines through its local maxima and its local minima (section 6.2.3)."""
    del driver, folder, variables
    by_unit = {}
    for point in results.points:
        values = point["values"]
        if values["step"] == "models" and values.get("measured") == "together":
            by_unit.setdefault(values["unit"], []).append((values["units"], values["speed"]))
    rows = []
    for unit, points in by_unit.items():
        speeds = [speed for _, speed in sorted(points)]
        extrema = _extrema(speeds)
        gaps = [abs(a - b) / min(a, b) for a, b in zip(extrema, extrema[1:])]
        # Neighbouring extrema of the second half, where speeds no longer rise with the size, span the band.
        late = gaps[len(gaps) // 2 :]
        rows.append({"unit": unit, "variation": 100.0 * max(gaps), "band": 100.0 * max(late)})
    return rows


def fixed_share_models(driver, folder, variables, results):
    """Speed models whose constant speeds are as two units' shares are to be: with them `--partition constant` shares out
    so. The larger share goes to the unit that was faster, alone or with the other one, at the largest size."""
    del driver, results
    size, ratio = variables["size"], variables["ratio"]
    models = {}
    for unit in ("host", "device"):
        with open(folder / f"models/{size}/rank0-{unit}.fpm.json", encoding="utf-8") as file:
            models[unit] = json.load(file)
    last = {unit: model["points"][-1]["units"] / model["points"][-1]["time_s"] for unit, model in models.items()}
    faster = max(last, key=last.get)
    target = folder / f"shares/{size}-{ratio['slower']}-{ratio['faster']}"
    write_models(target, models, {unit: ratio["faster" if unit == faster else "slower"] for unit in models})
    return [{}]


def write_models(target, models, speeds):
    """The models with one point each, of a speed that is given."""
    target.mkdir(parents=True, exist_ok=True)
    for unit, model in models.items():
        point = {"units": 1000.0, "time_s": 1000.0 / speeds[unit], "repetitions": 1, "confidence_s": 0.0}
        write_text(target / f"rank0-{unit}.fpm.json", json.dumps({**model, "points": [point]}))


def mean_errors(driver, folder, variables, results):
    """Means of the proportional errors over the layouts that were measured (001, Table 2)."""
    del driver, folder, variables
    errors = {}
    for point in results.points:
        values = point["values"]
        measured_s = values.get("communication_s")
        for model, column in (("tau-Lop", "tau_lop_s"), ("HLogGP", "hloggp_s")):
            predicted_s = values.get(column)
            if measured_s and predicted_s:
                key = tuple(values[name] for name in ("network", "application", "blocks", "barrier")) + (model,)
                errors.setdefault(key, []).append(max(measured_s, predicted_s) / min(measured_s, predicted_s))
    names = ("network", "application", "blocks", "barrier", "model")
    return [{**dict(zip(names, key)), "mu": sum(mus) / len(mus)} for key, mus in errors.items()]


def measure_tables(driver, folder, variables, results):
    """Speed models of both units at every size that splits may have."""
    del results
    step = variables["step"]
    sizes = " ".join(str(size) for size in range(step, variables["most"] + 1, step))
    driver.start("steelyard measure {measure} --sizes {sizes} {both} {depth} --output models".format(
        **{**variables, "sizes": sizes}), folder)
    return READERS["models"](folder, "", {"from": "models"})


def _largest_remainders(total, weights, step):
    """Multiples of step in proportion to the weights."""
    pieces = [total // step * weight / sum(weights) for weight in weights]
    counts = [int(piece) for piece in pieces]
    by_rest = sorted(range(len(pieces)), key=lambda i: counts[i] - pieces[i])
    for i in by_rest[: total // step - sum(counts)]:
        counts[i] += 1
    return [count * step for count in counts]


def compare_splits(driver, folder, variables, results):
    """Splits of workloads from the tables' first third to twice their last size, all judged by the tables (002, section
    6.2): HPOPTA and exact over the measured points, HPOPTA over the smoothed ones, and constant speeds of three sizes.
    Improvements of HPOPTA are (other time - its time) / its time; workloads for which a split leaves the tables count for
    neither, as in 002."""
    del results
    tables = []
    for unit in ("host", "device"):
        with open(folder / f"models/rank0-{unit}.fpm.json", encoding="utf-8") as file:
            tables.append({int(p["units"]): p["time_s"] for p in json.load(file)["points"]})
    step, most = variables["step"], variables["most"]
    sizes = sorted(set(tables[0]) & set(tables[1]))
    constant = {
        "CPM of the smallest size": sizes[0], "CPM of a middle size": sizes[len(sizes) // 2], "CPM of the largest size": sizes[-1],
    }
    asked = {"HPOPTA": "--algorithm hpopta --kind table", "exact": "--algorithm exact --kind table",
             "smooth FPM": f"--algorithm geometric --kind polynomial --granularity {step}"}
    rows = []
    totals = range(max(most // 3 // step, 2) * step, 2 * most + 1, max(2 * most // 32 // step, 1) * step)
    for total in totals:
        splits = {}
        for name, options in asked.items():
            output = driver.start(f"steelyard partition {options} --total {total} --models models/rank0-*.fpm.json "
                                  "--format json", folder, any_exit_code=True)
            if output:
                splits[name] = json.loads(output)["units"]
        for name, size in constant.items():
            speeds = [size / table[size] for table in tables]
            splits[name] = _largest_remainders(total, speeds, step)
        for name, units in splits.items():
            if all(one == 0 or one in table for one, table in zip(units, tables)):
                time_s = max(table.get(one, 0.0) for one, table in zip(units, tables))
                rows.append({"split": name, "total": total, "time_s": time_s, "speed": total / time_s,
                             "shares": " + ".join(map(str, units))})
    best_s = {row["total"]: row["time_s"] for row in rows if row["split"] == "HPOPTA"}
    by_split = {}
    for row in rows:
        if row["split"] != "HPOPTA" and row["total"] in best_s:
            row["improvement"] = 100.0 * (row["time_s"] / best_s[row["total"]] - 1.0)
            by_split.setdefault(row["split"], []).append(row["improvement"])
    for name, values in by_split.items():
        for statistic, value in (("minimum", min(values)), ("average", sum(values) / len(values)), ("maximum", max(values))):
            rows.append({"step": "improvements", "split": name, "statistic": statistic, "improvement": value})
    return rows


def share_models(driver, folder, variables, results):
    """Speed models whose constant speeds give the host the swept percentage of the rows."""
    del driver, results
    models = {}
    for unit in ("host", "device"):
        with open(folder / f"models/{variables['size']}/rank0-{unit}.fpm.json", encoding="utf-8") as file:
            models[unit] = json.load(file)
    host = variables["host_percent"]
    write_models(folder / f"shares/{host}", models, {"host": host, "device": 100 - host})
    return [{}]


def _histogram(values):
    """How many values there are in steps of 1, by the middle of each."""
    counts = {}
    for value in values:
        counts[round(value)] = counts.get(round(value), 0) + 1
    return [{"bin": middle, "count": count} for middle, count in sorted(counts.items())]


def share_histogram(driver, folder, variables, results):
    """Where searches end, in per cent of the rows (003, Fig. 7.32)."""
    del driver, folder, variables
    shares = {}
    for point in results.points:
        if point["values"]["step"] == "calibrations":
            shares.setdefault(point["values"]["balance"], []).append(point["values"]["host_share"])
    return [{"balance": balance, **row} for balance, found in shares.items() for row in _histogram(found)]


def deviation_histogram(driver, folder, variables, results):
    """How far calibrations between equal ranks are from half of the rows (003, Fig. 7.33)."""
    del driver, folder, variables
    return _histogram([
        2.0 * (point["values"]["first_share"] - 50.0) for point in results.points if point["values"]["step"] == "calibration"
    ])


def roofline(driver, folder, variables, results):
    """Lines of each unit's bandwidth and peak, the kernel's point below them (003, Figs. 7.2 and 7.4 to 7.6), and the
    bandwidths of STREAM by kernel (7.15, 7.16)."""
    del driver, folder, variables
    rates = {}
    points = {}
    for values in (point["values"] for point in results.points):
        if values["step"] == "rates":
            rates["rank %d %s" % (values["rank"], values["unit"])] = values
        elif values["step"] == "kernel":
            points[values["unit"]] = values
    rows = []
    for unit, rate in rates.items():
        stream = {"copy": rate["copy GB/s"], **{name: rate[name] for name in ("scale", "add", "triad")}}
        rows += [{"step": "STREAM", "unit": unit, "kernel": name, "stream_gb_per_s": value} for name, value in stream.items()]
        peak = rate["GEMM GFLOP/s double"]
        for intensity in (1 / 64, 1 / 16, 1 / 4, 1, 4, 16):
            rows.append({"unit": unit, "line": "STREAM and GEMM", "intensity": intensity,
                         "gflops": min(peak, stream["triad"] * intensity)})
        if unit in points:
            kernel = points[unit]
            rows.append({
                "unit": unit, "line": "kernel", "gflops": kernel["gflops"],
                "intensity": 1e9 * kernel["gflops"] / kernel["bytes_per_s"],
                "share_of_stream": kernel["bytes_per_s"] / stream["triad"] / 1e7,
                "share_of_peak": 100.0 * kernel["gflops"] / peak,
            })
    return rows


def node_speeds(driver, folder, variables, results):
    """Speed of a node: c cores that compute x / c each, as long as the slowest of them takes (004, section III)."""
    del driver, folder, variables
    times = {}
    for values in (point["values"] for point in results.points):
        if values["step"] == "cores":
            times.setdefault((values["node"], values["units"]), []).append((values["time_s"], values["gflops"]))
    rows = []
    for (node, units), cores in sorted(times.items()):
        slowest_s = max(time_s for time_s, _ in cores)
        flops = sum(time_s * gflops for time_s, gflops in cores)
        rows.append({"node": node, "total": units * len(cores), "node_gflops": flops / slowest_s})
    return rows
