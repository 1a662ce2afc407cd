"""Which knobs of a module may vary, and smaller sizes of it."""

import re

from knobs import knobs_of, own_names, parse
from survey import Refused, survey

BATCH = re.compile(r"batch|^N$|^B$|^n$|^bs$", re.I)
SPATIAL = re.compile(r"height|width|depth|length|seq|^[DHWLhwlM]$|dim[123]|size_\d|input_shape|rows|cols|^m$")
STRUCTURE = re.compile(r"kernel|stride|pad|dil|group|head|^max|^min|layers?$|axis|eps|seed", re.I)
LARGEST_TRIES = 30
PATIENCE = 16
PASSES = [(0, 8), (1, 16), (0, 2), (1, 2), (2, 2)]  # rank, least value


class TooLarge(Refused):
    """No smaller sizes fit."""


def rank(name):
    """Knobs that leave the weights alone come first; those of the structure are never shrunk."""
    if STRUCTURE.search(name):
        return 3
    return 0 if BATCH.search(name) else 1 if SPATIAL.search(name) else 2


class Limits:
    """`steps`: of the module's operations, each of which costs time in Python."""

    def __init__(self, operations, elements, size=None, steps=None):
        self.operations, self.elements = operations, elements
        self.size, self.steps = size, steps

    def times(self, factor):
        steps = self.steps and self.steps * factor
        return Limits(self.operations * factor, self.elements * factor, self.size, steps)

    def hold(self, found):
        fits = self.size is None or found.bytes() <= self.size
        fits = fits and (self.steps is None or found.steps <= self.steps)
        return fits and not found.estimated and found.operations <= self.operations and found.elements <= self.elements

    def bearable(self, found):
        """Not within the limits, but only slower: weights cannot always be shrunk."""
        return self.times(PATIENCE).hold(found)

    def excess(self, found):
        parts = [found.operations / self.operations, found.elements / self.elements]
        if self.size is not None:
            parts.append(found.bytes() / self.size)
        if self.steps is not None:
            parts.append(found.steps / self.steps)
        return max(parts)


