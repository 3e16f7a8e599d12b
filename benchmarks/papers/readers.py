"""Rows of columns from what a program has written: a reader takes the run that a driver has started."""

import json
import re

_factors = {
    "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0,
    "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "B/s": 1.0, "GB/s": 1e9, "MB/s": 1e6,
    "GFLOP/s": 1e9, "%": 1.0, "x": 1.0, "times": 1.0,
}


def quantity(text):
    """A number in SI units of what a table shows: `1.3 ms` is 0.0013; per cent stay per cent; other text stays text."""
    found = re.fullmatch(r"(-?[0-9][0-9.]*(?:e[-+]?[0-9]+)?)\s*([A-Za-z%/]*)(?: \(emulated\))?", text.strip())
    if not found or (found[2] and found[2] not in _factors):
        return text.strip()
    return float(found[1]) * (_factors[found[2]] if found[2] else 1.0)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _record(run):
    return load(run.result / "run.json")


def read_run(run):
    """What a mini-app's run.json says, in one row."""
    record = _record(run)
    row = {"time_s": record["median_time_s"], "predicted_s": record["predicted_time_s"],
           "figure_of_merit": (record.get("figure_of_merit") or {}).get("value")}
    for name, value in record["figures"].items():
        if isinstance(value, (int, float)):
            row[re.sub(r"[^A-Za-z0-9_]+", "_", name)] = value
    for phase in record["phases"]:
        row[phase["name"] + "_s"] = phase["measured_s"]
        row[phase["name"] + "_predicted_s"] = phase["predicted_s"]
    total = sum(record["distribution"])
    row["distribution"] = " + ".join(map(str, record["distribution"]))
    row["first_share"] = 100.0 * record["distribution"][0] / total if total else 0.0
    row["passed"] = record["check"].get("passed")
    return [row]


def read_repetitions(run):
    """A row for each timed repetition of a mini-app's run."""
    with open(run.result / "samples.jsonl", encoding="utf-8") as file:
        samples = [json.loads(line) for line in file]
    return [
        {"repetition": int(sample["repetition"]), "time_s": sample["value"]}
        for sample in samples if sample["metric"] == "time_s"
    ]


def read_table(run):
    """A row for each line of a printed table whose first headings, two spaces between them, are `from`; numbers
    are read with their units."""
    first = run.source.split("  ")
    rows = []
    headings = None
    for line in run.output.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if headings is None:
            if cells[: len(first)] == first:
                headings = cells
        elif re.fullmatch(r"[-\s]+", line):
            continue
        elif len(cells) == len(headings):
            rows.append({heading: quantity(cell) for heading, cell in zip(headings, cells)})
        elif rows:
            headings = None  # the table ends; another one of the same heading may follow
    return rows


def read_units(run):
    """A row for each processing unit of a mini-app's run: its share, and what its kernels took and were to take."""
    record = _record(run)
    rows = []
    for unit, units in zip(record["units"], record["distribution"]):
        row = {"unit": f"rank {unit['rank']} {unit['kind']}", "slowdown": unit["slowdown"], "units": units}
        row.update({name: unit[name] for name in ("predicted_s", "measured_s") if unit.get(name) is not None})
        rows.append(row)
    return rows


def read_models(run):
    """A row for each measured point of the speed models in the folder of `--output`."""
    rows = []
    for path in sorted((run.folder / run.source).glob("*.fpm.json")):
        model = load(path)
        rank, unit = _unit(path)
        for point in model["points"]:
            speed = point["units"] / point["time_s"]
            spread = point.get("confidence_s", 0.0) / point["time_s"]
            rows.append({
                "unit": f"rank {rank} {unit}",
                "measured": "alone" if ".solo." in path.name else "together",
                "units": point["units"],
                "time_s": point["time_s"],
                "speed": speed,
                "speed_low": speed / (1.0 + spread),
                "speed_high": speed / max(1.0 - spread, 0.1),
                "gflops": speed * model.get("flops_per_unit", 0.0) / 1e9,
                "bytes_per_s": speed * model.get("bytes_per_unit", 0.0),
            })
    return rows


