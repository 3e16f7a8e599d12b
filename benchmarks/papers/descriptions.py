"""Descriptions of experiments: `<paper>/experiments.toml`, read, checked and unfolded into single runs."""

import csv
import itertools
import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

SCALES = ("small", "machine", "full")
folder = Path(__file__).resolve().parent

# Keys that have to be there, and others.
_keys = {
    "experiment": (
        {"figures", "title", "question", "difference", "expected_s", "steps", "columns"},
        {"like", "needs", *SCALES, "values", "compute", "rename", "derive", "ratios", "charts", "tables", "paper_csv",
         "paper_note"},
    ),
    "step": (
        set(),
        {"sweep", "when", "command", "ranks", "hosts", "function", "read", "also", "from", "rename", "add", "skip"},
    ),
    "chart": (
        {"x", "y"},
        {"kind", "by", "step", "where", "label", "log", "interval", "paper", "lane", "width", "height", "text", "colour"},
    ),
    "table": ({"columns"}, {"step", "where"}),
}
# By kind of a chart.
_defaults = {
    "rectangles": {"x": "x", "y": "y", "width": "width", "height": "height", "text": "label", "colour": "rank"},
    "timeline": {"x": "start_s", "y": "length_s", "width": "length_s", "lane": "engine", "colour": "engine"},
}


class DescriptionError(Exception):
    """A description that says what the driver cannot use: which file, and what it expected."""


def number(text):
    """A number where the text is one, and the text otherwise."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def evaluate(expression, variables):
    """The value of a Python expression over the variables of a run or the columns of a point."""
    names = {"min": min, "max": max, "abs": abs, "round": round, "str": str, "int": int, "len": len}
    return eval(expression, {"__builtins__": names}, variables)  # noqa: S307: descriptions are a part of this tree


@dataclass
class Run:
    """One run of a step: what is started, and under which key its points are kept. Readers and functions take it."""

    experiment: "Experiment"
    step: dict
    key: str
    columns: dict  # what was swept over, by column
    variables: dict
    folder: Path = None  # of the experiment's results
    driver: object = None
    points: list = ()  # values of the experiment's points so far
    output: str = ""  # of its command
    source: str = ""  # what the reader asks for: the description's `from`, or the command's `--output`

    @property
    def command(self):
        return " ".join(self.step["command"].format(**self.variables).split())

    def count(self, name):
        """How many `ranks` or `hosts` it is started on."""
        return int(str(self.step.get(name, 1)).format(**self.variables))

    @property
    def result(self):
        """The folder of `--result {result}`."""
        return self.folder / self.variables["result"]

    def points_of(self, step):
        """Values of the points that a step has made."""
        return [values for values in self.points if values["step"] == step]


@dataclass
class Experiment:
    paper: str
    path: Path
    text: dict

    @property
    def name(self):
        return self.text["figures"][0]

    def paper_points(self):
        """The paper's numbers, one dictionary a row."""
        rows = csv.DictReader(re.split(r"\s*[;\n]\s*", self.text.get("paper_csv", "").strip()))
        return [{k: number(v) for k, v in row.items() if v != ""} for row in rows]

    def unfold(self, scale, facts):
        """All runs at a scale, in the order in which they are started."""
        constants = {**facts, **self.text.get("values", {}), **self.text.get(scale, {})}
        return [run for step in self.text["steps"] for run in _unfold_step(self, step, constants)]


def _text_of(value):
    return value["name"] if isinstance(value, dict) else value


def _unfold_step(experiment, step, constants):
    swept = step["sweep"]
    for name in swept:
        if name not in constants:
            raise DescriptionError(f"{experiment.path}: {experiment.name} sweeps over '{name}', which has no values")
    runs = []
    for choice in itertools.product(*(constants[name] for name in swept)):
        variables = {**constants, **dict(zip(swept, choice))}
        for name, expression in experiment.text.get("compute", {}).items():
            try:
                variables[name] = evaluate(expression, variables)
            except (NameError, TypeError):
                pass  # made of what another step sweeps over
        if "when" in step and not evaluate(step["when"], variables):
            continue
        columns = {"step": step["name"], **{name: _text_of(variables[name]) for name in swept}}
        key = " ".join([step["name"], *(f"{name}={_text_of(variables[name])}" for name in swept)])
        variables["result"] = "runs/" + re.sub(r"[^A-Za-z0-9._=-]+", "_", key)
        runs.append(Run(experiment, step, key, columns, variables))
    return runs


def _check(path, what, name, text):
    required, others = _keys[what]
    unknown = set(text) - required - others
    missing = required - set(text)
    if unknown or missing:
        raise DescriptionError(f"{path}: {what} {name}: unknown {sorted(unknown)}, missing {sorted(missing)}")


def _read_columns(columns):
    """Label and unit by name: the description's own, those of columns.json, or the name itself."""
    with open(folder / "columns.json", encoding="utf-8") as file:
        standard = json.load(file)
    labels = {"step": ("step", "")}
    single = ([[name] for name in one.split()] if isinstance(one, str) else [one] for one in columns)
    for name, *own in itertools.chain.from_iterable(single):
        label, *unit = own or standard.get(name, [name.replace("_", " ")])
        labels[name] = (label, unit[0] if unit else "")
    return labels


def _entries(path, what, entries):
    """Name and keys of each `["name", …]`, whose tables have the keys together; a text among them is its command."""
    for name, *parts in entries:
        keys = {}
        for part in parts:
            keys |= {"command": part} if isinstance(part, str) else part
        keys = {**_defaults.get(keys.get("kind"), {}), **keys}
        _check(path, what, name, keys)
        yield name, keys


def _where(shown):
    """All that its points have to have; `step` stands for `where = {step = …}`."""
    return {**({"step": shown["step"]} if "step" in shown else {}), **shown.get("where", {})}


def _read_experiment(path, text):
    _check(path, "experiment", text.get("figures"), text)
    steps = []
    for name, step in _entries(path, "step", text["steps"]):
        if ("command" in step) == ("function" in step):
            raise DescriptionError(f"{path}: step {name} has to have either a command or a function")
        read = "run" if "{result}" in step.get("command", "") else "nothing"
        steps.append({"name": name, "read": read, **step, "sweep": step.get("sweep", "").split()})
    charts = [
        {"kind": "line", **chart, "title": title, "by": chart.get("by", "").split(), "where": _where(chart)}
        for title, chart in _entries(path, "chart", text.get("charts", []))
    ]
    tables = [
        {"title": title, "columns": table["columns"].split(), "where": _where(table)}
        for title, table in _entries(path, "table", text.get("tables", []))
    ]
    texts = {key: " ".join(text.get(key, "").split()) for key in ("title", "question", "difference", "paper_note")}
    read = {"steps": steps, "columns": _read_columns(text["columns"]), "charts": charts, "tables": tables}
    return Experiment(path.parent.name, path, {**text, **texts, **read})


def read_paper(paper):
    """Experiments of a paper, and what it shows that no experiment here can: figures and reason each."""
    path = folder / paper / "experiments.toml"
    with open(path, "rb") as file:
        text = tomllib.load(file)
    by_name = {one["figures"][0]: one for one in text["experiments"]}
    experiments = [_read_experiment(path, {**by_name.get(one.get("like"), {}), **one}) for one in text["experiments"]]
    return experiments, text.get("absent", [])


def papers():
    return sorted(path.parent.name for path in folder.glob("*/experiments.toml"))
