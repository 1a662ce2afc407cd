"""Runs of a module on drawn inputs and weights, as Winnow will draw them."""

import contextlib

import torch

from drawing import Draws, draw, of_weights
from precision import Plain
from problem import Problem, construct, load_module
from structured import COMPUTED, constructed_state, own_leaves
from survey import state_of
from tensors import as_list, widened

SEEDS = (1, 2, 3)


class Trial:
    """A module at given sizes with generators: {name: generator} for inputs and state.

    An input without a generator is what get_inputs() gives.
    """

    def __init__(self, module, values, generators, device, scalars=()):
        self.scalars = list(scalars)
        self.module, self.values, self.generators = module, values, generators
        self.device = torch.device(device)
        self.found = module.survey(values)
        self.problems, self.kept_state = {}, (None, None)

    def problem(self, float64):
        if float64 not in self.problems:
            self.problems[float64] = self.build(float64)
        return self.problems[float64]

    def build(self, float64, **fields):
        source, mode = self.module.source, self.module.mode
        return Problem(source, self.module.settings(self.values), self.scalars, mode, self.device, float64, **fields)

    def arguments(self, seed):
        """forward's arguments in the module's own dtypes."""
        random = torch.Generator(self.device).manual_seed(seed)
        own, found = None, []
        for i, entry in enumerate(self.found.inputs):
            if not isinstance(entry, tuple):
                found.append(entry)
                continue
            name, dtype, shape, seen = entry
            generator = self.generators[name]
            if generator is not None:
                if seen and generator["kind"] == seen["kind"] == "index":
                    generator = seen  # its limit may follow from the sizes
                found.append(draw(generator, shape, dtype, random))
                continue
            own = own or self.own_inputs(seed)
            found.append(own[i])
        return found

    def own_inputs(self, seed):
        problem = self.problem(False)
        torch.manual_seed(seed)  # after the file, which may draw numbers of its own
        with torch.no_grad(), Plain():
            return own_leaves(problem.module, Draws(signed=True), problem.model.forward)

    def state(self, seed):
        if self.kept_state[0] != seed:
            random = torch.Generator(self.device).manual_seed(1000 + seed)
            state = {
                name: draw(self.generators[name], shape, dtype, random)
                for name, dtype, shape in self.found.state if self.generators[name] != COMPUTED
            }  # fmt: skip
            if len(state) < len(self.found.state):
                values, mode = self.module.settings(self.values), self.module.mode
                built = constructed_state(load_module(self.module.source, values), mode, seed)
                state.update({name: built[name].to(self.device) for name in self.module.drawn})
            self.kept_state = (seed, state)
        return self.kept_state[1]

    def run(self, float64, arguments, seed=0, problem=None, watch=None):
        """The outputs. `seed` draws the weights, `watch` is a mode."""
        problem = problem or self.problem(float64)
        problem.set_state(self.state(seed))
        moved = []
        for value in arguments:
            if isinstance(value, torch.Tensor):
                value = (widened(value) if float64 else value).to(self.device, copy=True)
            moved.append(value)
        with watch or contextlib.nullcontext():
            results = as_list(problem.run(moved))
        return [tensor.clone() for tensor in results]


def weight_generators(module, values):
    """{name: generator} of the state, from a build at these sizes."""
    with torch.no_grad(), Plain():
        code = load_module(module.source, module.settings(values))
        model = construct(code, [], module.mode, torch.device("cpu"))
    generators = {}
    for name, tensor in state_of(model, module.mode, module.drawn).items():
        if name in module.drawn:
            generators[name] = COMPUTED
        elif name.endswith("running_var"):
            generators[name] = {"kind": "uniform", "low": 0.5, "high": 2.0}
        else:
            generators[name] = of_weights(tensor)
    return generators


def shared_parameters(model):
    """[(name, other name)] of parameters that are one tensor."""
    first, pairs = {}, []
    for prefix, part in model.named_modules():
        for name, parameter in part._parameters.items():
            full = f"{prefix}.{name}" if prefix else name
            if parameter is not None and id(parameter) in first and full != first[id(parameter)]:
                pairs.append((first[id(parameter)], full))
            elif parameter is not None:
                first[id(parameter)] = full
    return pairs


def finite(outputs):
    return all(bool(torch.isfinite(t).all()) for t in outputs if t.is_floating_point())
