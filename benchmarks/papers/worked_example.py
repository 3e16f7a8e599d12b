"""The worked example of 002, section 4: its functions, and every step of the search for the best split."""

from results import write_text

# 002, Fig. 5: times of the workloads 1 to 16 on each unit.
TIMES = [
    [6, 13, 2, 12, 14, 14, 13, 1, 3, 4, 20, 2, 11, 5, 3, 10],
    [12, 10, 7, 6, 4, 4, 8, 1, 3, 16, 13, 13, 16, 18, 20, 17],
    [1, 7, 4, 4, 8, 9, 1, 14, 13, 14, 19, 15, 18, 18, 16, 19],
    [6, 3, 4, 4, 3, 2, 7, 9, 13, 14, 13, 16, 19, 17, 15, 20],
]
# Workloads and their times, in the order in which HPOPTA examines them.
EXAMPLE = [sorted(enumerate(times, 1), key=lambda point: point[::-1]) for times in TIMES]


def hpopta_inputs(run):
    """The time functions of 002, Fig. 5, by workload; also as files of speed models, in Fupermod's format."""
    for i, times in enumerate(TIMES):
        lines = "".join(f"{units} {time_s} 1 0\n" for units, time_s in enumerate(times, 1))
        write_text(run.folder / f"P{i}.fpm", lines)
    return [
        {"unit": f"P{i}", "units": units, "time_s": time_s, "speed": units / time_s}
        for i, times in enumerate(TIMES) for units, time_s in enumerate(times, 1)
    ]


class Tree:
    """HPOPTA's tree (002, section 4): depth first, with its four operations Cut, Save, Backtrack and ReadMemory. It
    keeps what the example shows; partition/hpopta.cpp is the algorithm."""

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
        left = sum(self.best[max(target, 0) :])
        where = f"to the node of {left} at level {target}" if target >= 0 else "beyond the root: done"
        self.note(max(target, 0), left, "Backtrack", where)
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


def hpopta_tree(_):
    """Every operation of HPOPTA on the worked example."""
    return Tree(16, EXAMPLE).steps
