"""The request "definition": all that task.toml needs of a definition and its workloads."""

import ast
import contextlib
import json
import math

import torch

import flags
import precision
import tables
from definition import DTYPES, Definition, Sizes
from describe import LARGER, SEARCH_OPERATIONS, STUDY_LIMITS, TITLE_CHARACTERS
from drawing import draw
from mutants import MANTISSAS, MULTIPLE, NORM_MULTIPLE, SOUND, Study, any_chaotic, sound
from noise import EPSILON
from problem import Problem
from rules import PRODUCTS
from survey import Counter, Refused
from tensors import as_list, torch_dtype, widened
from trial import finite

SCALARS = {"f32": "f32", "f16": "f32", "bf16": "f32", "f64": "f64", "i32": "i32", "i64": "i64"}
FACTORS = (0.5, 1.5)  # of a floating scalar at hidden shapes
LOOPS = 64  # the most sequences, each a turn of a loop in Python


def describe(request, device):
    """The reply, as that of "describe"; "refused" says why a definition cannot be a task."""
    precision.use_exact_products()
    try:
        return Description(request, request.get("device") or device).reply()
    except Refused as error:
        return {"refused": str(error)}
    except (Exception, SystemExit) as error:
        return {"refused": f"{type(error).__name__}: {str(error) or 'no text'}"[:1500]}


class Work(Counter):
    """Also tells whether there are products."""

    def __init__(self):
        super().__init__()
        self.products, self.written = False, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.products |= func.__name__.split(".")[0].rstrip("_") in PRODUCTS
        return super().__torch_dispatch__(func, types, args, kwargs)


class Trial:
    """The reference at given axes, on drawn inputs: as trial.Trial of a module."""

    def __init__(self, definition, axes, scalars, device):
        self.definition, self.axes, self.device = definition, axes, torch.device(device)
        self.scalars, self.problems = scalars, {}

    def problem(self, float64):
        if float64 not in self.problems:
            names = [s["name"] for s in self.scalars]
            values = [s["value"] for s in self.scalars]
            source = self.definition.reference
            self.problems[float64] = Problem(
                source, self.axes, values, "eval", self.device, float64, names=names
            )
        return self.problems[float64]

    def arguments(self, seed):
        """The tensors of run(), in order."""
        random = torch.Generator(self.device).manual_seed(seed)
        entries = self.definition.tensors(self.definition.inputs)
        specs = table_specs(self.definition, self.axes)
        built = tables.build(specs, self.axes, seed)
        found = []
        for name, tensor in entries:
            dtype, shape = torch_dtype(DTYPES[tensor["dtype"]]), self.extents(tensor)
            if name in built:
                found.append(built[name].to(dtype).to(self.device))
                continue
            generator = self.definition.generator(name, tensor)
            if generator["kind"] == "index":
                generator = {"kind": "index", "limit": self.axes[generator["limit"]]}
            found.append(draw(generator, shape, dtype, random))
        return found

    def extents(self, tensor):
        return [self.axes[axis] for axis in tensor["shape"]]

    def run(self, float64, arguments, seed=0, watch=None):
        moved = [(widened(v) if float64 else v).to(self.device, copy=True) for v in arguments]
        with watch or contextlib.nullcontext():
            results = as_list(self.problem(float64).run(moved))
        return [tensor.clone() for tensor in results]

    def checked_run(self):
        """Operations of one run, after its outputs were compared with the definition."""
        counter = Work()
        outputs = self.run(False, self.arguments(1), watch=counter)
        said = self.definition.tensors(self.definition.outputs)
        if len(outputs) != len(said):
            raise Refused(f"run() returns {len(outputs)} tensors, and the definition has {len(said)}")
        for y, (name, tensor) in zip(outputs, said):
            dtype = torch_dtype(DTYPES[tensor["dtype"]])
            if y.dtype != dtype or list(y.shape) != self.extents(tensor):
                raise Refused(f"'{name}' is {y.dtype} {list(y.shape)}, and the definition says otherwise")
        if not finite(outputs):
            raise Refused("the output has NaN or infinite elements for normally distributed inputs")
        counter.written = sum(y.numel() for y in outputs)
        return counter


def meaning(name, tensor):
    """What the definition says of an input, and how it is built."""
    parts = [(tensor.get("description") or "").strip().rstrip("."), tables.MEANING.get(name, "")]
    return "; ".join(part for part in parts if part).encode("ascii", "ignore").decode()


def has_run(source):
    return any(getattr(node, "name", "") == "run" for node in ast.parse(source).body)


def allowed(mutant, accumulate):
    """Factors rounded to the precision that the task asks for are right."""
    bits = -math.log2(EPSILON[accumulate])
    return mutant in MANTISSAS and bits <= MANTISSAS[mutant]


def table_specs(definition, axes):
    return [
        {"name": name, "shape": [axes[axis] for axis in tensor["shape"]]}
        for name, tensor in definition.tensors(definition.inputs) if name in tables.KNOWN
    ]  # fmt: skip


