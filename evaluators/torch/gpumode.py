"""A problem of GPU MODE (generate_input() and ref_kernel()) as a module file.

The file's text stays, less what judges submissions. Behind it stand the sizes, a class Model that calls ref_kernel(),
and get_inputs(), which calls generate_input(). Tensors that only take results are no inputs.
"""

import ast

import torch
from torch.overrides import TorchFunctionMode

from cases import Cases, product
from drawing import SAME_ELEMENTS
from forms import CONTAINERS, leaves, rebuilt
from precision import Plain
from problem import execute
from seeds import without_own_seeds
from survey import Refused
from tensors import as_list

SEED = 1  # the one generator that Winnow seeds draws all numbers
JUDGING = "check_implementation"
STAND_INS = {
    "input_t": "object", "output_t": "object", "DeterministicContext": "contextlib.nullcontext",
    "DisableCuDNNTF32": "contextlib.nullcontext",
}  # fmt: skip
UNIQUE = ("cholesky",)  # its checks reconstruct the input, but only one answer passes them
EMPTY = {"empty", "empty_like", "new_empty", "zeros", "zeros_like", "new_zeros"}
LEAVES = (torch.Tensor, int, float, str, type(None))
OBSERVED = 4  # sizes at which the shapes of results are looked at
TAIL = '''

# ---- the problem as a module
{sizes}


class Model(torch.nn.Module):
    """{title}"""

    def forward(self, {inputs}):
{allocations}        return {result}


def inputs_of(data):
    """What ref_kernel() reads of its argument."""
{unpack}    return [{inputs}]


def results_of(data):
    """Where ref_kernel() puts its results, as far as its argument says so."""
{unpack}    return [{results}]


def get_inputs():
    return inputs_of(generate_input({call}))


def get_init_inputs():
    return []
'''


def as_module(source, problem):
    """(text of the module, Cases, notes). Raises Refused where it cannot be one."""
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name in ("ref_kernel", "generate_input"):
        if name not in functions:
            raise Refused(f"its reference.py has no {name}()")
    check_kind(tree, functions)
    arguments = parameters(functions["generate_input"])
    tests, benchmarks = ([{k: v for k, v in row.items() if k != "seed"} for row in problem[part]]
                         for part in ("tests", "benchmarks"))  # fmt: skip
    check_arguments(arguments, [*tests, *benchmarks])
    sizes, constants, cases, notes = split_cases(tests, benchmarks)
    names = free_names(sizes, tree)
    values = {**{key: repr(value) for key, value in constants.items()}, **names}
    values["seed"] = str(SEED)
    values = {name: values[name] for name in arguments if name in values}
    cases = renamed(cases, names)
    text = trimmed(source, tree)
    tail = Tail(text, functions["ref_kernel"], values, cases).text(problem.get("title") or problem["name"])
    return text + tail, cases, notes


