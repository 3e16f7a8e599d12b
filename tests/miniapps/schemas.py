"""schemas.py ROOT BIN MPIRUN: what programs write is as core/schemas says, and damaged copies of it are not; a figure of
merit is the same in output and run.json: a repetition's work over its time."""
import json, math, os, pathlib, re, signal, subprocess, sys, tempfile, time

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

root, programs, mpirun = map(pathlib.Path, sys.argv[1:])
schemas = {path.name.split(".")[0]: json.loads(path.read_text()) for path in (root / "core/schemas").iterdir()}
temporary = tempfile.TemporaryDirectory()
folder = pathlib.Path(temporary.name)


def damaged(value):
    """Copies that have something undocumented in one place; the first element of an array stands for all."""
    places = [0][: len(value)] if isinstance(value, list) else [*value, "undocumented"] if isinstance(value, dict) else []
    for place in places:
        old = None if place == "undocumented" else value[place]
        for new in [{"undocumented": {}}, *damaged(old)]:
            yield {**value, place: new} if isinstance(value, dict) else [new, *value[1:2]]


def check(name, text):
    """Checks JSON, returns what it says."""
    Draft202012Validator.check_schema(schemas[name])
    validator, value = Draft202012Validator(schemas[name]), json.loads(text)
    error = best_match(validator.iter_errors(value))
    assert error is None, f"{name}: {error.json_path}: {error.message}"
    for copy in damaged(value):
        assert not validator.is_valid(copy), f"{name} allows {copy}"
    return value


def check_models(pattern):
    assert [check("fpm", path.read_text()) for path in folder.glob(pattern)], pattern


def check_result(result):
    for line in (folder / result / "samples.jsonl").read_text().splitlines():
        check("sample", line)
    return check("run", (folder / result / "run.json").read_text())


def run(line, ranks=1):
    program, *words = line.split()
    launch = [mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
    command = [*launch, programs / program, *words]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


# Written by hand, with what readers need.
points = [{"units": units, "time_s": 1e-6 * units} for units in (1, 100, 10000)]
(folder / "hand.fpm.json").write_text(json.dumps({"schema": "steelyard.fpm/1", "points": points}))
loggp = dict.fromkeys(("latency_s", "send_overhead_s", "receive_overhead_s", "gap_s", "gap_per_byte_s"), 1e-9)
transfer = [{"bytes": size, "concurrency": 1, "time_s": 1e-9 * size} for size in (1, 10**9)]
tables = {"overhead": [{"bytes": 0, "time_s": 1e-6}], "transfer": transfer}
channel = {"id": 0, "path": [0, 0], "loggp": loggp, "tau_lop": tables}
(folder / "hand.platform.json").write_text(json.dumps({"schema": "steelyard.platform/1", "channels": [channel]}))
check_models("hand.fpm.json")
check("platform", (folder / "hand.platform.json").read_text())

# Runs, with the work of a repetition.
fft_flops = 5 * 1920 * math.log2(1920)
for app, unit, work in (
    ("gemm --m 61 --n 37 --k 25", "GFLOP/s", 2e-9 * 61 * 37 * 25),
    ("summa --size 61 --block 8", "GFLOP/s", 2e-9 * 61**3),
    ("wave2d --rows 61 --columns 47 --steps 23", "Mpoint/s", 1e-6 * 61 * 47 * 23),
    ("fft2d --rows 48 --columns 40", "GFLOP/s", 1e-9 * fft_flops),
    ("fft2d --rows 48 --columns 40 --real", "GFLOP/s", 1e-9 * fft_flops / 2),
    ("cavity --size 33 --steps 5", "Mcell/s", 1e-6 * 33**2 * 5),
    ("jacobi --size 83 --steps 60", "GFLOP/s", 1e-9 * 60 * 83 * (2 * 83 + 3)),
    ("heat --rows 29 --columns 17 --steps 50", "Mpoint/s", 1e-6 * 29 * 17 * 50),
):
    for ranks, models in ((1, ""), (2, " --units host --model hand.fpm.json")):
        output = run(f"{app} --repetitions 3 --result result{models}", ranks)
        result = check_result("result")
        merit = result["figure_of_merit"]
        name, value = re.search(r"^figure of merit  (\S+) ([0-9.]+)\ncheck ", output, re.MULTILINE).groups()
        assert name == merit["name"] == unit and math.isclose(float(value), merit["value"], rel_tol=5e-4), output
        assert math.isclose(merit["value"] * result["median_time_s"], work, rel_tol=1e-9), (app, merit, result)
check_models("result/models/*")
run("jacobi --size 64 --model hand.fpm.json --dry-run --result dry")
assert check_result("dry")["figure_of_merit"] is None
endless = "--size 64 --repetitions 1000000 --model hand.fpm.json --result left".split()
with subprocess.Popen([programs / "jacobi", *endless], cwd=folder, stdout=subprocess.DEVNULL) as process:
    while process.poll() is None and not (folder / "left/run.json").exists():
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
assert process.returncode == 130 and check_result("left")["interrupted"]

# What the tool measures and prints.
run("steelyard measure wave2d --columns 64 --sizes 8 32 --precision 0.5 --output models")
check_models("models/*")
if os.cpu_count() > 1:
    run("steelyard calibrate --quick --to 65536 --output measured.platform.json", ranks=2)
    check("platform", (folder / "measured.platform.json").read_text())
fpm, platform = "hand.fpm.json", "--platform hand.platform.json"
for command in (
    f"partition --total 64 --models {fpm} {fpm}",
    f"partition --total 64 --columns --models {fpm} {fpm}",
    f"partition --total 64 --levels 2 --per-node 1 --models {fpm} {fpm}",
    f"partition --total 64 --compare even exact --models {fpm} {fpm}",
    f"model {fpm} --kind akima --at 0 50 1e9",
    f"cost {platform} --expression T0(8)",
    f"cost {platform} --expression T0(8) --model loggph",
    *(f"predict {app} --size 64 --processes 4 --model {fpm} {platform}" for app in ("wave2d", "summa --block 8", "fft2d")),
    f"predict jacobi --size 64 --processes 4 --model {fpm} {platform} --scaling strong",
    f"predict jacobi --size 64 --processes 4 --model {fpm} {platform} --advise",
    "conformance",
):
    check("tool", run(f"steelyard {command} --format json"))
