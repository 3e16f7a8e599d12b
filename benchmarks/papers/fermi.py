#!/usr/bin/env -S python3 -B
"""The sixteen layouts of Fermi, on which 001 compares predictions with measurements: 2 to 47 processes on 1 to 16 nodes
(001, sections 5.1 and 5.3, table 1). A line is a process: cores of one socket, or a GPU with a dedicated core.

    benchmarks/papers/fermi.py M10 > M10.layout

The paper says how many processes of each kind there are, not on which node each one is. The nodes here are the ones
whose processes come to its counts exactly: e5649-N, with 12 cores of two Xeon E5649 (2.53 GHz) and two Tesla M2075, has
processes of 6 + 6 cores, of 6 + 5 and a GPU, or of 6 + 4 and two GPUs; e5520-N, with 8 cores of two Xeon E5520
(2.27 GHz) and two Tesla C2050, of 4 + 4, of 4 + 3 and a GPU, or of 4 + 2 and two.

`slowdown=F` is how much slower than a GPU a process is by the vendors' peak figures, which the paper did not measure:
F = 515 / (cores x GHz x 4), from 515 GFLOP/s in double precision for both GPUs, and 4 floating-point operations per cycle
and core. Measured speed models say more. A model of the GPU that `steelyard predict summa --layout M10.layout --model`
reads counts for every process, as much slower as its line says. `mpirun -n 29 steelyard layout --like M10.layout` writes a
layout of 29 ranks on the machine at hand, with the same units and slowdowns, which programs emulate.
"""

import sys

from results import write_text

# How many GPUs each node of a layout uses: those of 12 cores, then those of 8.
NODES = {
    "M1": ("0", ""), "M2": ("01", ""), "M3": ("01", "0"), "M4": ("012", "0"), "M5": ("012", "01"), "M6": ("012", "012"),
    "M7": ("0120", "012"), "M8": ("00011122", ""), "M9": ("000111222", ""), "M10": ("000111222", "0"),
    "M11": ("000111222", "01"), "M12": ("000111222", "012"), "M13": ("000111222", "0120"),
    "M14": ("000111222", "01201"), "M15": ("000111222", "012012"), "M16": ("000111222", "0120120"),
}


def layout(name):
    """Text of a layout file."""
    text = "#hostname            rank_intra  bind      device_type  suboptions\n"
    for host, socket, ghz, nodes in (("e5649", 6, 2.53, NODES[name][0]), ("e5520", 4, 2.27, NODES[name][1])):
        for node, gpus in enumerate(map(int, nodes)):
            processes = []
            for first, cores in ((0, socket), (socket, socket - gpus)):
                slowdown = 515 / (cores * ghz * 4)
                processes.append((f"{first}-{first + cores - 1}", "host", f"slowdown={slowdown:.5g}"))
            for gpu in range(gpus):
                processes.append((str(2 * socket - gpus + gpu), "device", f"device={gpu},slowdown=1"))
            for rank, (cores, unit, options) in enumerate(processes):
                text += f"{f'{host}-{node}':21}{rank:<12}{cores:10}{unit:13}{options}\n"
    return text


def write_layouts(run):
    """Files of all sixteen, for experiments."""
    for name in NODES:
        write_text(run.folder / f"{name}.layout", layout(name))
    return [{"layout": name, "processes": layout(name).count("\n") - 1} for name in NODES]


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in NODES:
        sys.exit(f"expected one of: {' '.join(NODES)}")
    print(layout(sys.argv[1]), end="")