def check_kind(tree, functions):
    """Refuses what a single-GPU task with one right answer cannot be."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    words = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    if "rank" in parameters(functions["generate_input"]) or "distributed" in words or "dist" in used:
        raise Refused("several GPUs share the work, and a task is for one")
    for node in tree.body:
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        if defines(node, JUDGING) and "ref_kernel" not in names:
            reference = ast.unparse(functions["ref_kernel"])
            if not any(word in reference for word in UNIQUE):
                raise Refused("check_implementation() accepts several answers (it does not compare with ref_kernel()), "
                              "and a task has one")  # fmt: skip


def check_arguments(arguments, rows):
    for row in rows:
        unknown = [name for name in row if name not in arguments]
        missing = [n for n, default in arguments.items() if default is NOTHING and n not in row and n != "seed"]
        if unknown or missing:
            what = f"names {unknown[0]}, which" if unknown else f"does not say {missing[0]}, which"
            raise Refused(f"task.yml {what} generate_input() {'does not take' if unknown else 'needs'}")


NOTHING, COMPUTED = object(), object()


def parameters(function):
    """{name: default}; NOTHING for one without a default, COMPUTED for one that is no literal."""
    found = {argument.arg: NOTHING for argument in [*function.args.args, *function.args.kwonlyargs]}
    defaults = function.args.defaults
    pairs = list(zip(function.args.args[len(function.args.args) - len(defaults) :], defaults))
    pairs += [(a, d) for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults) if d is not None]
    for argument, default in pairs:
        try:
            found[argument.arg] = ast.literal_eval(default)
        except ValueError:
            found[argument.arg] = COMPUTED
    return found


def is_size(value):
    return type(value) is int and value >= 1


def kind_of(value):
    """What must be the same in all cases of a task: a list of sizes has a fixed length."""
    if isinstance(value, list) and value and all(is_size(part) for part in value):
        return len(value)
    return repr(value)


def split_cases(tests, benchmarks):
    """(names of sizes, {name: constant}, Cases, notes): of the values that are no sizes, those of most benchmarks."""
    rows = benchmarks + tests
    if not rows:
        raise Refused("the problem states no sizes: it has neither tests nor benchmarks")
    names = list(dict.fromkeys(name for row in rows for name in row))
    sizes = [name for name in names if all(is_size(row.get(name)) for row in rows)]
    others = [name for name in names if name not in sizes]
    key = lambda row: tuple(kind_of(row[name]) if name in row else None for name in others)
    keys = [key(row) for row in benchmarks or tests]
    best = max(dict.fromkeys(keys), key=keys.count)
    kept = [[row for row in part if key(row) == best] for part in (tests, benchmarks)]
    first = (kept[1] or kept[0])[0]
    constants = {name: first[name] for name in others if name in first}
    lists = [name for name in constants if isinstance(kind_of(constants[name]), int)]
    flat = [[flattened(row, sizes, lists) for row in part] for part in kept]
    left = len(rows) - len(kept[0]) - len(kept[1])
    said = ", ".join(f"{name} = {value!r}" for name, value in constants.items() if name not in lists)
    notes = [f"{left} of its sizes are left out: the task has those with {said}"] if left and said else []
    constants = {name: value for name, value in constants.items() if name not in lists}
    return sizes + lists, constants, Cases(*flat), notes


def flattened(row, sizes, lists):
    found = {name: row[name] for name in sizes}
    for name in lists:
        found.update({f"{name}_{i}": part for i, part in enumerate(row[name])})
    return found


def free_names(sizes, tree):
    """{argument: name of the module's integer}: no other name of the file."""
    taken = {node.name for node in tree.body if hasattr(node, "name")}
    for node in tree.body:
        taken |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
                  and not isinstance(node, (ast.FunctionDef, ast.ClassDef))}  # fmt: skip
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            taken |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    names = {}
    for name in sizes:
        names[name] = name
        while names[name] in taken:
            names[name] += "_"
    return names


def renamed(cases, names):
    def new(row):
        found = {}
        for key, value in row.items():
            name, _, part = key.rpartition("_")
            found[names.get(key) or f"{names[name]}_{part}"] = value
        return found

    return Cases([new(row) for row in cases.tests], [new(row) for row in cases.benchmarks])


def defines(node, name):
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    return isinstance(node, ast.FunctionDef) and node.name == name


def is_main(node):
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)


def trimmed(source, tree):
    """The text without its judging, and with stand-ins for what it imports from the benchmark's other files."""
    lines = source.splitlines()
    wanted = {}
    for node in reversed(tree.body):
        is_import = isinstance(node, ast.ImportFrom) and node.module in ("utils", "task")
        if is_import:
            wanted.update({alias.asname or alias.name: alias.name for alias in node.names})
        if is_import or defines(node, JUDGING) or is_main(node):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            del lines[first - 1 : node.end_lineno]
    text = "\n".join(lines).strip("\n") + "\n"
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    stand_ins = ""
    for name, original in sorted(wanted.items()):
        if name in used and original not in STAND_INS:
            raise Refused(f"reference.py needs {original} of the benchmark's other files")
        if name in used:
            stand_ins += f"{name} = {STAND_INS[original]}\n"
    imports = "import contextlib\n" if "contextlib" in stand_ins else ""
    imports += "" if "torch" in imported(tree) else "import torch\n"
    return placed(text, imports, stand_ins)


def imported(tree):
    """The names of `import torch` and the like."""
    return {alias.asname or alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}


def placed(text, imports, stand_ins):
    """The stand-ins go behind the file's docstring and its imports from __future__."""
    if not imports and not stand_ins:
        return text
    last = 0
    for node in ast.parse(text).body:
        is_head = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_head and getattr(node, "module", None) != "__future__":
            break
        last = node.end_lineno
    lines = text.splitlines()
    block = f"{imports}{stand_ins}".splitlines()
    return "\n".join([*lines[:last], *block, *lines[last:]]) + "\n"


