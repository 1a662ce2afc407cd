"""The request "describe": all that task.toml needs, found by running a module."""

import ast
import re

import torch

import flags
import growth
import precision
from benchmarks import as_module
from cases import CaseSets
from drawing import ranged, signed, widest
from knobs import plain
from mutants import MULTIPLE, NORM_MULTIPLE, Study, any_chaotic, sound
from naming import name_everything
from scalars import init_numbers, ranges
from shapes import ShapeSets
from sizes import Limits, Module, TooLarge
from survey import Refused
from tensors import as_list, task_dtype
from structured import drawn_names
from ties import tie
from trial import SEEDS, Trial, finite, shared_parameters, weight_generators

SEARCH_OPERATIONS = {"cpu": 2e9, "cuda": 5e12}
STUDY_STEPS = 4000  # a recurrent network has tens of thousands; a study runs each a hundred times
STUDY_LIMITS = {
    "cpu": Limits(1e8, 2e6, None, STUDY_STEPS), "cuda": Limits(2e9, 4e7, None, STUDY_STEPS),
}  # fmt: skip
GAINS = (1, 2, 4)  # of matrices, where a deep network forgets its inputs
SAME = 1e-4
LARGER = 16
TITLE_CHARACTERS = 80


def describe(request, device):
    """The reply; "refused" says why a module cannot be a task."""
    precision.use_exact_products()
    device = request.get("device") or device
    try:
        return Description(request, device).reply()
    except Refused as error:
        return {"refused": str(error)}
    except (Exception, SystemExit) as error:
        text = str(error) or "no text"
        return {"refused": f"{type(error).__name__}: {text}"[:1500]}


