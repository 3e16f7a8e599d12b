"""Splits between host and companion, made of measured tables and judged by them."""

import json
from dataclasses import replace

from readers import load, read_models


def measure_tables(run):
    """Speed models of both units at every size that splits may have."""
    step = run.variables["step"]
    sizes = " ".join(map(str, range(step, run.variables["most"] + 1, step)))
    command = f"steelyard measure {{measure}} --sizes {sizes} {{both}} {{depth}} --output models"
    run.driver.start(command.format(**run.variables), run.folder)
    return read_models(replace(run, source="models"))


def largest_remainders(total, weights, step):
    """Multiples of step in proportion to the weights."""
    pieces = [total // step * weight / sum(weights) for weight in weights]
    counts = [int(piece) for piece in pieces]
    by_rest = sorted(range(len(pieces)), key=lambda i: counts[i] - pieces[i])
    for i in by_rest[: total // step - sum(counts)]:
        counts[i] += 1
    return [count * step for count in counts]


def compare_splits(run):
    """Splits of workloads from the tables' first third to twice their last size, all judged by the tables (002, section
    6.2): HPOPTA and exact over the measured points, HPOPTA over the smoothed ones, and constant speeds of three sizes.
    Improvements of HPOPTA are (other time - its time) / its time: 002's numbers above 100 % cannot be shares of the
    other time, as its formula for smooth FPM has it. Workloads for which a split leaves the tables do not count, as in
    002."""
    tables = [
        {int(point["units"]): point["time_s"] for point in load(run.folder / f"models/rank0-{unit}.fpm.json")["points"]}
        for unit in ("host", "device")
    ]
    step, most = run.variables["step"], run.variables["most"]
    sizes = sorted(set(tables[0]) & set(tables[1]))
    constant = {
        "CPM of the smallest size": sizes[0],
        "CPM of a middle size": sizes[len(sizes) // 2],
        "CPM of the largest size": sizes[-1],
    }
    asked = {"HPOPTA": "--algorithm hpopta --kind table", "exact": "--algorithm exact --kind table",
             "smooth FPM": f"--algorithm geometric --kind polynomial --granularity {step}"}
    rows = []
    between = max(2 * most // run.variables["workloads"] // step, 1) * step
    totals = range(max(most // 3 // step, 2) * step, 2 * most + 1, between)
    for total in totals:
        splits = {}
        for name, options in asked.items():
            output = run.driver.start(f"steelyard partition {options} --total {total} --models models/rank0-*.fpm.json "
                                  "--format json", run.folder, any_exit_code=True)
            if output:
                splits[name] = json.loads(output)["units"]
        for name, size in constant.items():
            speeds = [size / table[size] for table in tables]
            splits[name] = largest_remainders(total, speeds, step)
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
        statistics = {"minimum": min(values), "average": sum(values) / len(values), "maximum": max(values)}
        for statistic, value in statistics.items():
            rows.append({"step": "improvements", "split": name, "statistic": statistic, "improvement": value})
    return rows
