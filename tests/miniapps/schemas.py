"""schemas.py ROOT BIN MPIRUN [channels]: what programs write is as core/schemas says, and damaged copies of it are not;
a figure of merit is the same in output and run.json: a repetition's work over its time; conformance finds nothing wrong.
With the word channels the file of measured channels alone, for which two ranks need the cores to themselves."""
import json, math, os, pathlib, re, signal, subprocess, sys, tempfile, time
try:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
except ImportError as missing:
    print(missing)
    sys.exit(77)

root, programs, mpirun = map(pathlib.Path, sys.argv[1:4])
temporary = tempfile.TemporaryDirectory()
folder = pathlib.Path(temporary.name)


def damaged(value):
    """Copies that have something undocumented in one place; the first element of an array stands for all."""
    if isinstance(value, dict):
        for key in [*value, "undocumented"]:
            yield from ({**value, key: part} for part in [{"undocumented": {}}, *damaged(value.get(key))])
    elif isinstance(value, list) and value:
        yield from ([part, *value[1:2]] for part in [{"undocumented": {}}, *damaged(value[0])])


def check(schema, text):
    rules = json.loads((root / f"core/schemas/{schema}.schema.json").read_text())
    Draft202012Validator.check_schema(rules)
    validator, value = Draft202012Validator(rules), json.loads(text)
    error = best_match(validator.iter_errors(value))
    assert error is None, f"{schema}: {error.json_path}: {error.message}"
    for copy in damaged(value):
        assert not validator.is_valid(copy), f"{schema} allows {copy}"
    return value


def check_files(schema, pattern):
    return [check(schema, path.read_text()) for path in folder.glob(pattern)][0]


def check_result(result):
    lines = (folder / f"{result}/samples.jsonl").read_text().splitlines()
    for line in {json.loads(line)["metric"]: line for line in lines}.values():
        check("sample", line)
    return check_files("run", f"{result}/run.json")


def run(line, ranks=1):
    program, *words = line.split()
    launch = [mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []
    command = [*launch, programs / program, *words]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


if sys.argv[4:] == ["channels"]:
    if os.cpu_count() == 1:
        sys.exit(77)
    run("steelyard calibrate --quick --to 65536 --output measured.platform.json", ranks=2)
    check_files("platform", "measured.platform.json")
    sys.exit()

# By hand: what readers need.
(folder / "hand.fpm.json").write_text("""{"schema": "steelyard.fpm/1", "points": [
  {"units": 1, "time_s": 1e-6}, {"units": 100, "time_s": 1e-4}, {"units": 10000, "time_s": 1e-2}]}""")
(folder / "hand.platform.json").write_text("""{"schema": "steelyard.platform/1", "channels": [{"id": 0, "path": [0, 0],
  "loggp": {"latency_s": 0, "send_overhead_s": 0, "receive_overhead_s": 0, "gap_s": 1e-6, "gap_per_byte_s": 1e-9},
  "tau_lop": {"overhead": [{"bytes": 0, "time_s": 1e-6}], "transfer": [
    {"bytes": 1, "concurrency": 1, "time_s": 1e-9}, {"bytes": 1000000, "concurrency": 1, "time_s": 1e-3}]}}]}""")
model, platform = "hand.fpm.json", "--platform hand.platform.json"
check_files("fpm", model)
check_files("platform", "hand.platform.json")

apps = (  # with the work of a repetition
    ("gemm --m 61 --n 37 --k 25", "GFLOP/s", 2e-9 * 61 * 37 * 25),
    ("summa --size 61 --block 8", "GFLOP/s", 2e-9 * 61**3),
    ("wave2d --rows 61 --columns 47 --steps 23", "Mpoint/s", 1e-6 * 61 * 47 * 23),
    ("fft2d --rows 48 --columns 40", "GFLOP/s", 5e-9 * 1920 * math.log2(1920)),
    ("fft2d --rows 48 --columns 40 --real", "GFLOP/s", 2.5e-9 * 1920 * math.log2(1920)),
    ("cavity --size 17 --steps 3", "Mcell/s", 1e-6 * 17**2 * 3),
    ("jacobi --size 83 --steps 60", "GFLOP/s", 1e-9 * 60 * 83 * (2 * 83 + 3)),
    ("heat --rows 29 --columns 17 --steps 50", "Mpoint/s", 1e-6 * 29 * 17 * 50),
)
for app, unit, work in apps:
    for ranks, units in ((1, "host+device"), (2, "host")):
        files = f"--model {model} {'' if app.startswith('gemm') else platform}"
        output = run(f"{app} --units {units} {files} --repetitions 3 --result {ranks}", ranks)
        result = check_result(ranks)
        merit = result["figure_of_merit"]
        name, value = re.search(r"^figure of merit  (\S+) ([0-9.]+)\ncheck ", output, re.MULTILINE).groups()
        assert name == merit["name"] == unit and math.isclose(float(value), merit["value"], rel_tol=5e-4), output
        assert math.isclose(merit["value"] * result["median_time_s"], work, rel_tol=1e-9), (app, merit, result)
run("jacobi --size 64 --result measured")
check_result("measured")
check_files("fpm", "measured/models/*")
run(f"jacobi --size 64 --model {model} --dry-run --result dry")
assert check_result("dry")["figure_of_merit"] is None
endless = f"--size 64 --repetitions 1000000 --model {model} --result left".split()
with subprocess.Popen([programs / "jacobi", *endless], cwd=folder, stdout=subprocess.DEVNULL) as process:
    while process.poll() is None and not (folder / "left/run.json").exists():
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
assert process.returncode == 130 and check_result("left")["interrupted"]

run("steelyard measure wave2d --columns 64 --sizes 8 32 --precision 0.5 --output models")
check_files("fpm", "models/*")
for command in (
    *(f"partition --total 64 --models {model} {model}{how}" for how in ("", " --columns", " --levels 2 --per-node 1")),
    f"partition --total 64 --models {model} {model} --compare even exact",
    f"model {model} --kind akima --at 0 50 1e9",
    *(f"cost {platform} --expression T0(8) --model {by}" for by in ("tau-lop", "loggph")),
    *(f"predict {app} --size 64 --processes 4 --model {model} {platform}" for app in ("wave2d", "summa --block 8", "fft2d")),
    *(f"predict jacobi --size 64 --processes 4 --model {model} {platform} --{how}" for how in ("scaling strong", "advise")),
):
    check("tool", run(f"steelyard {command} --format json"))

# Nothing is wrong with this build, and there are speeds of every app on every unit.
conformance = check("tool", run("steelyard conformance --units host+device --format json"))
cases, units = conformance["cases"], ["host", "device"]
assert conformance["passed"] and all(case["passed"] for case in cases), conformance
assert all(case["error_roundings"] <= case["tolerance_roundings"] for case in cases), cases
# Cases of small memories only are not timed.
timed = [case for case in cases if "--device-memory" not in case["options"]]
assert all(case["flops_per_s"] > 0 for case in timed), timed
assert {(case["app"], case["unit"]) for case in timed} >= {(app.split()[0], unit) for app, *_ in apps for unit in units}
assert [unit["unit"] for unit in conformance["units"]] == units, conformance["units"]
for unit in conformance["units"]:
    assert unit["stream_bytes_per_s"]["triad"] > 0 and unit["gemm_flops_per_s"]["double"] > 0, unit