class Allocated(TorchFunctionMode):
    """Knows the tensors that hold no data yet."""

    def __init__(self):
        super().__init__()
        self.known = {}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        is_known = bool(args) and self.holds(args[0])
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and (name in EMPTY or is_known and name in SAME_ELEMENTS):
            self.known[id(result)] = (result, result._version)
        return result

    def holds(self, tensor):
        kept, version = self.known.get(id(tensor), (None, 0))
        return kept is not None and kept is tensor and version == tensor._version


class Tail:
    """The text behind the file, found by running it at its smallest sizes."""

    def __init__(self, text, reference, values, cases):
        self.file, self.reference, self.values, self.cases = text, reference, values, cases
        rows = sorted([*cases.tests, *cases.benchmarks], key=product)[:OBSERVED]
        first, fresh = self.generate(rows[0])
        self.check_leaves(first)
        self.is_tuple = isinstance(first, (tuple, list))
        self.parts = list(first) if self.is_tuple else [first]
        self.names = self.names_of_parts()
        self.results = self.find_results(fresh) if self.is_tuple else []
        self.ignored = bool(self.results) and self.runs_without()
        self.rows = rows
        if all(not isinstance(leaf, torch.Tensor) for leaf in self.inputs_only()):
            raise Refused("generate_input() gives no tensor that ref_kernel() reads")

    def generate(self, row):
        """(the data, the tensors in it that hold nothing yet), with the file executed anew."""
        allocated = Allocated()
        with torch.no_grad(), Plain():
            self.module = execute(self.file + self.sizes_text(row), {})
            torch.manual_seed(SEED)
            with allocated, without_own_seeds():
                data = eval(f"generate_input({self.call()})", self.module.__dict__)
        return data, allocated

    def sizes_text(self, row):
        return "\n" + "\n".join(self.size_lines(row)) + "\n"

    def size_lines(self, row):
        """`m = 64`; a list as a tuple of its parts."""
        lines = []
        for name in dict.fromkeys(n for n in self.values.values() if n.isidentifier()):
            parts = [row[key] for key in (f"{name}_{i}" for i in range(len(row))) if key in row]
            value = row.get(name, tuple(parts) if parts else None)
            lines += [f"{name} = {value}"] if value is not None else []
        return lines

    def call(self):
        return ", ".join(f"{argument}={value}" for argument, value in self.values.items())

    def check_leaves(self, data):
        for _, leaf in leaves(data, "data"):
            if not isinstance(leaf, LEAVES):
                raise Refused(f"generate_input() gives a {type(leaf).__name__}, and a task's inputs are tensors")

    def names_of_parts(self):
        """The names that ref_kernel() gives to the parts of its argument."""
        argument = self.reference.args.args[0].arg
        if not self.is_tuple:
            return [argument]
        for node in ast.walk(self.reference):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == argument:
                target = node.targets[0]
                if isinstance(target, ast.Tuple) and len(target.elts) == len(self.parts):
                    names = [getattr(part, "id", "_") for part in target.elts]
                    return [n if names.count(n) == 1 and n != "_" else f"data_{i}" for i, n in enumerate(names)]
        return [f"data_{i}" for i in range(len(self.parts))]

    def run(self, parts):
        """The results as a list, of copies of the parts."""
        data = tuple(copied(part) for part in parts)
        with torch.no_grad(), Plain():
            return as_list(self.module.ref_kernel(data if self.is_tuple else data[0]))

    def find_results(self, fresh):
        """The places of tensors that take results, and whose elements ref_kernel() does not read."""
        written = self.written()
        likely = [
            i for i, part in enumerate(self.parts)
            if isinstance(part, torch.Tensor) and (fresh.holds(part) or self.names[i] in written)
        ]  # fmt: skip
        self.right = self.run(self.parts) if likely else []
        found = []
        for i in likely:
            changed = [*self.parts[:i], garbage(self.parts[i]), *self.parts[i + 1 :]]
            if same(self.right, self.run(changed)):
                found.append(i)
        return found

    def written(self):
        """The names whose elements ref_kernel() sets: c[...] = a @ b."""
        targets = [t for node in ast.walk(self.reference) if isinstance(node, ast.Assign) for t in node.targets]
        return {ast.unparse(target.value) for target in targets if isinstance(target, ast.Subscript)}

    def runs_without(self):
        """Whether ref_kernel() makes its results itself, and never looks at these tensors."""
        parts = [None if i in self.results else part for i, part in enumerate(self.parts)]
        try:
            return same(self.right, self.run(parts))
        except (AttributeError, TypeError, RuntimeError, ValueError):
            return False

    def result(self, data):
        """The call. Where a result that ref_kernel() makes has another dtype than the tensor for it, it gets that."""
        text = f"ref_kernel({data})"
        places = [self.parts[i] for i in self.results]
        if self.ignored and len(places) == len(self.right) == 1 and places[0].dtype != self.right[0].dtype:
            return f"{text}.to({places[0].dtype})"
        return text

    def inputs_only(self):
        return [leaf for i, part in enumerate(self.parts) if i not in self.results
                for _, leaf in leaves(part, "")]  # fmt: skip

    def allocations(self):
        """A line for each tensor that takes results."""
        if self.ignored or not self.results:
            return ""
        observed = []
        for row in self.rows:
            data, _ = self.generate(row)
            observed.append((row, data))
        device = next(n for n, p, i in zip(self.names, self.parts, range(len(self.parts)))
                      if isinstance(p, torch.Tensor) and i not in self.results)  # fmt: skip
        lines = ""
        for i in self.results:
            extents = [self.extent(observed, i, dim) for dim in range(self.parts[i].dim())]
            comma = "," if len(extents) == 1 else ""
            dtype = self.parts[i].dtype
            lines += (f"        {self.names[i]} = torch.empty(({', '.join(extents)}{comma}), dtype={dtype}, "
                      f"device={device}.device)\n")  # fmt: skip
        return lines

    def extent(self, observed, i, dim):
        """The text of an extent: that of an input, a size, a number, or a quotient of sizes."""
        series = [data[i].shape[dim] for _, data in observed]
        numbers = [(series, str(series[0]))] if len(observed) > 1 and len(set(series)) == 1 else []
        for found, text in [*self.extents(observed), *numbers, *quotients(observed)]:
            if found == series:
                return text
        raise Refused(f"the size {dim} of {self.names[i]}, which takes results, is none of the inputs")

    def extents(self, observed):
        """[(values, text)] of the extents of inputs, and of the sizes."""
        found = []
        for j, part in enumerate(self.parts):
            if isinstance(part, torch.Tensor) and j not in self.results:
                for dim in range(part.dim()):
                    found.append(([data[j].shape[dim] for _, data in observed], f"{self.names[j]}.shape[{dim}]"))
        return found + [([row[key] for row, _ in observed], key) for key in observed[0][0]]

    def text(self, title):
        given = [name for i, name in enumerate(self.names) if i not in self.results]
        taken = [self.names[i] for i in self.results]
        data = self.names[0]
        if self.is_tuple:
            values = ["None" if self.ignored and i in self.results else n for i, n in enumerate(self.names)]
            data = f"({', '.join(values)}{',' if len(values) == 1 else ''})"
        unpack = f"    {', '.join(self.names)}{',' if len(self.names) == 1 else ''} = data\n"
        if not self.is_tuple:
            unpack = f"    {self.names[0]} = data\n" if self.names[0] != "data" else ""
        return TAIL.format(
            sizes="\n".join(self.size_lines(self.cases.benchmarks[0])), title=plain_title(title),
            inputs=", ".join(given), allocations=self.allocations(), result=self.result(data), unpack=unpack,
            results=", ".join(taken), call=self.call(),
        )  # fmt: skip


def quotients(observed):
    names = list(observed[0][0])
    return [([row[a] // row[b] for row, _ in observed], f"{a} // {b}") for a in names for b in names]


def plain_title(text):
    text = " ".join(text.split()).encode("ascii", "ignore").decode()
    return text.replace("\\", "").replace('"', "'")[:200]


def copied(value):
    """The same containers with copies of the tensors."""
    parts = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for _, leaf in leaves(value, "")]
    return rebuilt(value, iter(parts)) if isinstance(value, CONTAINERS) else parts[0]


def garbage(tensor):
    """A copy with other elements: huge ones where the layout lets bytes be set."""
    changed = tensor.clone()
    try:
        changed.view(torch.uint8).fill_(0x7F)
    except RuntimeError:
        changed = torch.full_like(tensor, 3)
    return torch.ones_like(tensor) if tensor.dtype == torch.bool else changed


def same(one, other):
    if len(one) != len(other):
        return False
    pairs = [(a, b) for a, b in zip(one, other) if a.shape == b.shape and a.dtype == b.dtype]
    if len(pairs) < len(one):
        return False
    return all(torch.equal(torch.nan_to_num(a.double()), torch.nan_to_num(b.double())) for a, b in pairs)
