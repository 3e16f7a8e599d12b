"""An experiment's results folder: experiment.json and points.jsonl, the format of which README.md describes."""

import json
import os

from descriptions import evaluate

SCHEMA = "steelyard.experiment/1"
BANNER = "Small scale: shows that it runs; not a measurement."
COLOURS = 8  # by which a chart tells series apart


def write_text(path, text):
    """Replaces a file as a whole: a reader, or a run that goes on later, finds the old one or the new one."""
    temporary = path.with_name(path.name + ".new")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


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
        points = [point["values"] for point in self.points]
        for ratios in ({}, self.experiment.text.get("ratios", {})):
            for name, ratio in ratios.items():
                for values in points:
                    values.pop(name, None)
                    value = _ratio(ratio, values, points)
                    if value is not None:
                        values[name] = value
            for values in points:
                for name, expression in self.experiment.text.get("derive", {}).items():
                    try:
                        values[name] = evaluate(expression, values)
                    except (NameError, TypeError, ZeroDivisionError):
                        values.pop(name, None)  # of points that lack what it is made of

    def write(self, facts, complete):
        self._derive()
        write_text(self._points_path, "".join(json.dumps(point) + "\n" for point in self.points))
        text = self.experiment.text
        columns = text["columns"]
        paper_points = self.experiment.paper_points()
        description = {
            "schema": SCHEMA,
            "paper": self.experiment.paper,
            "figure": self.experiment.name,
            **{key: text[key] for key in ("figures", "title", "question")},
            "banner": BANNER if self.scale == "small" else "",
            "scale": self.scale,
            **{key: facts[key] for key in ("date", "commit", "machine")},
            "complete": complete,
            "columns": [{"name": name, "label": label, "unit": unit} for name, (label, unit) in columns.items()],
            "points_file": "points.jsonl",
            "charts": [part for chart in text["charts"] for part in self._charts(chart, columns, paper_points)],
            "tables": [self._table(table, paper_points) for table in text["tables"]],
            "paper_points": paper_points,
            **{key: text[key] for key in ("paper_note", "difference")},
        }
        write_text(self.path / "experiment.json", json.dumps(description, indent=2) + "\n")

    def _table(self, table, paper_points):
        """A table, and the rows of the paper beside its own: those that have a number where this one has results."""
        given = {"repetition"}
        for step in self.experiment.text["steps"]:
            given.update(step["sweep"], step.get("add", {}))
        rows = [
            values for values in _chosen(paper_points, _condition(table["where"], paper_points))
            if any(isinstance(values.get(name), (int, float)) for name in set(table["columns"]) - given)
        ]
        return {**table, "paper_rows": rows}

    def _charts(self, chart, columns, paper_points):
        """A chart; where it has more series than colours, one for each value of the first column of `by`."""
        series = self._series(chart, [point["values"] for point in self.points], chart["where"], "here")
        if chart.get("paper", True):
            series += self._series(chart, paper_points, _condition(chart["where"], paper_points), "paper")
        if len(series) > COLOURS and len(chart["by"]) > 1:
            first, *others = chart["by"]
            for value in dict.fromkeys(one["where"][first] for one in series if first in one["where"]):
                name = value if isinstance(value, str) else f"{columns[first][0]} {value}"
                part = {"title": f"{chart['title']}: {name}", "by": others, "where": {**chart["where"], first: value}}
                yield from self._charts({**chart, **part}, columns, paper_points)
            return
        result = {"title": chart["title"], "kind": chart["kind"]}
        for axis in "xy":
            label, unit = columns[chart[axis]]
            result[axis] = {"column": chart[axis], "label": f"{label} ({unit})" if unit else label,
                            "scale": "log" if axis in chart.get("log", "") else "linear"}
        result["y"]["unit"] = columns[chart["y"]][1]
        boxes = {name: chart[name] for name in ("lane", "width", "height", "text", "colour") if name in chart}
        yield {**result, "series": series, **boxes}

    @staticmethod
    def _series(chart, points, condition, source):
        """A series for every combination of values in the columns `by`, in the order in which they come."""
        found = []
        for values in _chosen(points, condition):
            where = {name: values[name] for name in chart["by"] if name in values}
            if chart["x"] in values and chart["y"] in values and where not in found:
                found.append(where)
        series = []
        for where in found:
            label = ", ".join(map(str, where.values())) or chart.get("label", "")
            one = {"label": label, "where": {**condition, **where}, "y": chart["y"], "from": source}
            if "interval" in chart and source == "here":
                one.update({bound: f"{chart['interval']}_{bound}" for bound in ("low", "high")})
            series.append(one)
        return series


def _ratio(ratio, values, points):
    """That column of the point named by "over" / this point's, both with the same "within"; None where one has none."""
    column, same = ratio["of"], {name: values.get(name) for name in ratio["within"]}
    others = [other for other in _chosen(_chosen(points, ratio["over"]), same) if column in other]
    return others[0][column] / values[column] if others and values.get(column) else None


def _chosen(points, where):
    return [values for values in points if all(values.get(name) == value for name, value in where.items())]


def _condition(where, paper_points):
    """The part of a condition that can be asked of the paper's numbers, which may lack columns."""
    return {name: value for name, value in where.items() if any(name in values for values in paper_points)}
