#!/usr/bin/env python3
"""The gate and the speed of light, for every honest kernel that Winnow has.

    python3 bench/honest_kernels.py WINNOW [--device cuda] [--task TASK ...]

Evaluates each task's baseline, its honest kernels and the kernels of tests/gpu/kernels, and prints as
Markdown: which hidden shape decided whether a kernel may lead, how long its launches take, and the
speed of light at the search shapes. Ends with code 1 if an honest kernel is not correct, if a hidden
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


def evaluate(winnow, task, files, device):
    command = [winnow, "eval", task, *map(str, files), "--device", device, "--json"]
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


def lights_of(task, name, result, failures):
    lights = [100 * shape["speed_of_light"]["fraction"] if shape.get("speed_of_light") else None
              for shape in result.get("profile") or []]
    failures += [f"{task} {name}: {light:.1f} % of the speed of light" for light in lights
                 if light is not None and light > 100]
    return " / ".join("-" if light is None else f"{light:.1f}" for light in lights)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("winnow")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--task", action="append")
    options = parser.parse_args()
    failures, lights = [], []
    print("| task | kernel | speedup | baseline at hidden shapes that do not count, us "
          "| that count, us | speedup there | may lead |\n|---|---|---|---|---|---|---|")
    for toml in sorted((ROOT / "tasks/catalogue").glob("*/*/task.toml")):
        task = toml.parent.name
        if options.task and task not in options.task:
            continue
        files = kernels_of(toml.parent, options.device)
        for file, result in zip(files, evaluate(options.winnow, task, files, options.device)):
            gate_row(task, file.stem, result, failures)
            lights.append((task, file.stem, lights_of(task, file.stem, result, failures)))
    print("\n| task | kernel | speed of light at the search shapes, % |\n|---|---|---|")
    for row in lights:
        print("|", " | ".join(row), "|")
    print(f"\n{len(lights)} kernels;", "; ".join(failures) if failures else "no failure")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
