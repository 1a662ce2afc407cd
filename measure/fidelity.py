#!/usr/bin/env python3
"""Winnow's times beside those of triton.testing.do_bench and of ncu, and its counters beside ncu's.

    python3 measure/fidelity.py WINNOW [--repeats 20] [--ncu-repeats 5] [--races 50] [--only times]

Kernels bound by bandwidth (of 1.7 ms and of 170 us), by arithmetic, and of some 5 us, the same source
for all: Winnow compiles it with NVRTC, CuPy does so for the others. Needs an NVIDIA GPU with 80 GB,
torch, triton, cupy, ncu.
"""
import argparse
import csv
import io
import json
import os
import re
import statistics
import subprocess
import sys
import unittest.mock

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLAS = os.path.join(ROOT, "tasks/catalogue/blas")
AXPY = os.path.join(BLAS, "axpy/baseline.cu")
ROW_SUM = os.path.join(ROOT, "measure/tasks/row_sum")
GEMM = os.path.join(BLAS, "gemm_f32/baseline.cu")
# name: (task, file, begin of the shape's name in Winnow, kernel, shape)
KERNELS = {
    "row_sum 120011x16384": (ROW_SUM, os.path.join(ROW_SUM, "baseline.cu"), "h=120011", "row_sum", (120011, 16384)),
    "axpy 50000017": ("axpy", AXPY, "n=50000017", "axpy", (50000017,)),
    "gemm_f32 2048x1000x3000": ("gemm_f32", GEMM, "m=2048, n=1000, k=3000", "gemm", (2048, 1000, 3000)),
    "axpy 1000000": (os.path.join(ROOT, "measure/tasks/axpy_short"), AXPY, "n=1000000", "axpy", (1000000,)),
}


def launcher(file, kind, shape):
    import cupy as cp
    import numpy as np

    name, expressions = ("gemm<16>", ("gemm<16>",)) if kind == "gemm" else (kind, None)
    module = cp.RawModule(code=open(file).read(), options=("-std=c++17",), name_expressions=expressions)
    kernel = module.get_function(name)

    def tensors(*shapes):
        return [cp.random.standard_normal(of_one, dtype=cp.float32) for of_one in shapes]

    numbers = [np.int32(size) for size in shape]
    if kind == "axpy":
        (n,) = shape
        grid, block, args = ((n + 255) // 256,), (256,), (*tensors(n, n, n), numbers[0], np.float32(2.5))
    elif kind == "row_sum":
        h, w = shape
        grid, block, args = (h,), (256,), (*tensors((h, w), h), numbers[1])
    else:
        m, n, k = shape
        grid, block = ((n + 15) // 16, (m + 15) // 16), (16, 16)
        args = (*tensors((m, k), (k, n), (m, n)), *numbers)
    return lambda: kernel(grid, block, args)


def winnow_median(winnow, task, file, shape):
    """In ns, of a process of its own."""
    command = [winnow, "profile", task, file, "--device", "cuda", "--json", "--counters", "off", "--no-energy"]
    result = subprocess.run(command, capture_output=True, text=True)
    for profiled in json.loads(result.stdout)["shapes"]:
        if profiled["shape"].startswith(shape):
            return profiled["kernel"]["median_ns"]
    raise SystemExit(f"winnow did not time {shape}: {result.stderr}")


def do_bench_medians(file, kind, shape):
    """In ns: as it is, and without what it adds. It empties the L2 cache by writing zeros, which a
    timed launch then has to write back to memory, and two events are apart with nothing between them:
    here the cache is emptied by reading, and the time of an empty function is taken off."""
    import cupy as cp
    import torch
    import triton
    import triton.testing

    def median(function):
        return 1e6 * triton.testing.do_bench(function, warmup=50, rep=300, quantiles=[0.5])

    launch = launcher(file, kind, shape)
    driver = triton.runtime.driver.active
    with cp.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        as_it_is = median(launch)
        with unittest.mock.patch.object(driver, "clear_cache", lambda cache: cache.amax()):
            return as_it_is, median(launch) - median(lambda: None)


def ncu(metrics, launches):
    command = ["ncu", "--csv", "--page", "raw", "--metrics", ",".join(metrics), "--cache-control", "all",
               "--clock-control", "none", "-k", "regex:^(axpy|gemm|row_sum)", sys.executable, __file__, "launch",
               str(launches)]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(text[text.find('"ID"'):])))
    found = []
    for index, name in enumerate(KERNELS):
        of_kernel = rows[1:][index * launches:(index + 1) * launches]
        found.append({metric: statistics.median(float(r[metric].replace(",", "")) for r in of_kernel)
                      * scale(rows[0][metric]) for metric in metrics if rows[0].get(metric) is not None})
    return dict(zip(KERNELS, found))