def read_platform(run):
    """A row for each measured point of a platform file's channels, and for what the fitted models make of it."""
    rows = []
    for channel in load(run.folder / run.source)["channels"]:
        for point in channel.get("tau_lop", {}).get("transfer", []):
            rows.append({
                "channel": channel["name"], "quantity": "transfer", "bytes": point["bytes"],
                "concurrency": point.get("concurrency", 1), "time_s": point["time_s"],
            })
        for segment in channel.get("hockney", {}).get("segments", []):
            rows.append({
                "channel": channel["name"], "quantity": "Hockney", "latency_s": segment["latency_s"],
                "bandwidth_bytes_per_s": segment["bandwidth_bytes_per_s"],
            })
    return rows


def read_text(run):
    """A row for each match of the regular expression `from`, whose groups are the columns."""
    return [
        {name: quantity(text) for name, text in found.groupdict().items() if text is not None}
        for found in re.finditer(run.source, run.output, re.MULTILINE)
    ]


# Rows of a mini-app's run.json.
_record_rows = {
    "phases": lambda record: [
        {"phase": phase["name"], "time_s": phase["measured_s"], "predicted_s": phase["predicted_s"]}
        for phase in record["phases"]
    ],
    # operations of the engines of gemm's devices
    "timeline": lambda record: [
        {"engine": name.removesuffix("_start_s"), "start_s": start_s, "length_s": end_s - start_s}
        for name, starts_s in record["figures"].items()
        if name.endswith("_start_s")
        for start_s, end_s in zip(starts_s, record["figures"][name.replace("_start_s", "_end_s")])
    ],
}

# Rows of what a command prints with `--format json`.
_json_rows = {
    "cost": lambda text: [text],
    # of `steelyard predict`, a row for each communication model
    "communication_models": lambda text: [
        {"model": name, "predicted_s": time_s} for name, time_s in text["models"].items()
    ],
    # rank by rank
    "rectangles": lambda text: [
        {"rank": rank, "x": one["column"], "y": one["row"], "width": one["columns"], "height": one["rows"]}
        for rank, one in enumerate(text["rectangles"])
    ],
    # a row for each unit
    "partition": lambda text: [
        {"unit": i, "units": units, "predicted_s": time_s, "makespan_s": text["makespan_s"]}
        for i, (units, time_s) in enumerate(zip(text["units"], text["predicted_s"]))
    ],
    # of `steelyard model --at …`, a row for each size
    "model_at": lambda text: [{"kind": text["kind"], **point} for point in text["at"]],
    # what was fitted, and how far the fit is from the points
    "model_parameters": lambda text: [{**text["parameters"], "rms": 100.0 * text["fit_error"]["rms"]}],
    # between the lines through the speeds' minima and maxima, a row a measured size (002, section 6.2.3)
    "model_bands": lambda text: [
        {**band, "speed": 0.5 * (band["speed_low"] + band["speed_high"])} for band in text["variation"]["bands"]
    ],
    # largest variation of neighbouring extrema (002, eq. 1), and the band's largest width
    "model_variation": lambda text: [
        {"variation": 100.0 * text["variation"]["largest"], "band": 100.0 * text["variation"]["widest_band"]}
    ],
}


READERS = {
    "nothing": lambda run: [{}],  # of a step that only makes files for later ones
    **{name.removeprefix("read_"): one for name, one in list(globals().items()) if name.startswith("read_")},
    **{name: lambda run, rows=rows: rows(_record(run)) for name, rows in _record_rows.items()},
    **{name: lambda run, rows=rows: rows(json.loads(run.output)) for name, rows in _json_rows.items()},
}


def _unit(path):
    """Rank and unit of a speed model's file."""
    rank, unit = re.match(r"rank(\d+)-(host|device)", path.name).groups()
    return int(rank), unit


def expand_files(folder, command):
    """Replaces patterns of speed models, such as models/*.fpm.json, by the files there are, in the order of the units:
    rank by rank, the host unit before the companion."""
    words = []
    for word in command:
        if "*" not in word:
            words.append(word)
            continue
        files = [path for path in folder.glob(word) if ".solo." not in path.name]
        if not files:
            raise FileNotFoundError(f"{folder / word}: no such files (a step before this one has to make them)")
        files.sort(key=lambda path: (_unit(path)[0], _unit(path)[1] != "host"))
        words += [str(path.relative_to(folder)) for path in files]
    return words
