#!/usr/bin/env -S python3 -B
"""Runs the papers' experiments: benchmarks/run --paper, which builds the programs first, calls this.

Each experiment is a description in <paper>/experiments.toml. Its points go to a results folder of its own, where an
interrupted experiment goes on: points that are there are not repeated.
"""

import argparse
import datetime
import importlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from descriptions import SCALES, DescriptionError, evaluate, number, papers, read_paper
from readers import READERS, expand_files
from results import Results

root = Path(__file__).resolve().parents[2]


class StepFailed(Exception):
    """A program of an experiment failed: the command and what it printed."""


def seconds_text(seconds):
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"


def git(*arguments):
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def machine_facts(binaries):
    """What descriptions may use of this machine, and what results say of it."""
    done = subprocess.run([binaries / "steelyard", "units"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StepFailed(f"steelyard units: {done.stderr.strip()}")
    lines = done.stdout.splitlines()
    gpus = sum(re.match(r"\s*gpu +\d", line) is not None for line in lines)
    commit = git("rev-parse", "HEAD") + (" (dirty)" if git("status", "--porcelain") else "")
    two_hosts = subprocess.run([root / "tests" / "two_hosts", "--", "true"], capture_output=True, check=False)
    # Without a GPU a slower core stands for a second kind of unit.
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "commit": commit,
        "machine": "; ".join(" ".join(line.split()) for line in lines[: lines.index("") if "" in lines else 4]),
        "gpu": gpus > 0,
        "devices": gpus,
        "cores": len(os.sched_getaffinity(0)),
        "hosts": 2 if two_hosts.returncode == 0 else 1,
        "both": "--units host+device" + ("" if gpus else " --slowdown device=4"),
        "slow": "" if gpus else "--slowdown device=4",
        "tree": "{tree}",  # stands in commands until they start, so that points do not depend on where the tree is
    }


DEPTHS = {
    # How thoroughly models, runs and channels are measured; of a small one only that it runs counts.
    "small": {
        "depth": "--rounds 1 --repetitions-min 2 --repetitions-max 3 --time-limit 0.1 "
        "--confidence 0.5 --precision 0.99",
        "repeat": "--repetitions 2 --warmups 1",
        "calibration": "--quick --from 1024 --to 1048576",
    },
    "machine": {"depth": "--precision 0.1 --time-limit 1", "repeat": "--repetitions 5", "calibration": "--quick"},
    "full": {"depth": "", "repeat": "--repetitions 11", "calibration": ""},
}


class Driver:
    def __init__(self, options):
        self.options = options
        self.binaries = options.binaries.resolve()
        self.facts = {**machine_facts(self.binaries), **DEPTHS[options.scale], "scale": options.scale}
        self.environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def reason_against(self, experiment):
        """Why this machine cannot show the experiment, or nothing."""
        needs = experiment.text.get("needs", [])
        return next((need["reason"] for need in needs if not evaluate(need["condition"], self.facts)), "")

    def run_all(self, experiments):
        """Runs the experiments one after the other and writes their page; true when nothing failed."""
        expected_s = [one.text["expected_s"][self.options.scale] for one in experiments]
        failed, shown = [], []
        for i, experiment in enumerate(experiments):
            reason = self.reason_against(experiment)
            if reason:
                print(f"{experiment.paper} {experiment.name}: {reason}", file=sys.stderr)
                continue
            try:
                shown.append(self.run_one(experiment, expected_s[i], sum(expected_s[i + 1 :])))
            except (StepFailed, OSError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
                failed.append(f"{experiment.paper} {experiment.name}")
                what = repr(error) if isinstance(error, LookupError) else error
                print(f"{failed[-1]} failed: {what}", file=sys.stderr, flush=True)
        if shown:
            page = (shown[0] if len(shown) == 1 else self.options.results) / "report.html"
            command = ["steelyard", "report", *map(str, shown), "--output", str(page)]
            self.start(shlex.join(command), self.options.results)
            print(f"page: {page}")
        if failed:
            print(f"failed: {', '.join(failed)}", file=sys.stderr)
        return not failed

    def run_one(self, experiment, expected_s, later_s):
        """Starts the runs whose points are not there yet. Returns the folder of results."""
        folder = self.options.results / experiment.paper / self.options.scale / experiment.name
        if self.options.fresh and folder.exists():
            shutil.rmtree(folder)
        results = Results(folder, experiment, self.options.scale)
        runs = experiment.unfold(self.options.scale, self.facts)
        results.keep_only([run.key for run in runs])
        spent_s, done, finished = 0.0, 0, 0
        for i, run in enumerate(runs):
            command = self.command_text(run)
            if results.has(run.key, command, [run.step["name"], *run.step.get("also", {})]):
                finished += 1
                continue
            pace_s = spent_s / done if done else expected_s / len(runs)
            left_s = pace_s * (len(runs) - i) + later_s
            print(f"{experiment.paper} {experiment.name} [{i + 1}/{len(runs)}] {run.key}: "
                  f"about {seconds_text(left_s)} left", file=sys.stderr, flush=True)
            start_s = time.monotonic()
            if done == 0:
                # What follows from points that are made anew is as old as they are.
                results.drop([one.key for one in runs[i + 1 :] if "function" in one.step])
            run.folder, run.driver = folder, self
            run.points = [point["values"] for point in results.points]
            rows = self.rows(run)
            spent_s += time.monotonic() - start_s
            done += 1
            results.add(run.key, command, rows)
            results.write(self.facts, complete=False)
        results.write(self.facts, complete=True)
        print(f"{experiment.paper} {experiment.name}: {done} run(s) in {seconds_text(spent_s)}"
              + (f", {finished} were finished before" if finished else "") + f": {folder}", flush=True)
        return folder

    def command_text(self, run):
        """The command as it stands in points.jsonl, without what differs between folders."""
        if "function" in run.step:
            text = run.experiment.text
            names = sorted({*run.step["sweep"], *text.get("values", {}), *text.get(self.options.scale, {})})
            return " ".join([run.step["function"], *(f"{name}={run.variables[name]}" for name in names)])
        where = f" on {run.count('hosts')} hosts" if run.count("hosts") > 1 else ""
        return run.command if run.count("ranks") == 1 else f"{run.count('ranks')} ranks{where}: {run.command}"

    def rows(self, run):
        """Runs a step once. Its rows get the columns that were swept over."""
        step = run.step
        if run.result.exists():
            shutil.rmtree(run.result)
        (run.folder / "runs").mkdir(exist_ok=True)
        if "function" in step:
            module, name = step["function"].split(".")
            rows = getattr(importlib.import_module(module), name)(run)
        else:
            run.output = self.start(run.command, run.folder, run.count("ranks"), hosts=run.count("hosts"))
            written = re.search(r" --output (\S+)", run.command)
            run.source = re.sub(r"\s*\n\s*", " ", step.get("from", written[1] if written else ""))
            rows = []
            for name, reader in {step["name"]: step["read"], **step.get("also", {})}.items():
                found = READERS[reader](run)
                if not found:
                    raise StepFailed(f"{run.command}: nothing that '{reader}' can read in\n{run.output}")
                rows += [{"step": name, **row} for row in found]
        for name, skipped in step.get("skip", {}).items():
            rows = [row for row in rows if row.get(name) not in skipped]
        renames = {**run.experiment.text.get("rename", {}), **step.get("rename", {})}
        added = {name: number(text.format(**run.variables)) for name, text in step.get("add", {}).items()}
        return [
            {**run.columns, **added, **{renames.get(name, name): value for name, value in row.items()}} for row in rows
        ]

    def start(self, command, folder, ranks=1, any_exit_code=False, hosts=1):
        """Standard output of a program of ours, started in the folder: under mpirun where it has several ranks, on the
        two hosts of tests/two_hosts where it has two."""
        words = expand_files(folder, [word.replace("{tree}", str(root)) for word in shlex.split(command)])
        words[0] = str(self.binaries / words[0])
        if hosts > 1:
            words = [str(root / "tests" / "two_hosts"), "--ranks-per-host", str(ranks // hosts), "--", *words]
        elif ranks > 1:
            words = [*shlex.split(self.options.mpirun), "-n", str(ranks), *words]
        process = subprocess.Popen(words, cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            output, errors = process.communicate()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        if process.returncode != 0 and not any_exit_code:
            what = f"exit code {process.returncode} of {shlex.join(words)} in {folder}"
            raise StepFailed(f"{what}\n{output}{errors}".strip())
        return output


def print_list(scale, chosen):
    """A line for each experiment with the time it is expected to take, and one for what cannot be shown."""
    total_s = 0.0
    for paper in chosen:
        experiments, absent = read_paper(paper)
        for experiment in experiments:
            text = experiment.text
            total_s += text["expected_s"][scale]
            needs = "".join(f" ({need['reason']})" for need in text.get("needs", []))
            print(f"{paper}  {seconds_text(text['expected_s'][scale]):>7}  {' '.join(text['figures'])}: "
                  f"{text['title']}{needs}")
        for figures, reason in absent:
            print(f"{paper}  {'not here':>7}  {figures}: {reason}")
    print(f"in all about {seconds_text(total_s)} at --scale {scale}")


def programs_of(experiments):
    """What has to be built for them."""
    names = {"steelyard"}
    for experiment in experiments:
        names.update(step["command"].split()[0] for step in experiment.text["steps"] if "command" in step)
    return sorted(names)


def choose(experiments, names):
    if not names:
        return experiments
    known = [figure for one in experiments for figure in one.text["figures"]]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise DescriptionError(f"--experiment {', '.join(unknown)} (expected one of: {' '.join(known)})")
    return [one for one in experiments if set(names) & set(one.text["figures"])]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="benchmarks/run", description=__doc__)
    parser.add_argument("--paper", action="append", choices=[*papers(), "all"], help="paper; several times for several")
    parser.add_argument("--experiment", action="append", default=[], help="figure or table, such as fig4.9")
    parser.add_argument("--scale", choices=SCALES, default="machine",
                        help="problem sizes: to see that everything runs, for this machine (default), or the paper's")
    parser.add_argument("--list", action="store_true", help="list the experiments and the time each takes")
    parser.add_argument("--programs", action="store_true", help="list the programs that they need")
    parser.add_argument("--fresh", action="store_true", help="repeat points that are finished")
    parser.add_argument("--results", type=Path, help="folder of results (default results/papers below the tree)",
                        default=Path(os.environ.get("STEELYARD_RESULTS", root / "results" / "papers")))
    parser.add_argument("--binaries", type=Path, default=root / "build" / "release" / "bin", help="folder of programs")
    parser.add_argument("--mpirun", help="how ranks are started",
                        default="mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 1")
    options = parser.parse_args(arguments)
    options.results = options.results.resolve()
    options.paper = papers() if not options.paper or "all" in options.paper else options.paper
    return options


def main(arguments):
    options = parse(arguments)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # Ends the program that runs as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    try:
        if options.list:
            print_list(options.scale, options.paper)
            return 0
        experiments = choose([one for paper in options.paper for one in read_paper(paper)[0]], options.experiment)
        if options.programs:
            print(*programs_of(experiments))
            return 0
        return 0 if Driver(options).run_all(experiments) else 3
    except (DescriptionError, StepFailed, OSError) as error:
        print(f"benchmarks/run: {error}", file=sys.stderr)
        return 2 if isinstance(error, DescriptionError) else 3
    except KeyboardInterrupt:
        print("interrupted: the same command, without --fresh, continues here", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
