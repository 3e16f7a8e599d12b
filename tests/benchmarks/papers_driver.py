"""papers_driver.py TREE BINARIES: the driver of the papers' experiments lists what it has, goes on where it was killed,
and leaves results folders as benchmarks/papers/README.md describes them."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

tree, binaries = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
driver = [sys.executable, "-B", str(tree / "benchmarks/papers/driver.py"), "--binaries", str(binaries)]
sys.dont_write_bytecode = True
sys.path.insert(0, str(tree / "benchmarks/papers"))
import evaluations  # noqa: E402
from descriptions import papers, read_paper  # noqa: E402
from readers import quantity, read_table, read_units  # noqa: E402
from results import BANNER, COLOURS, Results  # noqa: E402
from splits import largest_remainders  # noqa: E402
from worked_example import EXAMPLE, Tree  # noqa: E402

quick = ["--paper", "001", "--experiment", "fig5", "--scale", "small"]


def drive(*arguments):
    return subprocess.run([*driver, *arguments], capture_output=True, text=True, check=False)


def experiments():
    return [one for paper in papers() for one in read_paper(paper)[0]]


class Listing(unittest.TestCase):
    def test_list_has_every_figure_of_every_paper_once(self):
        done = drive("--list", "--scale", "small")
        self.assertEqual(done.returncode, 0, done.stderr)
        figures = {}
        for line in done.stdout.splitlines()[:-1]:
            paper, listed = line.split(maxsplit=1)
            for word in listed.split(":")[0].split():
                if word.startswith(("fig", "table")):
                    figures.setdefault(paper, []).append(word)
        self.assertEqual(sorted(figures), papers())
        for paper, found in figures.items():
            self.assertEqual(len(found), len(set(found)), f"{paper} has a figure twice")
        asked = {
            "000": "2.1 3.2 3.5 3.6 4.3 4.4 4.6 4.7 4.8 4.9 4.10 4.11 4.12 5.1 5.2 6.1",
            "001": "5 6 8 9 10 12 13 14 15 16",
            "002": " ".join(str(i) for i in range(1, 17)),
            "003": " ".join(f"7.{i}" for i in range(2, 38)),
            "004": "3 4 5 6",
        }
        for paper, numbers in asked.items():
            self.assertLessEqual({f"fig{number}" for number in numbers.split()}, set(figures[paper]))

    def test_an_unknown_experiment_is_a_wrong_argument_and_says_what_there_is(self):
        done = drive("--paper", "002", "--experiment", "fig99")
        self.assertEqual(done.returncode, 2)
        self.assertIn("fig14", done.stderr)


class Descriptions(unittest.TestCase):
    facts = dict.fromkeys(("both", "slow", "depth", "repeat", "calibration", "tree"), "")
    facts |= {"cores": 4, "hosts": 2, "gpu": False, "devices": 2}

    def test_every_command_is_complete_at_every_scale(self):
        for experiment in experiments():
            for scale in ("small", "machine", "full"):
                runs = experiment.unfold(scale, self.facts)
                self.assertTrue(runs, f"{experiment.paper} {experiment.name} at {scale} runs nothing")
                self.assertEqual(len({run.key for run in runs}), len(runs))
                for run in runs:
                    self.assertTrue("function" in run.step or run.command)
                    self.assertGreaterEqual(min(run.count("ranks"), run.count("hosts")), 1)

    def test_charts_tables_and_the_papers_numbers_have_columns_of_the_experiment(self):
        for experiment in experiments():
            text = experiment.text
            columns = {one[0] if isinstance(one, list) else one for one in text["columns"]} | {"step"}
            for chart in text["charts"]:
                self.assertLessEqual({chart["x"], chart["y"], *chart["by"], *chart["where"]}, columns, chart["title"])
            for step in text["steps"]:
                self.assertLessEqual(set(step.get("sweep", [])), columns, step["name"])
            for table in text["tables"]:
                self.assertLessEqual(set(table["columns"]), columns, table["title"])
            for point in experiment.paper_points():
                self.assertLessEqual(set(point), columns, experiment.name)


class Resuming(unittest.TestCase):
    def test_a_killed_experiment_goes_on_and_repeats_no_finished_point(self):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([*driver, *quick, "--results", folder], stderr=subprocess.PIPE, text=True,
                                       start_new_session=True)
            for line in process.stderr:
                if "[4/" in line:
                    os.killpg(process.pid, signal.SIGKILL)
                    break
            process.communicate()
            results = Path(folder) / "001/small/fig5"
            points = (results / "points.jsonl").read_text().splitlines()
            self.assertGreaterEqual(len(points), 3)
            self.assertFalse(json.loads((results / "experiment.json").read_text())["complete"])

            done = drive(*quick, "--results", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("[1/", done.stderr)
            all_points = (results / "points.jsonl").read_text().splitlines()
            self.assertEqual(all_points[: len(points)], points)
            self.assertEqual(len(all_points), 10)

            again = drive(*quick, "--results", folder)
            self.assertIn("10 were finished before", again.stdout)
            self.assertIn(BANNER, (results / "report.html").read_text())
            self.assertTrue(again.stdout.endswith(f"page: {results / 'report.html'}\n"), again.stdout)
            experiment = json.loads((results / "experiment.json").read_text())
            self.assertEqual(experiment["schema"], "steelyard.experiment/1")
            self.assertTrue(experiment["complete"])
            columns = {column["name"] for column in experiment["columns"]}
            for line in (results / experiment["points_file"]).read_text().splitlines():
                self.assertTrue(set(json.loads(line)["values"]) & columns)


class Shown(unittest.TestCase):
    def written(self, paper, name, points):
        """Charts and tables of an experiment's results, by title."""
        experiment = next(one for one in read_paper(paper)[0] if one.name == name)
        with tempfile.TemporaryDirectory() as folder:
            results = Results(Path(folder), experiment, "machine")
            results.keep_only([""])
            results.add("", "", points)
            results.write({"date": "", "commit": "", "machine": ""}, complete=True)
            text = json.loads((Path(folder) / "experiment.json").read_text())
        return ({one["title"]: one for one in text[key]} for key in ("charts", "tables"))

    def test_charts_have_no_more_series_than_colours(self):
        points = [
            {"step": "units", "size": size, "configuration": str(i), "unit": "host", "measured_s": 1.0}
            for size in (512, 1024) for i in range(6)
        ]
        charts, _ = self.written("000", "fig4.10", points)
        for chart in charts.values():
            self.assertLessEqual(len(chart["series"]), COLOURS, chart["title"])

    def test_rows_of_the_paper_stand_where_they_have_a_value(self):
        for paper, name, rows in (("001", "fig12", [0, 0, 16]), ("003", "fig7.34", [3, 5])):
            _, tables = self.written(paper, name, [])
            self.assertEqual([len(one["paper_rows"]) for one in tables.values()], rows)


