"""How many operations a module does, as an expression over its axes.

Each operation of a module mostly is a product of sizes. Doubling one axis after the other shows its exponents.
Where an operation is no such product (borders of a convolution), the coefficients are fitted to several sizes.
"""

import itertools
import math
from fractions import Fraction

import torch

NEARLY = 0.1  # of an exponent, where borders count
EXACT = 1e-9
FAR = 2  # times the tolerance at the probes: there a border is a smaller part
TOLERANCE = 0.05  # of the fit at sizes that it has not seen
MOST_TERMS = 12
MOST_STEPS = 4000  # a recurrent network has tens of thousands, and takes seconds to count once
LEAST_SHARE = 1e-5  # of all operations: smaller terms are left out


def expression(module, search, names, others):
    """The text, or None where the module cannot be counted. `names`: {knob: axis}; `others`: more sizes."""
    start = module.survey(search)
    if start.estimated or start.steps > MOST_STEPS:
        return None
    growth = Growth(module, search, list(names), others)
    points = [values for values in [search, *growth.probes.values(), *others] if counted(module, values)]
    for terms in (growth.exact(), growth.fitted(points)):
        near = [values for values in points if values not in growth.probes.values()]
        if terms and fits(module, near, terms) and fits(module, points, terms, FAR * TOLERANCE):
            return text(strongest(terms, search), names)
    return None


def counted(module, values):
    found = module.survey(values)
    return not isinstance(found, BaseException) and not found.estimated


def units(found):
    """[(name, operations)] with what is written where nothing is computed."""
    return found.steps_of or [("written", found.operations)]


class Growth:
    def __init__(self, module, search, knobs, others):
        same_everywhere = {k: {search[k]} if all(v[k] == search[k] for v in others) else () for k in knobs}
        self.module, self.search = module, search
        self.start = module.survey(search)
        self.probes = {}  # knob: sizes with another value of it
        for knob in knobs:
            probe = self.probe(knob)
            if probe and not any(probe == other for other in self.probes.values()):
                self.probes[knob] = probe
        self.counts, self.probed = self.aligned()
        for knob in [k for k in self.probes if self.search[k] in same_everywhere[k] and not self.is_product(k)]:
            del self.probes[knob], self.probed[knob]  # a constant: a stride, the size of a kernel

    def is_product(self, knob):
        """Whether each step is in proportion to a power of the knob."""
        found = [self.exponents(step).get(knob, 0) for step in range(len(self.counts))]
        return all(e > -NEARLY and abs(e - round(e)) < NEARLY for e in found)

    def probe(self, knob):
        """Sizes where this knob is larger, or smaller; others may have to follow."""
        value = self.search[knob]
        larger = (2 * value, 3 * value) if self.start.is_fake else ()
        for other in (*larger, value // 2, value + 1, value - 1):
            if other < 1 or other == value:
                continue
            trial = self.module.with_knob(self.search, knob, other)
            if trial and counted(self.module, trial):
                return trial
        return None

    def aligned(self):
        """The operations at the search sizes and at the probes, step by step; by their names if steps differ."""
        all_units = [units(self.start), *(units(self.module.survey(v)) for v in self.probes.values())]
        names = [[name for name, _ in steps] for steps in all_units]
        if any(other != names[0] for other in names):
            kinds = sorted({name for part in names for name in part})
            all_units = [[(k, sum(c for n, c in steps if n == k)) for k in kinds] for steps in all_units]
        counts = [[count for _, count in steps] for steps in all_units]
        return counts[0], dict(zip(self.probes, counts[1:]))

    def exponents(self, step):
        """{knob: exponent} of a step; floats."""
        found = {}
        for knob, counts in self.probed.items():
            if self.counts[step] > 0 and counts[step] > 0:
                ratio = self.probes[knob][knob] / self.search[knob]
                found[knob] = math.log(counts[step] / self.counts[step]) / math.log(ratio)
        return found

    def exact(self):
        """{exponents: coefficient} where each step is a product of sizes; else None."""
        terms = {}
        for step, count in enumerate(self.counts):
            if count == 0 and not any(counts[step] for counts in self.probed.values()):
                continue
            found = self.exponents(step)
            if len(found) < len(self.probed) or any(abs(e - round(e)) > EXACT for e in found.values()):
                return None
            key = tuple(sorted((knob, round(e)) for knob, e in found.items() if round(e)))
            if any(e < 0 for _, e in key):
                return None
            share = Fraction(count) / math.prod(self.search[knob] ** e for knob, e in key)
            terms[key] = terms.get(key, 0) + share
        return terms

    def fitted(self, points):
        """Coefficients that fit the points best, none of them negative."""
        keys = sorted(self.candidates())[: 4 * MOST_TERMS]
        while keys:
            totals = [self.module.survey(values).operations for values in points]
            rows = [[value_of(key, values) / total for key in keys] for values, total in zip(points, totals)]
            matrix = torch.tensor(rows, dtype=torch.float64)
            scale = matrix.abs().amax(0).clamp(min=1e-300)
            ones = torch.ones(len(points), 1, dtype=torch.float64)
            solved = torch.linalg.lstsq(matrix / scale, ones, driver="gelsd").solution[:, 0] / scale
            kept = [key for key, c in zip(keys, solved.tolist()) if c > 0]
            if len(kept) == len(keys):
                return dict(zip(keys, solved.tolist()))
            keys = kept
        return None

    def candidates(self):
        keys = set()
        for step in range(len(self.counts)):
            choices = []
            for knob, e in self.exponents(step).items():
                near = {round(e)} if abs(e - round(e)) < NEARLY else {math.floor(e), math.ceil(e)}
                choices.append([(knob, p) for p in near if p >= 0])
            for chosen in itertools.islice(itertools.product(*choices), 16):
                keys.add(tuple(sorted((knob, p) for knob, p in chosen if p)))
        return keys


def value_of(key, values):
    return math.prod(values[knob] ** power for knob, power in key)


def total(terms, values):
    return float(sum(c * value_of(key, values) for key, c in terms.items()))


def fits(module, points, terms, tolerance=TOLERANCE):
    pairs = [(total(terms, values), module.survey(values).operations) for values in points]
    return all(abs(foreseen - counted_there) <= tolerance * counted_there for foreseen, counted_there in pairs)


def strongest(terms, search):
    """The terms that count, the largest first."""
    whole = total(terms, search)
    share = {key: c * value_of(key, search) / whole for key, c in terms.items()}
    keys = sorted(terms, key=lambda key: (-share[key], key))
    return {key: terms[key] for key in keys[:MOST_TERMS] if share[key] >= LEAST_SHARE}


def text(terms, names):
    """ "2 * batch * n * n + 5 * n" """
    parts = []
    for key, coefficient in terms.items():
        powers = dict(key)
        factors = [names[knob] for knob in names for _ in range(powers.get(knob, 0))]
        number = number_text(coefficient)
        parts.append(" * ".join([number, *factors] if number != "1" or not factors else factors))
    return " + ".join(parts)


def number_text(coefficient):
    if isinstance(coefficient, Fraction) and coefficient.denominator == 1:
        return str(coefficient.numerator)
    digits = max(0, 5 - math.floor(math.log10(float(coefficient))))
    return f"{float(coefficient):.{digits}f}".rstrip("0").rstrip(".") if digits else f"{float(coefficient):.0f}"
