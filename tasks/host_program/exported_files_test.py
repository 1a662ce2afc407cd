"""Runs the exported files of a linear layer with a fake kernel.

    python3 exported_files_test.py REFERENCE KERNELBENCH_FILE EXTENSION

kernelbench_file_test.cpp calls it. Exits with 77 where torch is missing.
"""

import sys
import types

try:
    import torch
except ImportError as error:
    print(f"skipped: {sys.executable} cannot import torch: {error}")
    sys.exit(77)
import torch.utils.cpp_extension

BUILT = []


def build(**options):
    BUILT.append(options)
    return types.SimpleNamespace()


def execute(path, context):
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), context)
    return context


def seeded(make):
    torch.manual_seed(42)
    return make()


def check_kernelbench_file(reference, path):
    """As KernelBench does it: one context for both files, a seed before each constructor."""
    context = execute(reference, {})
    arguments = context["get_init_inputs"]()
    old = seeded(lambda: context["Model"](*arguments))
    new = seeded(lambda: execute(path, context)["ModelNew"](*arguments))
    assert len(BUILT) == 1 and BUILT[0]["functions"][-1] == "exported_run", BUILT
    assert "__global__ void linear(" in BUILT[0]["cuda_sources"]
    for (name, one), (other_name, other) in zip(old.named_parameters(), new.named_parameters()):
        assert name == other_name and torch.equal(one, other), name

    calls = []
    context["_call"] = lambda *given: calls.append(given) or "the answer"
    new = new.to(dtype=torch.float64)
    for batch in (8, 16):  # the task's size, and the file's
        x = torch.rand(24, batch, dtype=torch.float64).t()  # not contiguous
        for _ in range(2):
            assert new(x) == "the answer"
            tensors, scalars, axes = calls.pop()
            assert tensors[0].is_contiguous() and torch.equal(tensors[0], x)
            assert tensors[1] is new.linear.weight and tensors[2] is new.linear.bias
            assert len(tensors) == 3 and scalars == ()
            assert {name: axes[name] for name in context["GIVEN_AXES"]} == {"out_1": 7}, axes


def check_extension(reference, path):
    context = execute(path, {"__name__": "extension"})
    model = seeded(lambda: execute(reference, {})["Model"](24, 8))
    x = torch.rand(8, 24)
    with torch.no_grad():
        right = model(x)
        given = [x, model.linear.weight.clone(), model.linear.bias.clone()]
    shape = types.SimpleNamespace(index=0, device=torch.device("cpu"), scalars=(), given=lambda: given)
    wrong = right.clone()
    wrong[3, 5] += 1e-4
    for answer, expected in ((right, True), (wrong, False), (torch.zeros_like(right), False)):
        shape.run = lambda answer=answer: [answer]
        assert context["_verify"](shape) is expected, answer


torch.utils.cpp_extension.load_inline = build
check_kernelbench_file(sys.argv[1], sys.argv[2])
check_extension(sys.argv[1], sys.argv[3])
print("passed")
