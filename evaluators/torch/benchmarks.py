"""Problems of benchmarks as module files with cases: the field "problem" of the request "describe"."""

import ast
import itertools
import json

import gpumode
from cases import Cases
from knobs import knobs_of, plain
from survey import Refused

ROBUST_TAIL = '''

# ---- the sizes of the benchmark's configurations
{sizes}

inputs_of_the_benchmark = get_inputs


def get_inputs():
    return inputs_of_the_benchmark({inputs})


def get_init_inputs():
    return {{{init}}}
'''
GRADIENTS = '''

# ---- the backward pass
forward_pass = Model.forward


def gradients(self, grad_output, {inputs}):
    with torch.enable_grad():
        inputs = [t.detach().requires_grad_(t.is_floating_point()) for t in ({inputs},)]
        wanted = [t for t in inputs if t.requires_grad] + list(self.parameters())
        given = torch.autograd.grad(forward_pass(self, *inputs), wanted, grad_output, allow_unused=True)
        return [gradient for gradient in given if gradient is not None]


Model.forward = gradients
forward_inputs = get_inputs


def get_inputs():
    inputs = [t.detach() for t in forward_inputs()]
    output = forward_pass(Model(**get_init_inputs()), *inputs)
    return [torch.randn_like(output), *inputs]
'''


class Problem:
    """A module file, and the sizes that its benchmark states; without any, `cases` is None."""

    def __init__(self, source, cases=None, notes=(), title=""):
        self.source, self.cases, self.notes, self.title = source, cases, list(notes), title


def as_module(request):
    """The file of the request as a module. Raises Refused where it cannot be one."""
    problem = request.get("problem")
    source = plain(request["source"])
    if not problem:
        return Problem(request["source"])
    if problem["form"] == "gpumode":
        return Problem(*gpumode.as_module(source, problem))
    if problem["form"] == "robust-kbench":
        return robust(source, problem)
    return stated(source, problem)


def stated(source, problem):
    """A module file beside shapes.py: kernelbench.com."""
    if not has_inputs(source):
        raise Refused("get_inputs() gives nothing: the benchmark runs a protocol of its own, not one call of Model")
    knobs = knobs_of(source)
    names = {name.lower(): name for name in reversed(knobs)}
    shapes = lists_of(problem["shapes"])
    rows, notes = [], []
    for shape in shapes.get("SHAPES", []):
        row = {}
        for key, value in shape.items():
            name = key if key in knobs else names.get(key.lower())
            if name and gpumode.is_size(value):
                row[name] = value
            elif type(value) is not bool or value:
                notes.append(f"sizes with {key} = {value!r} are left out: reference.py has no such integer")
                row = {}
                break
        rows += [row] if row else []
    if not rows:
        raise Refused("no size of shapes.py is an integer of reference.py")
    return Problem(source, Cases([], rows), dict.fromkeys(notes))


def lists_of(text):
    """The upper-case names of a file that is data, such as shapes.py."""
    found = {"__builtins__": {}}
    exec(compile(ast.parse(plain(text), "shapes.py"), "shapes.py", "exec"), found)
    return {name: value for name, value in found.items() if name.isupper()}


def has_inputs(source):
    """Whether get_inputs() returns more than an empty list."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == "get_inputs":
            returned = [part.value for part in ast.walk(node) if isinstance(part, ast.Return)]
            return not all(isinstance(value, (ast.List, ast.Tuple)) and not value.elts for value in returned)
    return False


def robust(source, problem):
    """forward_fn() and Model with configurations for the inputs, the constructor and both."""
    tree = ast.parse(source)
    inputs, init = robust_arguments(tree)
    defaults = {k: v for k, v in {**init, **inputs}.items() if v not in (gpumode.NOTHING, gpumode.COMPUTED)}
    rows = [{**defaults, **row} for row in robust_rows(json.loads(problem["config"]))]
    for name, default in {**init, **inputs}.items():
        if default is gpumode.NOTHING and any(name not in row for row in rows):
            raise Refused(f"no configuration gives the argument {name}")
    rows = [{k: v for k, v in row.items() if k in inputs or k in init} for row in rows]
    sizes, constants, cases, notes = gpumode.split_cases([], rows)
    names = gpumode.free_names(sizes, tree)
    cases = gpumode.renamed(cases, names)
    values = {**{key: repr(value) for key, value in constants.items()}, **names}
    call = lambda names: ", ".join(f"{n}={values[n]}" for n in names if n in values)
    entries = ", ".join(f'"{n}": {values[n]}' for n in init if n in values)
    lines = "\n".join(f"{name} = {value}" for name, value in cases.benchmarks[0].items())
    source = source.rstrip("\n") + "\n" + ROBUST_TAIL.format(sizes=lines, inputs=call(inputs), init=entries)
    if not problem.get("backward"):
        return Problem(source, cases, notes)
    source += GRADIENTS.format(inputs=", ".join(forward_inputs(tree)))
    return Problem(source, cases, notes, f"Gradients of {problem['name']}")


def robust_rows(config):
    """Every combination of the parts, first of the single configuration, then of the others."""
    rows = []
    for prefix in ("single", "multi"):
        parts = [config.get(f"{prefix}_{part}_configs") or [{}] for part in ("input", "init", "shared")]
        for chosen in itertools.product(*parts):
            row = {key: value for part in chosen for key, value in part.items()}
            rows += [row] if row not in rows else []
    return rows


def robust_arguments(tree):
    """({argument of get_inputs(): default}, {argument of the constructor: default})"""
    inputs = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "get_inputs":
            inputs = gpumode.parameters(node)
    return inputs, method_arguments(tree, "__init__")


def method_arguments(tree, name):
    """{argument: default} of a method of Model, less self."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Model":
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == name:
                    found = gpumode.parameters(part)
                    return {argument: found[argument] for argument in list(found)[1:]}
    return {}


def forward_inputs(tree):
    """The tensors of forward(), which has the function to call behind them."""
    return [name for name, default in method_arguments(tree, "forward").items() if default is gpumode.NOTHING]