def scale(unit):
    return {"us": 1e3, "ms": 1e6, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}.get(unit, 1)


def spread(medians):
    """The standard deviation over the median, and the range."""
    middle = statistics.median(medians)
    deviation = statistics.stdev(medians) / middle if len(medians) > 1 else float("nan")
    return f"{100 * deviation:.2f} % (range {100 * (max(medians) - min(medians)) / middle:.2f} %)"


def times(options):
    by_ncu = [ncu(["gpu__time_duration.sum"], 10) for _ in range(options.ncu_repeats)]
    print("| kernel | Winnow us | ncu us | do_bench us | do_bench without what it adds us | Winnow / ncu | "
          f"Winnow / do_bench | Winnow / the last one | spread of {options.repeats} repeats | "
          f"ncu's, of {options.ncu_repeats} |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, (task, file, shape, kind, sizes) in KERNELS.items():
        medians = [winnow_median(options.winnow, task, file, shape) for _ in range(options.repeats)]
        theirs = [run[name]["gpu__time_duration.sum"] for run in by_ncu]
        ours, by_profiler = statistics.median(medians), statistics.median(theirs)
        as_it_is, without = do_bench_medians(file, kind, sizes)
        print(f"| {name} | {ours / 1e3:.2f} | {by_profiler / 1e3:.2f} | {as_it_is / 1e3:.2f} | {without / 1e3:.2f} | "
              f"{ours / by_profiler:.4f} | {ours / as_it_is:.4f} | {ours / without:.4f} | "
              f"{spread(medians)} | {spread(theirs)} |", flush=True)


def counter_metrics():
    """By the name of each counter that Winnow reads: its metric, and how many of Winnow's units one is."""
    text = open(os.path.join(ROOT, "profiling/counters/counter_names.cpp")).read()
    names = re.findall(r'\{"(\w+)",\s+"(\w+\.[\w.]+)"([^}]*)\}', text)
    return {key: (metric, 32 if "kSectorBytes" in rest else 1) for key, metric, rest in names}


def counters(options):
    metrics = counter_metrics()
    by_ncu = ncu([metric for metric, _ in metrics.values()], 3)
    print("\n| kernel | counter | Winnow | ncu | ratio |\n|---|---|---|---|---|")
    for name, (task, file, shape, _, _) in KERNELS.items():
        command = [options.winnow, "profile", task, file, "--device", "cuda", "--json", "--no-energy"]
        profile = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
        for shape_profile in find_profiles(profile):
            if not shape_profile["shape"].startswith(shape):
                continue
            report = shape_profile["counters"]
            print(f"| {name} | ({report['passes']} passes, set-up {report['setup_ms']:.0f} ms, collecting "
                  f"{report['collect_ms']:.0f} ms) {report['unavailable']} | | | |")
            for key, (metric, factor) in metrics.items():
                value = report["counters"].get(key, {}).get("value")
                theirs = by_ncu[name].get(metric)
                if value is not None and theirs is not None:
                    theirs *= factor
                    print(f"| {name} | {key} | {value:.5g} | {theirs:.5g} | {value / theirs if theirs else 0:.4f} |")
    sys.stdout.flush()


def find_profiles(node):
    """Every profiled shape in the output, wherever it is."""
    if isinstance(node, dict):
        if "counters" in node and "shape_id" in node:
            yield node
        for value in node.values():
            yield from find_profiles(value)
    elif isinstance(node, list):
        for value in node:
            yield from find_profiles(value)


def races(options):
    verdicts = {}
    for _ in range(options.races):
        command = [options.winnow, "race", "axpy", AXPY, AXPY, "--device", "cuda", "--json", "--time-budget", "20ms"]
        race = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
        verdict = race.get("verdict", "?")
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
    print(f"\n{options.races} A/A races of axpy: {verdicts}", flush=True)


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "launch":
        for _, file, _, kind, shape in KERNELS.values():
            launch = launcher(file, kind, shape)
            for _ in range(int(sys.argv[2])):
                launch()
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("winnow")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--ncu-repeats", type=int, default=5)
    parser.add_argument("--races", type=int, default=50)
    parser.add_argument("--only", choices=("times", "counters", "races"))
    options = parser.parse_args()
    for part in (times, counters, races):
        if options.only not in (None, part.__name__):
            continue
        try:
            part(options)
        except Exception as error:  # an error in one part must not prevent the other parts
            print(f"{part.__name__}: {type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main()
