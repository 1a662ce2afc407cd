#!/usr/bin/env python3
"""The verdicts under reference.cu and under the PyTorch module of reference.py, side by side.

    WINNOW_PYTHON=python3 python3 measure/torch_verdicts.py WINNOW [--device cpu] [TASK ...]

For each task: makes a copy whose reference is the module of reference.py, with the tolerance of the
task, and another copy with the measured tolerance of `winnow tasks new`. Judges the baseline, the
honest kernels, the buggy kernels and the attacks of that task, and prints as Markdown how many verdicts
there are, and each kernel whose verdicts differ. Ends with code 1 if an honest kernel is not correct,
or if a kernel that reference.cu rejects is correct.
"""
import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEASURED = "multiple = 32\nnorm_multiple = 4\n"


def kernels_of(folder):
    """Pairs of a file and whether it is honest."""
    files = [(folder / "baseline.cu", True)]
    files += [(path, True) for path in sorted((folder / "honest").glob("*.cu"))]
    for suite in ("buggy", "redteam"):
        rows = json.loads((ROOT / "tests" / suite / "expected.json").read_text())
        for row in rows:
            path = ROOT / "tests" / suite / row["file"]
            if row.get("task") == folder.name and path.suffix == ".cu":
                files.append((path, False))
    return files


def whole(path, place):
    """A copy of the file, with the parts that attacks share in their places."""
    lines = path.read_text().splitlines(keepends=True)
    text = "".join(
        (ROOT / "tests/redteam" / line.split('"')[1]).read_text() if line.startswith('#include "parts/') else line
        for line in lines
    )
    copy = place / path.name
    copy.write_text(text)
    return copy


def torch_copy(folder, place, measured):
    copy = place / folder.parent.name / folder.name
    shutil.copytree(folder, copy)
    (copy / "reference.cu").unlink()
    text = (copy / "task.toml").read_text()
    if measured:
        lines = text.splitlines(keepends=True)
        text = "".join(line for line in lines if not line.startswith(("multiple", "norm_multiple", "absolute")))
        text = text.replace("[tolerance]\n", "[tolerance]\n" + MEASURED)
    (copy / "task.toml").write_text(text + '\n[reference]\nkind = "torch"\n')
    return copy


def verdicts(winnow, task, files, device):
    command = [winnow, "eval", str(task), *map(str, files), "--device", device, "--no-timing", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"{' '.join(command[:3])} ended with code {done.returncode}: {done.stderr}")
    found = json.loads(done.stdout)
    found = found if isinstance(found, list) else found.get("evaluations", [found])
    return [one["verdict"] for one in found]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("winnow")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("tasks", nargs="*", default=["row_softmax", "gemm_f16"])
    arguments = parser.parse_args()
    failed = False
    for name in arguments.tasks:
        folder = next((ROOT / "tasks/catalogue").glob(f"*/{name}"))
        kernels = kernels_of(folder)
        with tempfile.TemporaryDirectory() as place:
            files = [whole(path, pathlib.Path(place)) for path, _ in kernels]
            columns = [verdicts(arguments.winnow, folder, files, arguments.device)]
            for kind in (False, True):
                copy = torch_copy(folder, pathlib.Path(place) / str(kind), kind)
                columns.append(verdicts(arguments.winnow, copy, files, arguments.device))
        print(f"\n{name} on {arguments.device}: {len(files)} kernels\n")
        print("| reference | verdicts |\n|---|---|")
        for title, column in zip(("reference.cu", "module", "module, measured tolerance"), columns):
            counts = collections.Counter(column)
            print(f"| {title} |", ", ".join(f"{counts[one]} {one}" for one in sorted(counts)), "|")
        for (path, honest), *row in zip(kernels, *columns):
            if len(set(row)) > 1:
                print("differs:", path.relative_to(ROOT), *row, sep=" | ")
            failed = failed or any((one == "correct") != (row[0] == "correct") for one in row)
            failed = failed or (honest and set(row) != {"correct"})
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
