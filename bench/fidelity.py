#!/usr/bin/env python3
"""Winnow's times beside those of triton.testing.do_bench and of ncu, and its counters beside ncu's.

    python3 bench/fidelity.py WINNOW [--repeats 20] [--races 50]

Three kernels (bound by bandwidth, by arithmetic, and of some 5 us), the same source for all: Winnow
compiles it with NVRTC, CuPy does so for the others. Needs an NVIDIA GPU, torch, triton, cupy, ncu.
"""
import argparse
import csv
import io
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BLAS = os.path.join(ROOT, "tasks/catalogue/blas")
AXPY = os.path.join(BLAS, "axpy/baseline.cu")
GEMM = os.path.join(BLAS, "gemm_f32/baseline.cu")
METRICS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "instructions": "smsp__inst_executed.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
}
# name: task, file, shape that is timed, launch
KERNELS = {
    "axpy 50000017": ("axpy", AXPY, "n=50000017", ("axpy", 50000017)),
    "gemm_f32 2048x1000x3000": ("gemm_f32", GEMM, "k=3000, m=2048, n=1000", ("gemm", None)),
    "axpy 1000000": (os.path.join(ROOT, "bench/tasks/axpy_short"), AXPY, "n=1000000", ("axpy", 1000000)),
}


def launcher(kind, n):
    import cupy as cp
    import numpy as np

    if kind == "axpy":
        module = cp.RawModule(code=open(AXPY).read(), options=("-std=c++17",))
        x, y, z = (cp.random.standard_normal(n, dtype=cp.float32) for _ in range(3))
        kernel = module.get_function("axpy")
        args = (x, y, z, np.int32(n), np.float32(2.5))
        return lambda: kernel(((n + 255) // 256,), (256,), args)
    m, n, k = 2048, 1000, 3000
    module = cp.RawModule(code=open(GEMM).read(), options=("-std=c++17",), name_expressions=("gemm<16>",))
    a, b, c = (cp.random.standard_normal(s, dtype=cp.float32) for s in ((m, k), (k, n), (m, n)))
    kernel = module.get_function("gemm<16>")
    args = (a, b, c, np.int32(m), np.int32(n), np.int32(k))
    return lambda: kernel(((n + 15) // 16, (m + 15) // 16), (16, 16), args)


def winnow_median(winnow, task, file, shape):
    command = [winnow, "eval", task, file, "--device", "cuda", "--json", "--no-check", "--no-promotion",
               "--time-budget", "100ms"]
    evaluation = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    for case in evaluation["cases"]:
        if case.get("median_ns") and case.get("shape", "").startswith(shape):
            return case["median_ns"]
    raise SystemExit(f"winnow did not time {shape}: {evaluation.get('verdict')}: {evaluation.get('detail')}")


def do_bench_median(kind, n):
    import cupy as cp
    import torch
    import triton.testing

    launch = launcher(kind, n)
    with cp.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        return 1e6 * triton.testing.do_bench(launch, warmup=50, rep=300, quantiles=[0.5])


def ncu(metrics, launches):
    command = ["ncu", "--csv", "--page", "raw", "--metrics", ",".join(metrics), "--cache-control", "all",
               "--clock-control", "none", "-k", "regex:^(axpy|gemm)", sys.executable, __file__, "launch",
               str(launches)]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(text[text.find('"ID"'):])))
    found = []
    for index, name in enumerate(KERNELS):
        of_kernel = rows[1:][index * launches:(index + 1) * launches]
        found.append({metric: statistics.median(float(r[metric].replace(",", "")) for r in of_kernel)
                      * scale(rows[0][metric]) for metric in metrics})
    return dict(zip(KERNELS, found))


def scale(unit):
    return {"us": 1e3, "ms": 1e6, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}.get(unit, 1)


def times(options):
    by_ncu = ncu(["gpu__time_duration.sum"], 10)
    print("| kernel | Winnow us | do_bench us | ncu us | Winnow / do_bench | Winnow / ncu | spread of "
          f"{options.repeats} repeats |")
    print("|---|---|---|---|---|---|---|")
    for name, (task, file, shape, (kind, n)) in KERNELS.items():
        medians = [winnow_median(options.winnow, task, file, shape) for _ in range(options.repeats)]
        ours, bench = statistics.median(medians), do_bench_median(kind, n)
        theirs = by_ncu[name]["gpu__time_duration.sum"]
        spread = statistics.stdev(medians) / ours if len(medians) > 1 else float("nan")
        print(f"| {name} | {ours / 1e3:.2f} | {bench / 1e3:.2f} | {theirs / 1e3:.2f} | {ours / bench:.4f} | "
              f"{ours / theirs:.4f} | {100 * spread:.2f} % (range {100 * (max(medians) - min(medians)) / ours:.2f} %) |",
              flush=True)


def counters(options):
    metrics = ["dram__bytes_read.sum", "dram__bytes_write.sum", "smsp__inst_executed.sum",
               "l1tex__t_sector_hit_rate.pct", "sm__warps_active.avg.pct_of_peak_sustained_active"]
    keys = ["dram_read_bytes", "dram_write_bytes", "instructions", "l1_hit_rate_pct", "warps_active_pct"]
    by_ncu = ncu(metrics, 3)
    print("\n| kernel | counter | Winnow | ncu | ratio |\n|---|---|---|---|---|")
    for name, (task, file, shape, _) in KERNELS.items():
        command = [options.winnow, "profile", task, file, "--device", "cuda", "--json", "--no-energy"]
        profile = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
        for shape_profile in find_profiles(profile):
            if not shape_profile["shape"].startswith(shape):
                continue
            report = shape_profile["counters"]
            print(f"| {name} | ({report['passes']} passes, set-up {report['setup_ms']:.0f} ms, collecting "
                  f"{report['collect_ms']:.0f} ms) {report['unavailable']} | | | |")
            for key, metric in zip(keys, metrics):
                value = report["counters"].get(key, {}).get("value")
                theirs = by_ncu[name].get(metric)
                if value is not None and theirs is not None:
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
        for _, _, _, (kind, n) in KERNELS.values():
            launch = launcher(kind, n)
            for _ in range(int(sys.argv[2])):
                launch()
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("winnow")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--races", type=int, default=50)
    options = parser.parse_args()
    for part in (times, counters, races):
        try:
            part(options)
        except Exception as error:  # one part must not cost the others
            print(f"{part.__name__}: {type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main()