class Readers(unittest.TestCase):
    def test_a_table_ends_where_its_lines_end_and_has_quantities_with_units(self):
        output = "title\nunit  time\n----------\nhost  2 us\n\nunit  size\n----------\nhost  3\n"
        self.assertEqual(read_table(SimpleNamespace(output=output, source="unit  time")), [{"unit": "host", "time": 2e-6}])
        self.assertEqual([quantity(one) for one in ("12.5 %", "3 (emulated)", "rank 0")], [12.5, 3.0, "rank 0"])

    def test_units_have_their_share_and_their_times_where_a_run_says_them(self):
        unit = {"rank": 0, "kind": "host", "slowdown": 1.0, "predicted_s": 0.5, "measured_s": None}
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "run.json").write_text(json.dumps({"units": [unit], "distribution": [7]}))
            rows = read_units(SimpleNamespace(result=Path(folder)))
        self.assertEqual(rows, [{"unit": "rank 0 host", "slowdown": 1.0, "units": 7, "predicted_s": 0.5}])


class Evaluations(unittest.TestCase):
    def test_a_node_takes_as_long_as_its_slowest_core(self):
        cores = [dict(node="n", units=4, time_s=1.0, gflops=6.0), dict(node="n", units=4, time_s=2.0, gflops=3.0)]
        self.assertEqual(evaluations.node_speeds(SimpleNamespace(points_of=lambda step: cores)),
                         [{"node": "n", "total": 8, "node_gflops": 6.0}])

    def test_parts_in_proportion_to_weights_sum_to_the_total_in_multiples_of_the_step(self):
        for total in range(16, 400, 16):
            parts = largest_remainders(total, [0.34, 0.59, 0.07], 16)
            self.assertEqual(sum(parts), total)
            self.assertTrue(all(part % 16 == 0 for part in parts))


class WorkedExample(unittest.TestCase):
    def test_the_tree_has_the_papers_thresholds_and_its_optimum(self):
        tree_of_example = Tree(16, EXAMPLE)
        self.assertEqual((tree_of_example.best, tree_of_example.best_s), ([8, 8, 0, 0], 1))
        thresholds = [step["size_thresholds"] for step in tree_of_example.steps]
        for expected in ("40 24 15 8", "37 22 13 6", "33 21 13 6"):
            self.assertIn(expected, thresholds)
        self.assertEqual({step["operation"] for step in tree_of_example.steps},
                         {"start", "Cut", "Save", "Backtrack", "ReadMemory"})


if __name__ == "__main__":
    unittest.main()
