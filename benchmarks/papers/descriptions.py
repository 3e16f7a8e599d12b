"""Descriptions of experiments: `<paper>/experiments.toml`, read, checked and unfolded into single runs."""

import csv
import itertools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

SCALES = ("small", "machine", "full")
folder = Path(__file__).resolve().parent

_keys = {
    "experiment": {
        "figures", "title", "question", "difference", "expected_s", "needs", *SCALES, "values", "compute", "steps",
        "columns", "derive", "ratios", "charts", "tables", "paper_csv", "paper_note",
    },
    "step": {
        "name", "sweep", "when", "values", "command", "ranks", "hosts", "any_exit_code", "function", "read", "also", "from",
        "rename", "add", "skip",
    },
    "chart": {"title", "kind", "x", "y", "by", "where", "label", "x_scale", "y_scale", "low", "high", "more", "paper"},
    "table": {"title", "columns", "where"},
}
_required = {
    "experiment": {"figures", "title", "question", "difference", "expected_s", "steps", "columns"},
    "step": {"name"},
    "chart": {"title", "kind", "x", "y"},
    "table": {"title", "columns"},
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
    """One run of a step: what is started, and under which key its points are kept."""

    experiment: "Experiment"
    step: dict
    key: str
    columns: dict  # what was swept over, by column
    variables: dict


@dataclass
class Experiment:
    paper: str
    path: Path
    text: dict

    @property
    def name(self):
        return self.text["figures"][0]

    def expected_s(self, scale):
        return self.text["expected_s"][scale]

    def paper_points(self):
        """The paper's numbers, one dictionary a row of the CSV file."""
        if "paper_csv" not in self.text:
            return []
        with open(self.path.parent / self.text["paper_csv"], newline="", encoding="utf-8") as file:
            return [{k: number(v) for k, v in row.items() if v != ""} for row in csv.DictReader(file)]

    def unfold(self, scale, facts):
        """All runs at a scale, in the order in which they are started."""
        constants = dict(facts)
        constants.update(self.text.get("values", {}))
        constants.update(self.text.get(scale, {}))
        return [run for step in self.text["steps"] for run in _unfold_step(self, step, constants)]


def _text_of(value):
    return value["name"] if isinstance(value, dict) else value


def _unfold_step(experiment, step, constants):
    swept = step.get("sweep", [])
    for name in swept:
        if name not in constants:
            raise DescriptionError(f"{experiment.path}: {experiment.name} sweeps over '{name}', which has no values")
    runs = []
    for choice in itertools.product(*(constants[name] for name in swept)):
        variables = {**constants, **step.get("values", {}), **dict(zip(swept, choice))}
        for name, expression in experiment.text.get("compute", {}).items():
            try:
                variables[name] = evaluate(expression, variables)
            except (NameError, TypeError):
                pass  # made of what another step sweeps over
        if "when" in step and not evaluate(step["when"], variables):
            continue
        columns = {"step": step["name"], **{name: _text_of(variables[name]) for name in swept}}
        key = " ".join([step["name"], *(f"{name}={_text_of(variables[name])}" for name in swept)])
        variables["key"] = re.sub(r"[^A-Za-z0-9._=-]+", "_", key)
        variables["result"] = "runs/" + variables["key"]
        runs.append(Run(experiment, step, key, columns, variables))
    return runs


def _check(path, what, text):
    unknown = set(text) - _keys[what]
    missing = _required[what] - set(text)
    if unknown or missing:
        name = text.get("figures", [text.get("name", text.get("title", "?"))])
        raise DescriptionError(f"{path}: {what} {name}: unknown {sorted(unknown)}, missing {sorted(missing)}")


def read_paper(paper):
    """Experiments of a paper, and what it shows that no experiment here can: {"figures", "reason"} each."""
    path = folder / paper / "experiments.toml"
    with open(path, "rb") as file:
        text = tomllib.load(file)
    experiments = []
    for one in text["experiments"]:
        _check(path, "experiment", one)
        for step in one["steps"]:
            _check(path, "step", step)
            if ("command" in step) == ("function" in step):
                raise DescriptionError(f"{path}: step {step['name']} has to have either a command or a function")
        for chart in one.get("charts", []):
            _check(path, "chart", chart)
        for table in one.get("tables", []):
            _check(path, "table", table)
        experiments.append(Experiment(paper, path, one))
    return experiments, text.get("absent", [])


def papers():
    return sorted(path.parent.name for path in folder.glob("*/experiments.toml"))
