#!/usr/bin/env python3
"""KernelBench's own verdicts and speedups of exported kernels, beside Winnow's.

    winnow leaderboard --suite kb --problems --json --store kb.db > suite.json
    python3 measure/kernelbench_verdicts.py CHECKOUT EXPORTS [--suite suite.json] [--trials 100]

EXPORTS: a folder with files of `winnow export kernelbench`. Builds all of them side by side, then calls
eval_kernel_against_ref of CHECKOUT (github.com/ScalingIntelligence/KernelBench) for one after the
other, in a process of its own, with CUDA events. Prints Markdown, and what KernelBench prints to
stderr. Packages that KernelBench imports but its evaluation does not use (OpenAI's client, for
instance) need not be there.
Ends with code 1 if a file does not pass. Needs an NVIDIA GPU, nvcc, PyTorch 2, ninja.
"""
import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import time
import types

UNUSED = {
    "dotenv": "load_dotenv", "litellm": "completion", "openai": "OpenAI", "pydantic": "BaseModel", "requests": "get",
    "tqdm": "tqdm",
}  # fmt: skip


def stand_ins():
    """Empty modules for packages that are not installed."""
    class Anything:
        def __init__(self, *_, **fields):
            for name in getattr(type(self), "__annotations__", {}):
                setattr(self, name, fields.get(name, getattr(type(self), name, None)))

    for name, attribute in UNUSED.items():
        try:
            __import__(name)
        except ImportError:
            sys.modules[name] = types.ModuleType(name)
            setattr(sys.modules[name], attribute, Anything)


def problem_of(checkout, file):
    """The file of the problem: level_1_problem_19_sample_0_kernel.py belongs to level1/19_*.py."""
    found = re.match(r"level_(\d+)_problem_(\d+)_", file.name)
    if not found:
        return None
    level, number = found.groups()
    return next((checkout / "KernelBench" / f"level{level}").glob(f"{number}_*.py"), None)


def build(file, builds):
    """Imports the file, which builds its kernel. Returns what went wrong."""
    folder = builds / file.stem
    folder.mkdir(parents=True, exist_ok=True)
    for lock in folder.glob("**/lock"):  # of a build that was killed; PyTorch would wait for it forever
        lock.unlink()
    environment = dict(os.environ, TORCH_EXTENSIONS_DIR=str(folder), MAX_JOBS="1")
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no message"])[-1]


def evaluation_of(checkout):
    """KernelBench's function. Its import would make a CUDA context, and a process with one cannot fork."""
    stand_ins()
    sys.path.insert(0, str(checkout / "src"))
    import torch

    available, torch.cuda.is_available = torch.cuda.is_available, lambda: False
    try:
        from kernelbench.eval import eval_kernel_against_ref
    finally:
        torch.cuda.is_available = available
    return eval_kernel_against_ref


def evaluate(function, problem, file, arguments, answer):
    os.dup2(2, 1)  # KernelBench prints
    result = function(
        problem.read_text(), file.read_text(), num_correct_trials=arguments.correctness,
        num_perf_trials=arguments.trials, measure_performance=True, timing_method="cuda_event",
        build_dir=str(arguments.builds / file.stem), device=0,
    )  # fmt: skip
    line = {name: getattr(result, name, None) for name in ("compiled", "correctness", "runtime", "ref_runtime")}
    line["notes"] = {key: str(value)[:200] for key, value in (result.metadata or {}).items()}
    answer.send(line)


def evaluated(function, problem, file, arguments):
    """In a process of its own, because a kernel may break it."""
    ours, answer = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=evaluate, args=(function, problem, file, arguments, answer)
    )
    child.start()
    answer.close()
    try:
        return ours.recv()
    except EOFError:
        return {"compiled": False, "correctness": False, "notes": {"died": "no answer"}}
    finally:
        child.join()


def winnow_speedups(suite):
    """Winnow's speedup over PyTorch eager by the name of the problem."""
    if suite is None:
        return {}
    rows = json.loads(suite.read_text())
    return {row["task"]: (row["best"] or {}).get("speedup") for run in rows["runs"] for row in run["problems"]}


def row_of(problem, result, speedup):
    runtime, reference = result.get("runtime") or -1, result.get("ref_runtime") or -1
    theirs = f"{reference / runtime:.2f}x" if runtime > 0 and reference > 0 else ""
    ours = f"{speedup:.2f}x" if speedup else ""
    verdict = "correct" if result["correctness"] else "compiled, wrong" if result["compiled"] else "not compiled"
    verdict = "its process died" if "died" in result["notes"] else verdict
    times = f"{reference:.3g} | {runtime:.3g}" if runtime > 0 else " | "
    return f"| {problem.parent.name}/{problem.stem} | {verdict} | {times} | {theirs} | {ours} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("exports", type=pathlib.Path)
    parser.add_argument("--suite", type=pathlib.Path, help="document of `winnow leaderboard --suite`")
    parser.add_argument("--correctness", type=int, default=5, help="sets of inputs")
    parser.add_argument("--trials", type=int, default=100, help="launches to time")
    parser.add_argument("--builds", type=pathlib.Path, default=pathlib.Path("/tmp/kernelbench_builds"))
    arguments = parser.parse_args()

    files = [(file, problem_of(arguments.checkout, file)) for file in sorted(arguments.exports.glob("*.py"))]
    files = [(file, problem) for file, problem in files if problem]
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (file, _), error in zip(files, pool.map(lambda pair: build(pair[0], arguments.builds), files)):
            if error:
                print(f"{file.name}: {error}", file=sys.stderr)
    print(f"built {len(files)} files in {time.monotonic() - start:.0f} s", file=sys.stderr)
    ours = winnow_speedups(arguments.suite)
    function = evaluation_of(arguments.checkout)
    print("| problem | KernelBench | eager, ms | kernel, ms | speedup | Winnow's |\n|---|---|---|---|---|---|")
    passed = True
    for file, problem in files:
        start = time.monotonic()
        result = evaluated(function, problem, file, arguments)
        print(f"{file.name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
        passed = passed and result["correctness"]
        print(row_of(problem, result, ours.get(problem.stem)), flush=True)
        if not result["correctness"]:
            print(f"{file.name}: {json.dumps(result['notes'])}", file=sys.stderr)
    sys.exit(0 if passed and files else 1)


if __name__ == "__main__":
    main()
