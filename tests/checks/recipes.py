#!/usr/bin/env python3
"""recipes.py ROOT PROGRAMS VERSION: recipes in Python name every mini-app and the version. The commands of Ramble's run here,
and what it and ReFrame look for is in their output."""
import ast
import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

root, programs, version = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
declared = "".join(path.read_text() for path in root.glob("miniapps/*/CMakeLists.txt"))
apps = set(re.findall(r"^steelyard_miniapp\((\w+)", declared, re.M))
recipes = {"spack/packages/steelyard/package.py": {version, "v" + version}, "reframe/steelyard.py": apps,
           "ramble/applications/steelyard/application.py": apps | {"steelyard@" + version},
           "benchpark/experiments/steelyard/experiment.py": apps | {version},
           f"easybuild/steelyard-{version}-foss-2025b.eb": apps | {version}}
strings = {}
for recipe, expected in recipes.items():
    tree = ast.walk(ast.parse((root / "core/packaging" / recipe).read_text()))
    strings[recipe] = {node.value for node in tree if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert expected <= strings[recipe], f"{recipe} lacks {expected - strings[recipe]}"

# Ramble's directives, which here only keep what they are given.
calls = {name: [] for name in ("executable", "workload", "workload_variable", "figure_of_merit", "success_criteria")}
kit = vars(sys.modules.setdefault("ramble.appkit", ModuleType("ramble.appkit")))
kit |= {name: lambda *values, **named: None for name in ("tags", "software_spec")}
kit |= {name: lambda *values, to=kept, **named: to.append((values, named)) for name, kept in calls.items()}
kit["ExecutableApplication"] = object
sys.modules["ramble"] = ModuleType("ramble")
runpy.run_path(str(root / "core/packaging/ramble/applications/steelyard/application.py"))
patterns = [(named.get("log_file"), named["fom_regex"]) for _, named in calls["figure_of_merit"]]
patterns += [(None, named["match"]) for _, named in calls["success_criteria"]]
reframe_patterns = [text for text in strings["reframe/steelyard.py"] if text[:1] in ("^", '"')]
assert len(reframe_patterns) == 3, reframe_patterns

with tempfile.TemporaryDirectory() as folder:
    for (app, command), _ in calls["executable"]:
        values = {name: named["default"] for (name,), named in calls["workload_variable"] if app in named["workloads"]}
        command = command.format(experiment_run_dir=folder, **values) + " --repetitions 1 --partition even"
        output = subprocess.check_output(f"{programs}/{command}", shell=True, text=True)
        record = Path(folder, "run.json").read_text()
        for file, pattern in patterns:  # line by line, from its beginning
            found = [match for line in (record if file else output).splitlines() if (match := re.match(pattern, line))]
            assert len(found) == 1, f"{pattern} is {len(found)} times in what {app} says: {output}"
            assert all(float(found[0][name]) > 0 for name in found[0].groupdict() if name != "unit"), found[0][0]
        for pattern in reframe_patterns:
            assert re.search(pattern, output + record, re.M), f"ReFrame's {pattern} is not in what {app} says: {output}"