class Module:
    """A source with a memory of the surveys that were made.

    `all`: every knob with the file's value; `knobs`: those that may get other values, without those that follow
    another one.
    """

    def __init__(self, source, mode):
        self.source, self.mode = source, mode
        self.all = knobs_of(source)
        self.of_module = own_names(parse(source)) & set(self.all)
        self.knobs, self.followers = dict(self.all), {}
        self.drawn = frozenset()  # state that the constructor draws
        self.seen = {}
        self.structure = None

    def keep_drawn(self, names):
        """State that stays as the constructor draws it."""
        self.drawn = frozenset(names)
        self.seen, self.structure = {}, None

    def keep_only(self, names):
        """All other knobs keep the file's value."""
        self.knobs = {name: value for name, value in self.knobs.items() if name in names}

    def drop(self, name):
        """The knob keeps the file's value."""
        self.knobs.pop(name, None)

    def follow(self, leader, others):
        for name in others:
            self.drop(name)
            self.followers[name] = leader

    def is_tied(self, values):
        """Whether all that follow do so, and what was dropped has the file's value."""
        return all(
            value == (values[self.followers[name]] if name in self.followers else self.all[name])
            for name, value in values.items() if name not in self.knobs
        )  # fmt: skip

    def settings(self, values):
        """The value of each knob of the file at these sizes."""
        full = {**self.all, **values}
        return {name: full[self.followers.get(name, name)] for name in full}

    def survey(self, values):
        """The survey at these sizes, or the exception that it ended with."""
        full = self.settings(values)
        key = tuple(full.values())
        if key not in self.seen:
            try:
                self.seen[key] = self.checked(survey(self.source, full, self.mode, self.drawn))
            except (Exception, SystemExit) as error:
                self.seen[key] = error
        return self.seen[key]

    def checked(self, found):
        """Sizes with other parameters or outputs are another task."""
        if not found.estimated:
            self.structure = self.structure or found.structure()
            if found.structure() != self.structure:
                raise ValueError("the module has other tensors at these sizes")
        return found

    def runs(self, values):
        return not isinstance(self.survey(values), BaseException)

    def with_knob(self, values, name, value):
        """The sizes with one knob changed, or with those of the same value, too: some sizes must
        agree. None if neither runs."""
        alone = {**values, name: value}
        if self.runs(alone):
            return alone
        same = {n: value for n, v in self.knobs.items() if v == self.knobs[name] and v > 2}
        together = {**values, **same}
        return together if len(same) > 1 and name in same and self.runs(together) else None

    def shrunk(self, limits, largest_rank, start=None):
        """Sizes within the limits: knobs are halved, in the order of their rank."""
        values = dict(start or self.knobs)
        found = self.survey(values)
        if isinstance(found, BaseException):
            raise found
        for allowed, floor in PASSES:
            if allowed <= largest_rank:
                values = self.halved(values, limits, allowed, floor)
        found = self.survey(values)
        if not limits.hold(found) and (largest_rank < 2 or not limits.bearable(found)):
            raise TooLarge(
                f"no smaller sizes fit: {found.operations:.3g} operations, {found.elements:.3g} "
                f"elements and {found.bytes()} bytes are left of {limits.operations:.3g}, "
                f"{limits.elements:.3g} and {limits.size or 'any'}"
            )
        return values

    def halved(self, values, limits, allowed, floor):
        """Halves the largest knob of this rank until all fits or nothing helps."""
        usable = {name for name in self.knobs if rank(name) == allowed}
        while not limits.hold(self.survey(values)):
            usable = {name for name in usable if values[name] // 2 >= floor}
            if not usable:
                break
            name = max(sorted(usable), key=values.get)
            trial = self.smaller(values, name, limits, floor)
            if trial is None:
                usable.remove(name)
            else:
                values = trial
        return values

    def smaller(self, values, name, limits, floor):
        excess = limits.excess(self.survey(values))
        for value in halves(values[name]):
            if value < floor:
                break
            trial = self.with_knob(values, name, value)
            if trial:
                return trial if limits.excess(self.survey(trial)) < 0.95 * excess else None
        return None

    def kinds(self, base):
        """{knob: kind} at small sizes. free: it changes tensors, but no weights and no argument of
        the constructor; weight: it changes weights; init: other arguments; dead: nothing; fixed:
        no other value runs."""
        start = self.survey(base)
        return {name: self.kind(name, base, start) for name in self.knobs}

    def kind(self, name, base, start):
        kind = "fixed"
        for value in other_values(base[name]):
            trial = self.with_knob(base, name, value)
            if trial is None:
                continue
            found = self.survey(trial)
            if shapes_of(found.state) != shapes_of(start.state):
                return "weight"
            if found.init != start.init:
                return "init"
            if found.inputs != start.inputs or found.outputs != start.outputs:
                return "free"
            kind = "dead"
        return kind


def shapes_of(entries):
    return [entry[2] for entry in entries]


def halves(value):
    found = []
    while value > 2 and len(found) < LARGEST_TRIES:
        value //= 2
        found.append(value)
    return found


def is_prime(number):
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))


def primes_below(value, count, least=2):
    """The largest primes below a value."""
    found, number = [], value - 1
    while number >= least and len(found) < count:
        if is_prime(number):
            found.append(number)
        number -= 1
    return found


def prime_above(value):
    number = value + 1
    while not is_prime(number):
        number += 1
    return number


def stepped_below(value, count):
    """Multiples of a power of two below a value, each of an odd number: for sizes that must be divisible."""
    found, step = [], 2
    while value % step == 0 and step * 2 <= value:
        found += [step * prime for prime in primes_below(value // step, count)]
        step *= 2
    return found


def other_values(value):
    tries = [prime_above(value), value + 1, value - 1, 2 * value, value // 2]
    return [v for v in dict.fromkeys(tries) if v >= 1 and v != value]