class Description:
    def __init__(self, request, device):
        self.device, self.kind = device, torch.device(device).type
        self.flags = []
        self.problem = as_module(request)
        self.module = Module(self.problem.source, request.get("mode") or "train")
        if self.problem.cases:
            self.module.keep_only(self.problem.cases.sizes())
        tie(self.module)
        operations = request.get("operations") or SEARCH_OPERATIONS[self.kind]
        memory = request["memory_bytes"]
        self.sets = self.choose_shapes(Limits(operations, memory, memory))
        drawn = drawn_names(self.module, self.sets.base)
        if drawn:
            self.module.keep_drawn(drawn)
            self.sets = self.choose_shapes(Limits(operations, memory, memory))
        self.flags += self.sets.flags
        self.search = self.module.survey(self.sets.search)
        self.reduces = self.search.reduces
        self.generators = self.choose_generators()
        self.check_inputs_differ()
        self.check_purity()
        self.run_all_shapes()

    def choose_shapes(self, limits):
        if self.problem.cases:
            return CaseSets(self.module, self.problem.cases, limits)
        values = shrunk(self.module, limits)
        return ShapeSets(self.module, values, values != self.module.knobs)

    def choose_generators(self):
        """Signed inputs and drawn weights; the file's own inputs where those give NaN. Each launch
        draws the distribution of its inputs anew, except where that gives NaN."""
        found = {entry[0]: entry[3] for entry in self.search.tensor_inputs()}
        self.study_values = shrunk(self.module, STUDY_LIMITS[self.kind], self.sets.search)
        weights = weight_generators(self.module, self.sets.search)
        both_signs = {name: signed(g) for name, g in found.items()}
        inputs = self.with_ranges(both_signs, weights)
        if inputs is None:
            inputs = self.with_ranges(found, weights)
            self.flags.append("own inputs")
        if inputs is None:
            raise Refused("the output has NaN or infinite elements for normal and own inputs")
        computed = [name for name, generator in found.items() if generator is None]
        self.flags += [f"computed input: {name}" for name in computed]
        return {**inputs, **weights}

    def with_ranges(self, inputs, weights):
        """The inputs with ranges, or as they are; None where both give NaN."""
        varied = {name: ranged(g) for name, g in inputs.items()}
        extremes = {name: widest(g) for name, g in inputs.items()}
        if all(self.is_finite({**extremes, **weights}, seed) for seed in SEEDS):
            return varied
        return inputs if self.is_finite({**inputs, **weights}, SEEDS[0]) else None

    def trial(self, values, generators=None):
        return Trial(self.module, values, generators or self.generators, self.device)

    def is_finite(self, generators, seed):
        for values in (self.sets.base, self.study_values):
            trial = self.trial(values, generators)
            if not finite(trial.run(False, trial.arguments(seed))):
                return False
        return True

    def check_inputs_differ(self):
        """Refuses computed inputs that hold no random number where no other input does."""
        if None not in self.generators.values():
            return
        one, other = (self.trial(self.sets.base).arguments(seed) for seed in SEEDS[:2])
        if all(torch.equal(a, b) for a, b in zip(one, other) if isinstance(a, torch.Tensor)):
            raise Refused("get_inputs() computes the same inputs each time, so an answer could be kept")

    def check_purity(self):
        """Refuses random outputs, and tensors that neither inputs nor state hold."""
        trial = self.trial(self.sets.base)
        arguments = trial.arguments(SEEDS[0])
        first = trial.run(False, arguments)
        problem = trial.problem(False)
        problem.set_state(trial.state(0))
        moved = [a.to(self.device) if isinstance(a, torch.Tensor) else a for a in arguments]
        again = as_list(problem.run([m.clone() if isinstance(m, torch.Tensor) else m for m in moved], 5))
        if not same(first, again):
            raise Refused("the output is random: the same inputs give another one")
        rebuilt = trial.run(False, arguments, problem=trial.build(False, seed=77))
        if not same(first, rebuilt):
            raise Refused("the output depends on random tensors that the model draws when it is built")
        for one, other in shared_parameters(problem.model):
            self.flags.append(f"shared parameters: {one}, {other}")

    def run_all_shapes(self):
        """Runs each shape once; a hidden one that fails is dropped."""
        self.run_shape(self.sets.search)
        for shapes in (self.sets.searches, self.sets.tiny, self.sets.promotion, self.sets.held_out):
            for values in [v for v in shapes if v is not self.sets.search]:
                try:
                    self.run_shape(values)
                except (Refused, RuntimeError, ValueError, IndexError):
                    shapes.remove(values)
        self.sets.tiny = self.sets.tiny or [self.sets.search]
        self.sets.promotion = self.sets.promotion or [self.sets.search]
        self.sets.held_out = self.sets.held_out or [self.sets.search]
        if self.sets.promotion == [self.sets.search]:
            self.flags.append("one shape")

    def run_shape(self, values):
        trial = self.trial(values)
        outputs = trial.run(False, trial.arguments(SEEDS[0]))
        for (_, dtype, shape), tensor in zip(trial.found.outputs, outputs):
            if list(tensor.shape) != shape or tensor.dtype != dtype:
                raise Refused(f"the output is {list(tensor.shape)}, and {shape} was foreseen")
        if not finite(outputs):
            raise Refused(f"the output has NaN or infinite elements at {values}")

    def reply(self):
        accumulate, tolerance = self.precision()
        rows, study = self.sound_mutants(accumulate)
        self.flags += [f"passes: {row['name']}" for row in rows if row["passes"]]
        self.flags += self.idle(study)
        tolerance.update(
            multiple=MULTIPLE * study.factor, norm_multiple=NORM_MULTIPLE * study.factor, L=study.factor
        )
        scalars = ranges(init_numbers(self.module), self.works_with)
        named, names = name_everything(self.sets, self.generators, self.module, scalars)
        return {
            "refused": "", "title": self.problem.title or title(self.module.source), **named, "scalars": scalars,
            "operations": [self.search.operations], "bytes": [self.search.bytes()],
            "operations_text": self.operations(named, names),
            "tolerance": tolerance, "reproducible": not self.search.reduces,
            "mutants": rows, "flags": list(dict.fromkeys(self.flags)),
            "source": self.problem.source, "notes": self.problem.notes + self.sets.notes,
        }  # fmt: skip

    def operations(self, named, names):
        """An expression over the axes; None where the module shows none."""
        search = named["shapes"]["search"][0]
        shown = {knob: names.shown[knob] for knob in names.axes() if search[names.shown[knob]] > 0}
        others = [*self.sets.searches[1:], *self.sets.promotion, *self.sets.held_out]
        return growth.expression(self.module, self.sets.search, shown, others)

    def works_with(self, scalars):
        trial = Trial(self.module, self.sets.base, self.generators, self.device, scalars)
        try:
            return finite(trial.run(False, trial.arguments(SEEDS[0])))
        except (RuntimeError, ValueError):
            return False

    def precision(self):
        floating = [dtype for _, dtype, _ in self.search.outputs if dtype.is_floating_point]
        if not floating:
            return "f32", {"precision": "int", "accumulate": "int"}
        name = task_dtype(floating[0])
        accumulate = "f32" if self.search.steps <= 1 and name in ("f16", "bf16") else name
        return accumulate, {"precision": name, "accumulate": accumulate}

    def sound_mutants(self, accumulate):
        """As mutants(), at larger sizes where small ones are chaotic: a norm of two elements is."""
        rows, study = self.mutants(accumulate)
        if not sound(study):
            limits = STUDY_LIMITS[self.kind].times(LARGER)
            larger = shrunk(self.module, limits, self.sets.search)
            if larger != self.study_values:
                self.study_values = larger
                rows, study = self.mutants(accumulate)
        tiny = [v for v in self.sets.tiny if sound(Study(self.trial(v), accumulate))]
        self.sets.tiny = tiny or [self.study_values]
        return rows, study

    def mutants(self, accumulate):
        """Rows of mutants. Matrices are scaled up where the answer to other inputs passes."""
        plain = self.generators
        for gain in GAINS:
            self.generators = louder(plain, self.search.state, gain)
            study = Study(self.trial(self.study_values), accumulate)
            rows = study.rows()
            passing = {row["name"] for row in rows if row["passes"]}
            if not passing & {"other inputs", "batch mean"} or self.generators == plain and gain > 1:
                break
        if passing & {"other inputs", "batch mean"} and gain > 1:
            self.generators = plain
            study = Study(self.trial(self.study_values), accumulate)
            rows = study.rows()
        return rows, study

    def idle(self, study):
        found = flags.unchanging(study)
        found += flags.idle_steps(study.trial, self.trial(self.sets.search))
        if study.factor > 8:
            found.append("honest float32 is far from float64")
        if any_chaotic(study):
            found.append("ill-conditioned")
        try:
            found += flags.without_gradient(study.trial)
        except (RuntimeError, NotImplementedError):
            pass  # an operation in place, or one without a gradient
        return found


