"""The requests "answer", "inputs", "mutant", "alternative" and "time": a task's inputs are in the memory file."""

import json

import torch

import mutants
import precision
import tables
import timing
from alternatives import Alternatives, reset_compiler
from drawing import Draws
from errors import error_text
from noise import LARGEST_SEED, error_scales
from problem import Problem, is_definition, load_module
from structured import constructed_state, own_leaves
from tensors import Memory, as_list, check, torch_dtype, widened


class Case:
    """The inputs of one request: forward's arguments, and the state of the model."""

    def __init__(self, request, memory, device, float64):
        self.memory, self.device, self.float64 = memory, device, float64
        self.specs = [t for t in request["inputs"] if not t.get("state")]
        self.arguments = [self.load(t) for t in self.specs]
        self.versions = [t._version for t in self.arguments]
        self.state = {t["state"]: self.load(t) for t in request["inputs"] if t.get("state")}

    def load(self, spec):
        tensor = self.memory.load(spec, self.device)
        return widened(tensor) if self.float64 else tensor

    def replace(self, arguments):
        self.arguments = arguments
        self.versions = [t._version for t in arguments]

    def restore(self):
        """Loads again what forward has changed in place."""
        for i, tensor in enumerate(self.arguments):
            if tensor._version != self.versions[i]:
                tensor.copy_(self.load(self.specs[i]))
                self.versions[i] = tensor._version

    def outputs(self, results):
        """What forward returned; if nothing, the arguments that it changes."""
        if results is None:
            return [t for s, t in zip(self.specs, self.arguments) if s.get("inout")]
        return as_list(results)


class Answers:
    """Keeps the last module that was built: in float64, and in its own dtypes with its alternatives."""

    def __init__(self, device):
        self.device = torch.device(device)
        self.key, self.problems, self.ways = None, {}, None
        self.state_key, self.state = None, None

    def kept(self, request, float64):
        fields = [request[name] for name in ("source", "axes", "scalars", "mode")]
        key = json.dumps(fields, sort_keys=True)
        if key != self.key:
            self.forget()
            self.key = key
        if float64 not in self.problems:
            names = request.get("scalar_names", [])
            self.problems[float64] = Problem(*fields, self.device, float64, names=names)
            if not float64:
                self.ways = Alternatives(self.problems[float64].model, self.device)
        return self.problems[float64]

    def forget(self):
        self.key, self.problems, self.ways = None, {}, None
        reset_compiler()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def run(self, problem, case):
        case.restore()
        problem.set_state(case.state)
        results = case.outputs(problem.run(problem.with_plain_values(case.arguments)))
        return [tensor.clone() for tensor in results]  # not a view of an argument

    def answer(self, request):
        precision.use_exact_products()
        memory = Memory()
        case = Case(request, memory, self.device, True)
        problem = self.kept(request, True)
        exact = self.run(problem, case)
        check_all(request["outputs"], exact, True)
        again = lambda: self.run(problem, case)
        scales = error_scales(again, exact, request["seed"], request["accumulate"])
        for expected, y, scale in zip(request["outputs"], exact, scales):
            memory.store(asked_part(expected, y), expected["offset"])
            if scale is not None:
                memory.store(asked_part(expected, scale), expected["magnitude_offset"])
        return {}

    def inputs(self, request):
        """Writes what get_inputs() computes for the inputs that the request names."""
        module = load_module(request["source"], request["axes"])
        if is_definition(module):
            built = tables.build(request["inputs"], request["axes"], request["seed"])
            values = [built[s["name"]].to(torch_dtype(s["dtype"])) for s in request["inputs"]]
        else:
            values = self.computed(module, request)
        memory = Memory()
        for spec, value in zip(request["inputs"], values):
            check(spec, value, False)
            memory.store(value, spec["offset"])
        return {}

    def computed(self, module, request):
        """What get_inputs() and the constructor give for the inputs of the request, in its order."""
        arguments, state = None, None
        values = []
        for spec in request["inputs"]:
            if spec.get("state"):
                state = state or self.drawn_state(module, request)
                values.append(state[spec["state"]])
            else:
                arguments = arguments or drawn_inputs(module, request)
                values.append(arguments[spec["index"]])
        return values

    def drawn_state(self, module, request):
        """The same for many launches, so it is kept."""
        fields = [request[name] for name in ("source", "axes", "static_seed")]
        mode = request.get("mode") or "train"
        key = json.dumps([fields, mode], sort_keys=True)
        if key != self.state_key:
            self.state = constructed_state(module, mode, request["static_seed"])
            self.state_key = key
        return self.state

    def mutant(self, request):
        """Writes the outputs of a wrong module, or those of the module in its own dtypes."""
        precision.use_exact_products()
        memory = Memory()
        case = Case(request, memory, self.device, False)
        problem = self.kept(request, False)
        results = mutants.outputs_of(request["mutant"], case, lambda: self.run(problem, case))
        if results is None:
            return {"applies": False}
        self.store(memory, request["outputs"], results)
        return {"applies": True}

    def store(self, memory, expected, results):
        check_all(expected, results, False)
        for spec, result in zip(expected, results):
            memory.store(result, spec["offset"])

    def case_in_own_dtypes(self, request, memory):
        """The case, and forward's arguments as (list, dict), for functions of self.ways."""
        precision.use_exact_products()
        precision.allow_fused_attention(True)
        case = Case(request, memory, self.device, False)
        problem = self.kept(request, False)
        problem.set_state(case.state)
        self.ways.take_state()
        return case, problem.rebuilt(problem.with_plain_values(case.arguments))

    def alternatives(self, request):
        self.case_in_own_dtypes(request, Memory())
        return {"names": self.ways.names()}

    def alternative(self, request):
        """Writes the outputs of the module as this alternative runs it. An error leaves the others as they are."""
        memory = Memory()
        case, (arguments, named) = self.case_in_own_dtypes(request, memory)
        try:
            with torch.no_grad():
                results = case.outputs(self.ways.function(request["name"])(*arguments, **named))
            self.store(memory, request["outputs"], results)
        except Exception as error:  # such as one of a compiler
            return {"error": error_text(error)}
        return {}

    def time(self, request):
        """The alternatives take turns. One that fails has an error and no times."""
        case, (arguments, named) = self.case_in_own_dtypes(request, Memory())
        takes = []
        with torch.no_grad():
            for name in request["names"]:
                function = self.ways.function(name)
                run = lambda function=function: function(*arguments, **named)
                takes.append(timing.sampler(run, case.restore, self.device))
            times, errors = timing.turns(takes, request["sampling"])
        return {"times_ns": times, "errors": [e and error_text(e) for e in errors]}


def drawn_inputs(module, request):
    """The tensors that get_inputs() computes."""
    torch.manual_seed(request["seed"] % LARGEST_SEED)
    with torch.no_grad(), precision.Plain():
        values = own_leaves(module, Draws(signed=request.get("signed", True)), module.Model.forward, 1)
    return [value for value in values if isinstance(value, torch.Tensor)]


def asked_part(spec, output):
    """The pieces of the output that the request names, one after the other."""
    pieces = spec.get("pieces")
    if not pieces:
        return output
    flat = output.reshape(-1)
    return torch.cat([flat[first : first + count] for first, count in pieces])


def check_all(expected, results, float64):
    if len(expected) != len(results):
        raise ValueError(
            f"forward() returns {len(results)} tensors, but the task has {len(expected)} outputs"
        )
    for spec, result in zip(expected, results):
        check(spec, result, float64)
