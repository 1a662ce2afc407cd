"""A definition of FlashInfer-Trace or SOL-ExecBench: its axes, tensors, and the sizes of a task."""

import ast

import tables
from drawing import ranged
from sizes import primes_below
from survey import Refused

DTYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64",
    "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2", "int32": "i32", "int16": "i16", "int8": "i8",
    "bool": "bool",
}  # fmt: skip
BYTES = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2}
PAGED = {"num_pages": "num_kv_indices"}  # of a cache, only the pages that the table names are read
ITSELF = {"len_indptr": "batch_size + 1"}  # where no constraint says it
RANDOM = {"sampling": "its output is random"}
OWN_SIZES = (64, 256, 16)  # of variable axes, where there are no workloads
SHAPES = 3  # of each set
FEW = 4  # hidden shapes
TINY = 7
LIMITS = {"positions": ("max_seq_len", "max_position", "max_pos", "cache_len")}


class Definition:
    def __init__(self, fields):
        for key in ("name", "axes", "inputs", "outputs", "reference"):
            if not fields.get(key):
                raise Refused(f"the definition has no '{key}'")
        self.name, self.op = fields["name"], fields.get("op_type") or "unknown"
        self.axes, self.inputs, self.outputs = fields["axes"], fields["inputs"], fields["outputs"]
        self.reference, self.text = fields["reference"], fields.get("description") or ""
        self.constraints = fields.get("constraints") or []
        self.custom = fields.get("custom_inputs_entrypoint")
        self.check()

    def check(self):
        if self.op in RANDOM:
            raise Refused(f"op type {self.op}: {RANDOM[self.op]}")
        if self.custom:
            raise Refused(f"its inputs come from a function of its own, {self.custom}()")
        for name, tensor in {**self.inputs, **self.outputs}.items():
            if tensor["dtype"] not in DTYPES:
                raise Refused(f"'{name}' has the dtype {tensor['dtype']}")
            if tensor.get("optional"):
                raise Refused(f"the input '{name}' is optional, and a task has no missing tensors")
            unknown = [axis for axis in tensor["shape"] or [] if axis not in self.axes]
            if unknown:
                raise Refused(f"the shape of '{name}' names {unknown[0]}, which is no axis")
        for name, tensor in self.outputs.items():
            if tensor["shape"] is None:
                raise Refused(f"the output '{name}' is a number, not a tensor")
        for name, tensor in self.tensors(self.inputs):
            if self.generator(name, tensor) is None:
                raise Refused(
                    f"no rule of op type {self.op} builds the input '{name}' ({tensor['dtype']})"
                )

    @staticmethod
    def tensors(part):
        return [(name, tensor) for name, tensor in part.items() if tensor["shape"] is not None]

    def scalars(self):
        return [(name, t) for name, t in self.inputs.items() if t["shape"] is None]

    def generator(self, name, tensor):
        if tensor["dtype"].startswith(("float", "bfloat")):
            return ranged({"kind": "normal", "mean": 0.0, "std": 1.0})
        if name in tables.KNOWN:
            return {"kind": "reference"}
        limits = [axis for axis in LIMITS.get(name, ()) if axis in self.axes]
        return {"kind": "index", "limit": limits[0]} if limits else None

    def variables(self):
        return [name for name, axis in self.axes.items() if axis["type"] == "var"]

    def complete(self, given):
        """All axes from the variable ones; raises ValueError where a constraint does not hold."""
        axes = {n: axis["value"] for n, axis in self.axes.items() if axis["type"] == "const"}
        axes.update({n: int(v) for n, v in given.items() if n in self.axes})
        for name, expression in self.ties():
            axes[name] = value_of(expression, axes)
        for name, axis in self.axes.items():
            if axis["type"] == "expr":
                axes[name] = value_of(axis["expression"], axes)
        missing = [name for name in self.axes if name not in axes]
        if missing:
            raise ValueError(f"no workload says the axis {missing[0]}")
        for constraint in self.constraints:
            if is_arithmetic(constraint, axes) and not value_of(constraint, axes):
                raise ValueError(f"the constraint {constraint} does not hold")
        return {name: axes[name] for name in self.axes}

    def ties(self):
        """[(axis, expression)] of variable axes that follow from others."""
        found = {n: e for n, e in ITSELF.items() if n in self.axes and "batch_size" in self.axes}
        for constraint in self.constraints:
            left, _, right = constraint.partition("==")
            if right and left.strip() in self.variables() and is_arithmetic(right, self.axes):
                found[left.strip()] = right.strip()
        return list(found.items())

    def free(self):
        tied = {name for name, _ in self.ties()}
        return [name for name in self.variables() if name not in tied]

    def bytes(self, axes):
        total = 0
        for _, tensor in self.tensors({**self.inputs, **self.outputs}):
            size = BYTES.get(DTYPES[tensor["dtype"]], 1)
            for axis in tensor["shape"]:
                size *= axes[axis]
            total += size
        return total

    def work(self, in_bytes):
        """An expression: elements or bytes of all tensors, of caches only the pages that are read."""
        terms = []
        for _, tensor in self.tensors({**self.inputs, **self.outputs}):
            factors = [str(BYTES.get(DTYPES[tensor["dtype"]], 1))] if in_bytes else []
            for axis in tensor["shape"]:
                used = PAGED.get(axis)
                factors.append(f"min({axis}, {used})" if used in self.axes else axis)
            terms.append(" * ".join(factors) or "1")
        return " + ".join(terms)


