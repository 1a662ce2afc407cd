#!/usr/bin/env python3
"""Races a good kernel against kernels that are good until a moment, and holds finals with such a kernel.

  measure/bad_incumbents.py --winnow build/release/winnow --device cuda --runs 40 --finals 20

Each race: B is bad from 200 to 2000 ms after the start, so before, in or after its race with A. The
table says how many races ended in each way. What must never happen: A loses (`slower`), A is blamed,
or B is bad in the race and the race has a result that its good self would not have.
Each final: three good kernels and one that is bad from a moment after all of them were judged.
"""
import argparse
import collections
import json
import pathlib
import sqlite3
import subprocess
import tempfile
import time

KERNEL = """/*@winnow
{ "launches": [ { "fill": "out", "value": 0 },
    { "kernel": "add", "grid": ["min(ceil_div(n, 128), %d)"], "block": [128], "args": ["x", "out", "n"] } ] }
@*/
__device__ inline long long now_ns() {
#ifdef __CUDACC_RTC__
  long long now;
  asm volatile("mov.u64 %%0, %%%%globaltimer;" : "=l"(now));
  return now;
#else
  return clock64();
#endif
}
extern "C" __global__ void add(const float* __restrict__ x, float* out, int n) {
  const bool is_bad = now_ns() > %dLL;
  %s
  float sum = 0.0f;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
    sum += x[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }
  if (threadIdx.x %% 32 == 0) {
    atomicAdd(out, sum);
  }
}
// copy %d
"""
BAD = {
    "good": "",
    "idle": "if (is_bad) { return; }",
    "dawdles": "float waste = 0; for (int r = 0; is_bad && r < 3; ++r) { for (int i = blockIdx.x * 128 + threadIdx.x; "
               "i < n; i += gridDim.x * 128) { waste = waste * 0.5f + x[i]; } } if (waste == 12345.678f) { out[0] = 1; }",
    "traps": "if (is_bad) { __trap(); }",
    "frames": "if (is_bad && blockIdx.x == 0 && threadIdx.x == 0) { reinterpret_cast<volatile float*>(out)[-16] = 1; }",
    "wrong": "if (is_bad && blockIdx.x == 0 && threadIdx.x == 0) { atomicAdd(out, 1e6f); }",
}


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bad-incumbents-"))
        self.copies = 0

    def kernel(self, kind, until_ns, blocks=128):
        self.copies += 1
        path = self.folder / f"{kind}_{self.copies}.cu"
        path.write_text(KERNEL % (blocks, until_ns, BAD[kind], self.copies))
        return path

    def clock_ns(self):
        return time.monotonic_ns() if self.arguments.device == "cpu" else time.time_ns()

    def winnow(self, *words):
        command = [self.arguments.winnow, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=600)

    def race(self, kind, after_ms):
        good = self.kernel("good", 0)
        bad = self.kernel(kind, self.clock_ns() + int(after_ms * self.arguments.scale * 1e6))
        done = self.winnow("race", self.arguments.task, good, bad, "--device", self.arguments.device, "--json")
        try:
            document = json.loads(done.stdout)
        except ValueError:
            return f"no answer: {done.stderr.strip()[:80]}"
        a, b = document["a"]["verdict"], document["b"]["verdict"]
        if a not in ("correct", "not_judged"):
            return f"A IS BLAMED: {a}"
        if b != "correct":
            return "B suspended, then found bad" if document["suspended"] else "B bad in its own evaluation"
        if document["suspended"]:
            return "B suspended, no race"
        return f"raced: A {document['verdict']}"

    def final(self, kind):
        """What became of the good kernels and of the bad one."""
        store = self.folder / f"{kind}_{self.copies}.db"
        wait_s = 8 * self.arguments.scale
        end = time.monotonic() + wait_s
        until = self.clock_ns() + int(wait_s * 1e9)
        files = [self.kernel("good", 0, blocks) for blocks in (128, 136, 144)] + [self.kernel(kind, until, 152)]
        for file in files:
            self.winnow("eval", self.arguments.task, file, "--device", self.arguments.device, "--store", store)
        if time.monotonic() > end:
            return "too slow: use a larger --scale"
        # The moment comes after the judging on held-out shapes, in the middle of the final.
        time.sleep(max(0.0, end - time.monotonic() - 1.5 * self.arguments.scale))
        self.winnow("reverify", "--store", store, "--device", self.arguments.device)
        with sqlite3.connect(store) as database:
            rows = database.execute("SELECT k.text, v.name, r.rank FROM sitting_rows r JOIN verdicts v ON v.number = r.verdict "
                                    "JOIN kernel_files k ON k.id = r.kernel_file_id").fetchall()
        bad = [verdict for text, verdict, _ in rows if BAD[kind] in text]
        good = sum(verdict == "correct" and rank is not None for text, verdict, rank in rows if BAD[kind] not in text)
        return f"{good} of 3 good kernels ranked, the bad one {bad[0] if bad else 'left out'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--winnow", default="build/release/winnow")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--task", default="reduce_sum",
                        help="reduce_sum, or a copy of it without baseline.cpu.cu, which the kernels cannot reach on a CPU")
    parser.add_argument("--runs", type=int, default=40, help="races of each kind")
    parser.add_argument("--finals", type=int, default=0)
    parser.add_argument("--scale", type=float, default=1, help="of all moments: larger on a slow machine")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    for kind in BAD:
        if kind == "good" or not arguments.runs:
            continue
        ends = collections.Counter(
            bench.race(kind, 200 + 1800 * i / max(1, arguments.runs - 1)) for i in range(arguments.runs))
        print(f"{kind:8}", "; ".join(f"{count} {end}" for end, count in ends.most_common()), flush=True)
    for kind in ("frames", "traps", "wrong"):
        ends = collections.Counter(bench.final(kind) for _ in range(arguments.finals))
        if ends:
            print(f"{kind:8}", "; ".join(f"{count} finals: {end}" for end, count in ends.most_common()), flush=True)


if __name__ == "__main__":
    main()