def shrunk(module, limits, start=None):
    """Sizes within the limits that keep the weights where that can be had."""
    try:
        return module.shrunk(limits, 1, start)
    except TooLarge:
        try:
            return module.shrunk(limits, 2, start)
        except TooLarge:
            if start is None:
                raise
            return start


def louder(generators, state, gain):
    matrices = {name for name, _, shape in state if len(shape) > 1}
    return {
        name: {**g, "std": g["std"] * gain} if name in matrices and g["kind"] == "normal" else g
        for name, g in generators.items()
    }


def same(one, other):
    """Whether outputs agree but for the order of sums, which GPUs may choose anew."""
    for a, b in zip(one, other):
        a, b = a.double(), b.double()
        if a.shape != b.shape or float((a - b).pow(2).mean()) > SAME**2 * float(a.pow(2).mean()):
            return False
    return True


def title(source):
    """The first sentence of Model's text, in ASCII."""
    for node in ast.parse(plain(source)).body:
        if isinstance(node, ast.ClassDef) and node.name == "Model":
            text = " ".join((ast.get_docstring(node) or "").split())
            text = re.split(r"(?<=[a-z)])\. |\.$", text)[0]
            text = re.sub(r"^(A |Simple )?(simple )?model that (performs )?(an? )?", "", text, flags=re.I)
            text = text.encode("ascii", "ignore").decode()[:TITLE_CHARACTERS].strip()
            return text[:1].upper() + text[1:] if text else "Module"
    return "Module"
