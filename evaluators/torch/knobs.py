"""The integers of a module file that can be set to other values, found in its syntax tree.

A knob is one of these:
- a module-level NAME = 128, also in `rows, cols = 8192, 4096` and `height = width = 128`,
- an element of a module-level tuple or list, named NAME_0, NAME_1, ...,
- such a NAME in get_inputs() or get_init_inputs(), unless the module has the name, too,
- a literal size of a tensor in get_inputs(), named size_0, size_1, ...
- a literal among the constructor's arguments in get_init_inputs(), named as the constructor names it.
The literal bound of a randint() that equals such a literal is the same knob: its numbers are indices.
Names that the file derives from its knobs follow, because the file is executed again.
"""

import ast

DRAWS = {"rand", "randn", "randint", "zeros", "ones", "full", "arange", "empty", "normal"}
BOUNDED = {"randint", "full", "normal"}  # plain arguments are no sizes
RESHAPED = {"expand", "view", "reshape"}  # methods of tensors; -1 is no size
FUNCTIONS = ("get_inputs", "get_init_inputs")


def integer(node):
    """The value of an expression of integer literals, else None."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp) or (isinstance(node, ast.UnaryOp)):
        parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
        if isinstance(getattr(node, "op", None), (ast.Pow, ast.LShift)):
            parts += [ast.Constant(None)] if (integer(node.right) or 0) > 64 else []
        if any(integer(part) is None for part in parts):
            return None
        try:
            value = eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})
        except ArithmeticError:
            return None
        return value if type(value) is int else None
    return None


def single_assignments(holder):
    """Rewrites a = b = 3 and a, b = 3, 4 as one assignment a name, so that each can be set."""
    body = []
    for node in holder.body:
        for target, value in pairs(node):
            body.append(ast.copy_location(ast.Assign([target], value), node))
        if not pairs(node):
            body.append(single_assignments(node) if is_function(node) else node)
    holder.body = body
    return ast.fix_missing_locations(holder)


def is_function(node):
    return isinstance(node, ast.FunctionDef) and node.name in FUNCTIONS


def pairs(node):
    if isinstance(node, ast.AnnAssign) and node.value is not None and node.simple:
        return [(node.target, node.value)]
    if not isinstance(node, ast.Assign):
        return []
    found = []
    for target in node.targets:
        both = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
        if both and len(target.elts) == len(node.value.elts) and not depends(node):
            found += zip(target.elts, node.value.elts)
        elif len(node.targets) > 1 and not isinstance(node.value, (ast.Constant, ast.BinOp, ast.UnaryOp)):
            return []  # a = b = [] is one list, not two
        else:
            found.append((target, node.value))
    return found


def depends(node):
    """Whether a, b = ... reads a or b, as a swap does."""
    written = {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return any(isinstance(n, ast.Name) and n.id in written for n in ast.walk(node.value))


class Slot:
    """A place in the tree that holds an integer."""

    def __init__(self, name, holder, field, index=None):
        self.name, self.holder, self.field, self.index = name, holder, field, index
        self.value = integer(self.node())

    def node(self):
        place = getattr(self.holder, self.field)
        return place if self.index is None else place[self.index]

    def put(self, value):
        fresh = ast.copy_location(ast.Constant(value), self.node())
        if self.index is None:
            setattr(self.holder, self.field, fresh)
        else:
            getattr(self.holder, self.field)[self.index] = fresh


def slots(tree):
    """All knobs of the tree; those of the module come first. The last assignment of a name counts."""
    found = [slot for slot in assignments(tree) if slot.value is not None]
    names = {slot.name for slot in found}
    functions = [node for node in tree.body if is_function(node)]
    for function in functions:
        found += [slot for slot in assignments(function) if slot.value is not None and slot.name not in names]
    literals = [slot for f in functions if f.name == "get_init_inputs" for slot in constructor_literals(f, tree)]
    taken = {slot.name for slot in found}
    for i, slot in enumerate(literals):
        slot.name = f"init_{i}" if slot.name in taken or not slot.name else slot.name
        taken.add(slot.name)
    for function in functions:
        if function.name == "get_inputs":
            found += literal_sizes(function, literals)
    return found + literals


def own_names(tree):
    """The knobs of the module; all others are local to a function, or literals."""
    return {slot.name for slot in assignments(tree)}


def constructor_literals(function, tree):
    """Integers among what get_init_inputs() returns: [64, 3], {"width": 64}, [[64], {"bias": False}]."""
    names = constructor_parameters(tree)
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            found += literals_in(node.value, names)
    return [slot for slot in found if slot.value is not None]


def literals_in(node, names):
    if isinstance(node, (ast.List, ast.Tuple)):
        found = [Slot(names[i] if i < len(names) else "", node, "elts", i) for i in range(len(node.elts))]
        if any(isinstance(part, (ast.List, ast.Tuple, ast.Dict)) for part in node.elts):
            for part in node.elts:
                found += literals_in(part, names if part is node.elts[0] else [])
        return found
    if isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else "" for key in node.keys]
        return [Slot(str(key), node, "values", i) for i, key in enumerate(keys)]
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "dict":
        return [Slot(keyword.arg or "", keyword, "value") for keyword in node.keywords]
    return []


def constructor_parameters(tree):
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Model":
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    return [argument.arg for argument in part.args.args[1:]]
    return []


def assignments(holder):
    found = []
    for node in holder.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found += assigned(node.targets[0].id, node)
    return found


def assigned(name, node):
    if isinstance(node.value, (ast.Tuple, ast.List)):
        count = len(node.value.elts)
        return [Slot(f"{name}_{i}", node.value, "elts", i) for i in range(count)]
    return [Slot(name, node, "value")]


def literal_sizes(function, others):
    """The sizes of the tensors that get_inputs() makes, and the bounds that equal one of them or of `others`."""
    found, limits = [], []
    for call in ast.walk(function):
        name = ast.unparse(call.func).split(".")[-1] if isinstance(call, ast.Call) else ""
        if name == "randint":
            limits += limits_of(call)
        if name in DRAWS or name in RESHAPED:
            found += [slot for slot in sizes_of(call, name in BOUNDED) if (slot.value or 0) > 0 or name in DRAWS]
    found = [slot for slot in found if slot.value is not None]
    for i, slot in enumerate(found):
        slot.name = f"size_{i}"
    names = {slot.value: slot.name for slot in reversed([*found, *others])}
    for slot in limits:
        slot.name = names.get(slot.value)
    return found + [slot for slot in limits if slot.name and slot.value > 2]


def sizes_of(call, is_bounded):
    found = []
    for i, argument in enumerate(call.args):
        if isinstance(argument, (ast.Tuple, ast.List)):
            found += [Slot("", argument, "elts", j) for j in range(len(argument.elts))]
        elif not is_bounded:
            found.append(Slot("", call, "args", i))
    for keyword in call.keywords:
        if keyword.arg == "size" and isinstance(keyword.value, (ast.Tuple, ast.List)):
            found += [Slot("", keyword.value, "elts", j) for j in range(len(keyword.value.elts))]
    return found


def limits_of(call):
    """The upper bound of a randint(high, size) or randint(low, high, size)."""
    numbers = [i for i, a in enumerate(call.args[:2]) if not isinstance(a, (ast.Tuple, ast.List))]
    return [Slot("", call, "args", i) for i in numbers[-1:]]


def parse(source):
    return single_assignments(ast.parse(plain(source), "reference.py"))


def plain(source):
    """The text without the mark that some editors put first."""
    return source[1:] if source.startswith("\ufeff") else source


def knobs_of(source):
    """{name: value}, in the file's order."""
    return {slot.name: slot.value for slot in slots(parse(source))}


def compiled(source, values):
    """The file as code, with each knob that `values` names set."""
    tree = parse(source)
    for slot in slots(tree):
        if slot.name in values:
            slot.put(values[slot.name])
    return compile(ast.fix_missing_locations(tree), "reference.py", "exec")
