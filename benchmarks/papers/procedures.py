"""Experiments that need code: a procedure takes the driver, the experiment's folder, the variables and the results so far,
and returns rows."""

import json

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
