#!/usr/bin/env python3
"""Advice beside runs: is what `steelyard predict --advise` puts first the fastest way to run an app?

    benchmarks/advice.py [--rounds 5] [--tolerance 0.05] [--mpirun COMMAND] [--keep DIR] [APP ...]

A case is an app, a size, and how many times slower the companion is made. Its models are measured of the host alone, of
host and companion together, and of two ranks. The app then runs in each of the ways that the advice ranks, in turns and
by the same models. Advice is right where the way that it puts first takes at most 5 % longer than the fastest, in the
median of the rounds, each beside the way that is the fastest by the other rounds. How far noise lets anything be right
is what one round says: the way that is its fastest, judged by the rounds that are left.
"""
import argparse
import itertools
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

BIN = pathlib.Path(__file__).resolve().parent.parent / "build/release/bin"
# Sizes and slowdowns of the companion, and how many computation units a problem of a size has.
CASES = {
    "cavity": ([128, 256, 384], [1, 3], lambda size: size),
    "fft2d": ([512, 1000, 1024, 2048], [1, 3], lambda size: size),
    "gemm": ([512, 768, 1024, 1536], [1, 2, 4], lambda size: size // 32),
    "jacobi": ([1024, 2048, 3072], [1, 3], lambda size: size),
    "summa": ([768, 1024, 1536, 2048], [1], lambda size: (size // 128) ** 2),
    "wave2d": ([512, 1024, 2048], [1, 3], lambda size: size),
}
TILES = [1, 8]  # of wave2d
QUICKLY = "--points 6 --rounds 2 --precision 0.05 --repetitions-max 20 --time-limit 0.25".split()
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
REPETITIONS = {"fft2d": 15, "jacobi": 5, "gemm": 5}


class Case:
    def __init__(self, arguments, app, size, slowdown, folder):
        self.arguments, self.app, self.size, self.slowdown, self.folder = arguments, app, size, slowdown, folder
        self.runs = 0
        steps = {"cavity": 4, "jacobi": max(20, 100 * 1024**2 // size**2), "wave2d": 48}
        self.options = ["--steps", steps[app]] if app in steps else []

    def run(self, *command, ranks=1, cores=""):
        """What a program prints; where it fails, it has said why."""
        command = [str(BIN / command[0]), *map(str, command[1:])]
        if cores:
            command = ["taskset", "--cpu-list", cores, *command]
        if ranks > 1:
            command = [*shlex.split(self.arguments.mpirun), "-n", str(ranks), *command]
        done = subprocess.run(command, cwd=self.folder, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE)
        if done.returncode:
            sys.exit(f"this failed: {shlex.join(command)}")
        return done.stdout

    def slow(self, units):
        return ["--slowdown", f"device={self.slowdown}"] if "device" in units and self.slowdown > 1 else []

    def measure(self):
        """Models of the units alone, in pairs, and of two ranks, of each time tile."""
        total = CASES[self.app][2](self.size)
        sizes = ["--from", max(1, total // 16), "--to", total]
        shape = {"gemm": ["--n", self.size, "--k", self.size], "summa": []}.get(self.app, ["--columns", self.size])
        for tile in TILES if self.app == "wave2d" else [0]:
            shaped = [*shape, *(["--time-tile", tile] if tile else [])]
            for name, units, ranks in (("alone", "host", 1), ("pair", "host+device", 1), ("ranks", "host", 2)):
                if name == "pair" and self.app == "summa":
                    continue
                where = ["--units", units, *self.slow(units), "--output", f"{name}{tile}"]
                self.run("steelyard", "measure", self.app, *shaped, *sizes, *QUICKLY, *where, ranks=ranks)

    def advice(self):
        """The ways to run it, the best one first, as the models say."""
        ranks = 1 if self.app == "gemm" else 2
        more = [] if self.app == "gemm" else ["--platform", self.arguments.platform]
        if self.app == "cavity":
            self.run("cavity", "--size", self.size, "--steps", 4, "--units", "host", "--result", "sample")
            more += ["--sample", "sample"]
        models = sorted(self.folder.glob("*/rank0-*.fpm.json"))
        text = self.run("steelyard", "predict", self.app, "--size", self.size, *self.options, "--processes", ranks,
                        *more, "--advise", "--format", "json", "--model", *models)
        return json.loads(text)["runs"]

    def time(self, way):
        """Seconds of a run that goes this way."""
        units = way["units"].split(" + ")
        kind = "host+device" if len(units) == 2 else units[0].split()[0]
        tile = int(way["variant"].split()[0]) if way["variant"] else 0
        cores = units[0].split()[1].split("/")[0]
        folder = "pair" if kind != "host" else "ranks" if cores.isdigit() else "alone"
        models = [f"{folder}{tile}/rank0-{unit.split()[0]}.fpm.json" for unit in units]
        command = [self.app, "--size", self.size, *self.options, *(["--time-tile", tile] if tile else [])]
        command += ["--units", kind, *self.slow(kind), "--partition", way["partition"], "--model", *models]
        self.runs += 1
        result = f"run{self.runs}"
        command += ["--repetitions", REPETITIONS.get(self.app, 3), "--check", "none", "--result", result]
        self.run(*command, ranks=way["processes"], cores="" if len(units) * way["processes"] > 1 else cores)
        return json.loads((self.folder / result / "run.json").read_text())["median_time_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("apps", nargs="*", default=list(CASES))
    parser.add_argument("--rounds", type=int, choices=range(3, 100), metavar="N", default=5)
    parser.add_argument("--tolerance", type=float, default=0.05)
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1")
    parser.add_argument("--keep", help="folder of the models and runs (default: removed)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        arguments.platform = folder / "node.platform.json"
        case = Case(arguments, "", 1, 1, folder)
        case.run("steelyard", "calibrate", "--quick", "--footprint", "64MiB", "--output", arguments.platform, ranks=2)
        verdicts = []
        for app in arguments.apps:
            for size, slowdown in itertools.product(*CASES[app][:2]):
                place = folder / f"{app}-{size}-{slowdown}"
                place.mkdir(exist_ok=True)
                verdicts.append(judge(Case(arguments, app, size, slowdown, place)))
    right, of_a_round = (sum(column) for column in zip(*verdicts))
    print(f"right (within {100 * arguments.tolerance:.0f} %) in {right} of {len(verdicts)} cases; a round of runs of "
          f"all ways is right in {of_a_round:.1f}")


def loss(times_s, way, rounds):
    """How much longer it takes than the fastest way. The least of many medians is too small: the fastest way of the
    other rounds is what a round is compared with."""
    ratios = []
    for i in rounds:
        others_s = [statistics.median(of_way[j] for j in rounds if j != i) for of_way in times_s]
        ratios.append(times_s[way][i] / times_s[others_s.index(min(others_s))][i])
    return statistics.median(ratios) - 1


def judge(case):
    """Prints a line of the case; whether the advice is right, and for how many of the rounds their fastest way is."""
    case.measure()
    ways = case.advice()
    times_s = [[] for _ in ways]
    for _ in range(case.arguments.rounds):
        for way, of_way in zip(ways, times_s):
            of_way.append(case.time(way))
    medians_s = [statistics.median(of_way) for of_way in times_s]
    best = medians_s.index(min(medians_s))
    rounds = range(case.arguments.rounds)
    tolerance = case.arguments.tolerance
    lost = loss(times_s, 0, rounds)
    fastest = [min(range(len(ways)), key=lambda way: times_s[way][i]) for i in rounds]
    of_a_round = statistics.mean(loss(times_s, fastest[i], [j for j in rounds if j != i]) <= tolerance for i in rounds)
    name = case.app + f" {case.size}" + (f", device/{case.slowdown}" if case.slowdown > 1 else "")
    verdict = "right" if lost <= tolerance else f"WRONG by {100 * lost:.0f} %"
    print(f"{name:24} {len(ways):2} ways: {text(ways[0])} {1e3 * ways[0]['time_s']:.3g} ms, took "
          f"{1e3 * medians_s[0]:.3g} ms; best {text(ways[best])} {1e3 * medians_s[best]:.3g} ms, slowest "
          f"{1e3 * max(medians_s):.3g} ms: {verdict}", flush=True)
    return lost <= tolerance, of_a_round


def text(way):
    return f"{way['processes']} x ({way['units']})" + "".join(
        f" {way[key]}" for key in ("variant", "partition") if way[key])


main()
