#!/usr/bin/env python3
"""Predictions of communication beside SimGrid's, for more processes than there are here.

    benchmarks/simgrid.py PLATFORM [--processes 16 64 256] [--per-node 4] [--size 4096] [--steps 4] [APP ...]

PLATFORM is a file of `steelyard calibrate`. `steelyard predict` says what the messages of an app cost by each of its
models; SMPI replays the same messages, as the programs send them, on the cluster that `steelyard platform` makes of the
file. Slices are even and nothing is computed, so that times are of communication alone; gemm sends no messages. Needs
Debian's package simgrid.
"""
import argparse
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

BIN = pathlib.Path(__file__).resolve().parent.parent / "build/release/bin"
DOUBLE, BYTE = 8, 6  # bytes, and SMPI's number of MPI_BYTE
BLOCK = 64  # of summa
# As they are simulated: with so many iterations, and without batches.
OPTIONS = {"cavity": ["--iterations", "5", "10"], "fft2d": ["--exchange", "at-once"]}


def steelyard(*arguments):
    """What the tool prints; where it fails, it has said why."""
    done = subprocess.run([BIN / "steelyard", *map(str, arguments)], text=True, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def exchange(trace, sends):
    """Appends messages [(from, to, bytes)] that all ranks exchange before any goes on, each rank its own at once."""
    requests = [0] * len(trace)
    for begin, key in (("irecv", 1), ("isend", 0)):
        for message in sends:
            me, other = message[key], message[1 - key]
            trace[me].append(f"{me} {begin} {other} 0 {int(message[2])} {BYTE}")
            requests[me] += 1
    for rank, count in enumerate(requests):
        if count:
            trace[rank].append(f"{rank} waitall {count}")


def halos(trace, ranks, size, times):
    """Appends `times` exchanges of `size` bytes between all pairs of neighbours."""
    for _ in range(times):
        exchange(trace, [(i, i + d, size) for i in range(ranks) for d in (-1, 1) if 0 <= i + d < ranks])


def wave2d(trace, ranks, size, steps):
    halos(trace, ranks, DOUBLE * size, steps)


def jacobi(trace, ranks, size, steps):
    for _ in range(steps * (ranks - 1)):
        exchange(trace, [(i, (i + 1) % ranks, DOUBLE * size / ranks) for i in range(ranks)])


def fft2d(trace, ranks, size, _):
    block = 2 * DOUBLE * (size / ranks) ** 2
    for _ in range(2):
        exchange(trace, [(i, (i + d) % ranks, block) for i in range(ranks) for d in range(1, ranks)])


def summa(trace, ranks, size, _):
    """A row after the other of a square grid, whose owners of a pivot send it to one after the other."""
    side = math.isqrt(ranks)
    part = DOUBLE * BLOCK * size / side
    for k in range(size // BLOCK):
        owner = k * BLOCK * side // size
        for rank in range(ranks):
            row, column = divmod(rank, side)
            for mine, root, others in (
                (column, row * side + owner, [row * side + j for j in range(side)]),
                (row, owner * side + column, [j * side + column for j in range(side)]),
            ):
                if mine != owner:
                    trace[rank].append(f"{rank} recv {root} 0 {int(part)} {BYTE}")
                else:
                    trace[rank] += [f"{rank} send {to} 0 {int(part)} {BYTE}" for to in others if to != rank]


def cavity(trace, ranks, size, steps):
    """As often as `steelyard predict` says, halos of the same size each; a sum is MPI_Allreduce."""
    text = steelyard("predict", "cavity", *OPTIONS["cavity"], "--size", size)
    counts = re.search(r"(\S+) sums and (\S+) exchanges .* (\S+) B", text)
    sums, exchanges, halo_bytes = map(float, counts.groups())
    for _ in range(steps * round(sums)):
        for rank in range(ranks):
            trace[rank].append(f"{rank} allreduce 4 0 0")
    halos(trace, ranks, halo_bytes / exchanges, steps * round(exchanges))


def simulate(app, arguments, ranks, folder):
    """Seconds by SimGrid."""
    trace = [[f"{rank} init"] for rank in range(ranks)]
    globals()[app](trace, ranks, arguments.size, arguments.steps)
    files = []
    for rank, actions in enumerate(trace):
        files.append(folder / f"rank-{rank}.txt")
        files[-1].write_text("\n".join(actions + [f"{rank} finalize"]) + "\n")
    (folder / "traces").write_text("\n".join(map(str, files)) + "\n")
    nodes = -(-ranks // arguments.per_node)
    cluster = steelyard("platform", arguments.platform, "--nodes", nodes, "--cores", arguments.per_node)
    (folder / "cluster.xml").write_text(cluster)
    (folder / "hosts").write_text("".join(f"node-{rank // arguments.per_node}\n" for rank in range(ranks)))
    command = ["smpirun", "-np", str(ranks), "-platform", folder / "cluster.xml", "-hostfile", folder / "hosts"]
    command += ["-replay", folder / "traces", "--cfg=smpi/host-speed:1e9", "--cfg=smpi/display-timing:yes"]
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    times = [line for line in done.stdout.splitlines() if "Simulated time:" in line]
    if done.returncode or not times:
        sys.exit(done.stdout)
    return float(times[-1].split("Simulated time:")[1].split()[0])


def predict(app, arguments, ranks):
    """Seconds by model."""
    command = ["predict", app, *OPTIONS.get(app, []), "--size", arguments.size, "--processes", ranks]
    command += ["--per-node", arguments.per_node, "--platform", arguments.platform, "--partition", "even"]
    if app in ("cavity", "jacobi", "wave2d"):
        command += ["--steps", arguments.steps]
    return json.loads(steelyard(*command, "--format", "json"))["models"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platform")
    parser.add_argument("apps", nargs="*", default=["cavity", "fft2d", "jacobi", "summa", "wave2d"])
    parser.add_argument("--processes", nargs="+", type=int, default=[16, 64, 256])
    parser.add_argument("--per-node", type=int, default=4)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=4)
    arguments = parser.parse_args()
    for i, (app, ranks) in enumerate(itertools.product(arguments.apps, arguments.processes)):
        models = predict(app, arguments, ranks)
        with tempfile.TemporaryDirectory() as folder:
            simulated_s = simulate(app, arguments, ranks, pathlib.Path(folder))
        if i == 0:
            print(f"{'app':8} {'processes':>9} {'SimGrid':>12}" + "".join(f" {name:>22}" for name in models))
        cells = [f"{1e3 * time_s:10.4g} ms {time_s / simulated_s:7.2f}x" for time_s in models.values()]
        row = f"{app:8} {ranks:9} {1e3 * simulated_s:9.4g} ms" + "".join(f" {cell:>22}" for cell in cells)
        print(row, flush=True)


main()
