#!/usr/bin/env python3
"""The gate and the speed of light, for every honest kernel that Winnow has.

    python3 measure/honest_kernels.py WINNOW [--device cuda] [--task TASK ...] [--only gate|light]

Evaluates and profiles each task's baseline, its honest kernels and the kernels of tests/gpu/kernels,
and prints as Markdown: which hidden shape decided whether a kernel may lead, how long its launches
take, and the speed of light at the search shapes. Ends with code 1 if an honest kernel is not correct, if a hidden
shape whose baseline takes less than 10 us decided, or if a speed of light is above 100 %.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHORT_NS = 10_000


def kernels_of(folder, device):
    extra = sorted((ROOT / "tests/gpu/kernels").glob(folder.name + "_*.cu")) if device != "cpu" else []
    return [folder / "baseline.cu", *sorted((folder / "honest").glob("*.cu")), *extra]


def document(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{' '.join(command)} ended with code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def us(ns):
    return f"{ns / 1000:.1f}"


def gate_row(task, name, result, failures):
    timed = [case for case in result["cases"] if case["stage"] == "promotion" and case.get("speed")]
    counted = [case for case in timed if case["speed"] == "counts"]
    short = [case for case in timed if case["speed"] != "counts"]
    if result["verdict"] != "correct":
        failures.append(f"{task} {name}: {result['verdict']}: {result['detail']}")
    failures += [f"{task} {name}: a hidden shape of {us(case['baseline_median_ns'])} us decides"
                 for case in counted if case["baseline_median_ns"] < SHORT_NS]
    if not timed:
        return
    print(f"| {task} | {name} | {result['speedup']:.3g} |",
          ", ".join(us(case["baseline_median_ns"]) for case in short), "|",
          ", ".join(us(case["baseline_median_ns"]) for case in counted), "|",
          f"{result['hidden_speedup'] or 0:.3g} |",
          "yes |" if result["promoted"] else "no |")


def light_row(task, name, profile, failures):
    found = [(shape["kernel"]["profile"] or {}).get("speed_of_light") for shape in profile["shapes"]]
    lights = [100 * light["fraction"] if light else None for light in found]
    failures += [f"{task} {name}: {light:.1f} % of the speed of light" for light in lights
                 if light is not None and light > 100]
    failures += [f"{task} {name}: no speed of light"] if not lights or None in lights else []
    print(f"| {task} | {name} |",
          " / ".join("-" if light is None else f"{light:.1f}" for light in lights), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("winnow")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--task", action="append")
    parser.add_argument("--only", choices=["gate", "light"])
    options = parser.parse_args()
    failures, kernels = [], {}
    for toml in sorted((ROOT / "tasks/catalogue").glob("*/*/task.toml")):
        if not options.task or toml.parent.name in options.task:
            kernels[toml.parent.name] = kernels_of(toml.parent, options.device)
    device = ["--device", options.device, "--json"]
    if options.only != "light":
        print("| task | kernel | speedup | baseline at hidden shapes that do not count, us "
              "| that count, us | speedup there | may lead |\n|---|---|---|---|---|---|---|")
        for task, files in kernels.items():
            results = document([options.winnow, "eval", task, *map(str, files), *device])
            for file, result in zip(files, results):
                gate_row(task, file.stem, result, failures)
    if options.only != "gate":
        print("\n| task | kernel | speed of light at the search shapes, % |\n|---|---|---|")
        for task, files in kernels.items():
            for file in files:
                profile = document([options.winnow, "profile", task, str(file), *device])
                light_row(task, file.stem, profile, failures)
    print(f"\n{sum(map(len, kernels.values()))} kernels;", "; ".join(failures) or "no failure")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