class Description:
    def __init__(self, request, device):
        self.device, self.kind = device, torch.device(device).type
        self.definition = Definition(json.loads(request["definition"]))
        if not has_run(self.definition.reference):
            raise Refused("its reference has no function run()")
        self.workloads = [json.loads(text) for text in request["workloads"]]
        self.limit = request["memory_bytes"]
        self.scalars = [self.scalar(*entry) for entry in self.definition.scalars()]
        self.sizes = Sizes(self.definition, self.workloads, self.limit, self.fits)
        self.flags = list(self.sizes.flags)
        self.ratio = self.run_all()

    def fits(self, axes):
        try:
            specs = table_specs(self.definition, axes)
            tables.build(specs, axes, 1)
        except (ValueError, KeyError):
            return False
        loops = max([spec["shape"][0] for spec in specs if spec["name"].endswith("indptr")], default=0)
        slow = self.kind == "cpu" and (loops > LOOPS or self.definition.bytes(axes) > 2**27)
        return self.definition.bytes(axes) <= self.limit and not slow

    def scalar(self, name, tensor):
        dtype = SCALARS.get(DTYPES[tensor["dtype"]])
        if dtype is None:
            raise Refused(f"the number '{name}' has the dtype {tensor['dtype']}")
        values = [w["inputs"].get(name, {}).get("value") for w in self.workloads]
        value = next((v for v in values if v is not None), self.usual(name))
        ends = sorted(value * factor for factor in FACTORS) if dtype[0] == "f" else [value, value]
        return {"name": name, "dtype": dtype, "value": value, "low": ends[0], "high": ends[1]}

    def usual(self, name):
        if "eps" in name:
            return 1e-6
        sizes = [a.get("value") for n, a in self.definition.axes.items() if "head_dim" in n or n == "qk_dim"]
        return 1 / math.sqrt(sum(v for v in sizes if v)) if "scale" in name and any(sizes) else 1.0

    def trial(self, axes):
        return Trial(self.definition, axes, self.scalars, self.device)

    def run_all(self):
        """Runs each shape once. A hidden one that fails is dropped, a search shape that is too slow
        as well. Returns the least operations for each element that moves."""
        ratios, kept = [], []
        for axes in self.sizes.search:
            counter = self.trial(axes).checked_run()
            self.counter = counter if not ratios else self.counter
            most = SEARCH_OPERATIONS[self.kind]
            if counter.operations <= most or not kept:
                operations = max(counter.operations, counter.written)
                ratios.append(operations / self.elements(axes))
                kept.append(axes)
        self.sizes.search = kept
        for rows in (self.sizes.tiny, self.sizes.promotion, self.sizes.held_out):
            for axes in list(rows):
                try:
                    self.trial(axes).checked_run()
                except (Refused, RuntimeError, ValueError, IndexError, AssertionError):
                    rows.remove(axes)
            rows[:] = rows or [kept[0]]
        return min(ratios)

    def elements(self, axes):
        return eval(self.definition.work(False), {"__builtins__": {"min": min}}, dict(axes))

    def study(self, accumulate):
        """At the smallest shape that is sound, so that the mutants cost little."""
        rows = sorted([*self.sizes.tiny, *self.sizes.search], key=self.definition.bytes)
        most = STUDY_LIMITS[self.kind].elements * LARGER
        for axes in rows:
            study = Study(self.trial(axes), accumulate)
            if sound(study) or self.elements(axes) > most:
                break
        return study

    def precision(self):
        floating = [t["dtype"] for t in self.definition.outputs.values() if "float" in t["dtype"]]
        if not floating:
            return "f32", {"precision": "int", "accumulate": "int"}
        name = DTYPES[floating[0]]
        if name not in EPSILON:
            raise Refused(f"an output has the dtype {floating[0]}")
        accumulate = "f32" if name in ("f16", "bf16") and self.sums_in_f32() else name
        return accumulate, {"precision": name, "accumulate": accumulate}

    def sums_in_f32(self):
        """References of narrow outputs say float32 for all that is between. A kernel for tensor
        cores must round what goes into its second product, so it cannot keep to that."""
        return self.counter.steps <= 1 or not self.counter.products and self.study("f32").factor <= SOUND

    def reply(self):
        accumulate, tolerance = self.precision()
        study = self.study(accumulate)
        rows = [row for row in study.rows() if not allowed(row["name"], accumulate)]
        self.flags += [f"passes: {row['name']}" for row in rows if row["passes"]]
        self.flags += flags.unchanging(study)
        if any_chaotic(study):
            self.flags.append("ill-conditioned")
        factor = study.factor
        tolerance.update(multiple=MULTIPLE * factor, norm_multiple=NORM_MULTIPLE * factor, L=factor)
        first = self.sizes.search[0]
        return {
            "refused": "", "title": self.title(), **self.named(), "scalars": self.scalars,
            "operations": [self.ratio * self.elements(first)], "bytes": [self.definition.bytes(first)],
            "work": {
                "elements": self.definition.work(False), "bytes": self.definition.work(True),
                "operations_each": self.ratio,
            },
            "tolerance": tolerance, "reproducible": not self.counter.reduces, "mutants": rows,
            "flags": list(dict.fromkeys(self.flags)),
        }  # fmt: skip

    def named(self):
        definition, shapes = self.definition, {}
        for name in ("tiny", "search", "promotion", "held_out"):
            shapes[name] = getattr(self.sizes, name)
        axes = [
            {"name": name, "value": shapes["search"][0][name], "fixed": axis["type"] == "const"}
            for name, axis in definition.axes.items()
        ]
        tensors = []
        for role, part in (("input", definition.inputs), ("output", definition.outputs)):
            for name, tensor in definition.tensors(part):
                row = {"name": name, "role": role, "dtype": DTYPES[tensor["dtype"]], "shape": tensor["shape"]}
                if role == "input":
                    row["generator"] = definition.generator(name, tensor)
                    row["description"] = meaning(name, tensor)
                tensors.append({**row, "state": "", "static": False})
        return {"axes": axes, "tensors": tensors, "shapes": shapes}

    def title(self):
        text = " ".join((self.definition.text or self.definition.name).split())
        text = text.encode("ascii", "ignore").decode().split(". ")[0]
        return text[:TITLE_CHARACTERS].strip() or self.definition.name
