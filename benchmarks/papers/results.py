"""An experiment's results folder: experiment.json and points.jsonl, the format of which README.md describes."""

import json
import os

from descriptions import evaluate, folder as descriptions_folder

SCHEMA = "steelyard.experiment/1"


def write_text(path, text):
    """Replaces a file as a whole: a reader, or a run that goes on later, finds the old one or the new one."""
    temporary = path.with_name(path.name + ".new")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def standard_columns():
    """Label and unit of columns that several experiments have, by name."""
    with open(descriptions_folder / "columns.json", encoding="utf-8") as file:
        return json.load(file)


class Results:
    """Points of one experiment at one scale. A point that is here is finished."""

    def __init__(self, path, experiment, scale):
        self.path = path
        self.experiment = experiment
        self.scale = scale
        self.points = []  # {"key", "command", "values"}
        self.order = {}  # of keys
        path.mkdir(parents=True, exist_ok=True)
        if self._points_path.exists():
            with open(self._points_path, encoding="utf-8") as file:
                self.points = [json.loads(line) for line in file if line.strip()]

    @property
    def _points_path(self):
        return self.path / "points.jsonl"

    def has(self, key, command, steps):
        """Whether this run is finished: the same command as now has left points of all steps that it stands for."""
        found = {point["values"]["step"] for point in self.points if (point["key"], point["command"]) == (key, command)}
        return found >= set(steps)

    def add(self, key, command, rows):
        """Takes the place of what an earlier command left under the same key."""
        self.points = [point for point in self.points if point["key"] != key]
        self.points += [{"key": key, "command": command, "values": row} for row in rows]
        self.points.sort(key=lambda point: self.order[point["key"]])

    def drop(self, keys):
        """Forgets the points of these runs."""
        gone = set(keys)
        self.points = [point for point in self.points if point["key"] not in gone]

    def keep_only(self, keys):
        """Drops points that the description no longer has, and keeps those of its runs in their order from now on."""
        self.order = {key: i for i, key in enumerate(keys)}
        self.points = [point for point in self.points if point["key"] in self.order]

    def _derive(self):
        """Columns that follow from others of the same point, ratios to another point, and what follows from these."""
        self._derive_columns()
        for name, ratio in self.experiment.text.get("ratios", {}).items():
            for point in self.points:
                self._derive_ratio(name, ratio, point["values"])
        self._derive_columns()

    def _derive_columns(self):
        for point in self.points:
            values = point["values"]
            for name, expression in self.experiment.text.get("derive", {}).items():
                try:
                    values[name] = evaluate(expression, values)
                except (NameError, TypeError, ZeroDivisionError):
                    values.pop(name, None)  # of points that lack what it is made of

    def _derive_ratio(self, name, ratio, values):
        """values[name] = that column of the point named by "over" / this point's, both with the same "within"."""
        column, within = ratio["of"], ratio["within"]
        values.pop(name, None)
        if column not in values:
            return
        for other in (point["values"] for point in self.points):
            same = all(other.get(key) == values.get(key) for key in within)
            if same and column in other and all(other.get(key) == value for key, value in ratio["over"].items()):
                if values[column]:
                    values[name] = other[column] / values[column]
                return

    def write(self, facts, complete):
        self._derive()
        columns = self._columns()
        write_text(self._points_path, "".join(json.dumps(point) + "\n" for point in self.points))
        text = self.experiment.text
        paper_points = self.experiment.paper_points()
        description = {
            "schema": SCHEMA,
            "paper": self.experiment.paper,
            "figure": self.experiment.name,
            "figures": text["figures"],
            "title": text["title"],
            "question": text["question"],
            "scale": self.scale,
            "date": facts["date"],
            "commit": facts["commit"],
            "machine": facts["machine"],
            "complete": complete,
            "columns": columns,
            "points_file": "points.jsonl",
            "charts": [self._chart(chart, columns, paper_points) for chart in text.get("charts", [])],
            "tables": text.get("tables", []),
            "paper_points": paper_points,
            "paper_note": text.get("paper_note", ""),
            "difference": text["difference"],
        }
        write_text(self.path / "experiment.json", json.dumps(description, indent=2) + "\n")

    def _columns(self):
        standard = standard_columns()
        columns = []
        for column in self.experiment.text["columns"]:
            name, label, unit = column if isinstance(column, list) else (column, *standard[column])
            columns.append({"name": name, "label": label, "unit": unit})
        return [{"name": "step", "label": "step", "unit": ""}, *columns]

    def _chart(self, chart, columns, paper_points):
        by_name = {column["name"]: column for column in columns}
        y_column = by_name[chart["y"]]
        series = self._series(chart, [point["values"] for point in self.points], "here")
        if chart.get("paper", True):
            series += self._series(chart, paper_points, "paper")
        result = {
            "title": chart["title"],
            "kind": chart["kind"],
            "x": {"column": chart["x"], "label": _axis(by_name[chart["x"]]), "scale": chart.get("x_scale", "linear")},
            "y": {
                "column": chart["y"],
                "label": _axis(y_column),
                "scale": chart.get("y_scale", "linear"),
                "unit": y_column["unit"],
            },
            "series": series,
        }
        result.update(chart.get("more", {}))
        return result

    def _series(self, chart, points, source):
        """A series for every combination of values in the columns `by`, in the order in which they come."""
        by = chart.get("by", [])
        condition = chart.get("where", {})
        if source == "paper" and not any("step" in values for values in points):
            condition = {name: value for name, value in condition.items() if name != "step"}
        found = []
        for values in points:
            if chart["x"] not in values or chart["y"] not in values:
                continue
            if any(values.get(name) != value for name, value in condition.items()):
                continue
            where = {name: values[name] for name in by if name in values}
            if where not in found:
                found.append(where)
        series = []
        for where in found:
            label = ", ".join(str(value) for value in where.values()) or chart.get("label", "")
            one = {"label": label, "where": {**condition, **where}, "y": chart["y"], "from": source}
            for bound in ("low", "high"):
                if bound in chart and source == "here":
                    one[bound] = chart[bound]
            series.append(one)
        return series


def _axis(column):
    return f"{column['label']} ({column['unit']})" if column["unit"] else column["label"]