def value_of(expression, axes):
    return eval(expression.replace("/", "//").replace("////", "//"), {"__builtins__": {}}, dict(axes))


def is_arithmetic(expression, axes):
    """Whether it speaks of axes only, not of elements of tensors."""
    try:
        nodes = list(ast.walk(ast.parse(expression.strip(), mode="eval")))
    except SyntaxError:
        return False
    known = (ast.Expression, ast.Compare, ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.Load,
             ast.operator, ast.unaryop, ast.cmpop)  # fmt: skip
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    return all(isinstance(node, known) for node in nodes) and set(names) <= set(axes)


class Sizes:
    """The four sets of shapes: workloads, every third one hidden, and primes on top of these."""

    def __init__(self, definition, workloads, limit, fits):
        self.definition, self.limit, self.fits = definition, limit, fits
        self.flags = [] if workloads else ["own sizes"]
        rows = self.small([w["axes"] for w in workloads] or [self.own()])
        hidden = rows[2::3]
        shown = [row for i, row in enumerate(rows) if i % 3 != 2]
        self.search = spread(shown, SHAPES)
        secret = [self.odd(row) for row in hidden or shown] + hidden
        if len(secret) < FEW:
            secret += [self.odd(self.half(row)) for row in shown]
        secret = [row for i, row in enumerate(secret) if row and row not in secret[:i]]
        secret = [row for row in secret if row not in self.search] or self.search
        self.promotion = spread(secret[0::2], SHAPES)
        self.held_out = spread(secret[1::2], SHAPES) or self.promotion
        self.tiny = self.tiny_sizes(shown[0])

    def own(self):
        small, large, batch = OWN_SIZES
        return {n: batch if "batch" in n else large if "kv" in n or "page" in n else small
                for n in self.definition.variables()}  # fmt: skip

    def small(self, rows):
        """Complete sizes that fit, from small to large; scaled down where none does."""
        found, why = [], "there is none"
        for row in rows:
            try:
                axes = self.definition.complete(row)
                if axes not in found:
                    found.append(axes)
            except ValueError as error:
                why = str(error)
        if not found:
            raise Refused(f"no workload can be used: {why}")
        found.sort(key=self.definition.bytes)
        fitting = [axes for axes in found if self.definition.bytes(axes) <= self.limit and self.fits(axes)]
        if len(fitting) < len(found):
            self.flags.append("scaled")
        return fitting or [self.halved(found[0])]

    def halved(self, axes):
        while self.definition.bytes(axes) > self.limit or not self.fits(axes):
            name = max(self.definition.free(), key=axes.get, default="")
            if not name or axes[name] < 2:
                raise Refused("even its smallest size is too large for this device and --memory")
            axes = self.definition.complete({**axes, name: axes[name] // 2})
        return axes

    def odd(self, axes):
        """The same with primes, None where that does not fit together."""
        changed = dict(axes)
        for name in self.definition.free():
            below = primes_below(axes[name], 1)
            changed[name] = below[0] if below else axes[name]
        return self.usable(changed)

    def half(self, axes):
        return {**axes, **{name: max(axes[name] // 2, 1) for name in self.definition.free()}}

    def usable(self, axes):
        try:
            axes = self.definition.complete(axes)
            return axes if self.fits(axes) else None
        except ValueError:
            return None

    def tiny_sizes(self, axes):
        changed = dict(axes)
        for factor, name in enumerate(sorted(self.definition.free(), key=axes.get)):
            changed[name] = min(axes[name], TINY * (factor + 1))
        one = {name: min(2, changed[name]) if "batch" in name else changed[name] for name in changed}
        found = [row for row in (self.usable(changed), self.usable(one)) if row]
        return [row for i, row in enumerate(found) if row not in found[:i]] or [axes]


def spread(rows, count):
    """`count` of the rows: the first, the last, and some between."""
    if len(rows) <= count:
        return list(rows)
    return [rows[round(i * (len(rows) - 1) / (count - 1))] for i in range(count)]
