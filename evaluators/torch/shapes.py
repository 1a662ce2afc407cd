"""The four sets of shapes of a module, and the names of all extents."""

import re

from sizes import Limits, TooLarge, prime_above, primes_below, stepped_below
from ties import is_unseen

LARGEST_HIDDEN = 1.2  # bytes of a hidden shape, of those of the search shape
TINY = Limits(3e6, 3e5)
C_WORDS = set(
    "e pi inf true false sizeof sm_count warp_size int long short char float double bool void if else "
    "for while do switch case default return break continue const static auto struct union enum "
    "class new delete this operator template typename namespace using public private protected "
    "virtual inline extern register volatile signed unsigned goto typedef asm and or not xor "
    "half in".split()
)


class ShapeSets:
    """The sets as lists of knob values; each was surveyed."""

    def __init__(self, module, search, scaled):
        self.module, self.search, self.scaled = module, search, scaled
        self.searches = [search]
        self.flags, self.notes = ["scaled"] if scaled else [], []
        self.look_around(tiny_values(module, search))
        self.tiny = self.tiny_set()
        self.promotion, self.held_out = self.hidden()

    def look_around(self, base):
        """Finds what each knob does at the smallest sizes."""
        module, self.base = self.module, base
        self.kinds = module.kinds(base)
        for name, kind in self.kinds.items():
            if kind == "free" and is_unseen(module, name, module.survey({})):
                self.kinds[name] = "dead"  # the module cannot know its value
        self.free = [name for name, kind in self.kinds.items() if kind == "free"]

    def tiny_set(self):
        odd = dict(self.base)
        for name in self.free:
            if odd[name] == self.base[name]:  # it may have moved with another one
                tries = [*primes_below(odd[name], 1), prime_above(odd[name])]
                odd = self.changed(odd, name, tries)
        shapes = [self.base]
        if odd != self.base and self.module.runs(odd):
            shapes.append(odd)
        return shapes

    def changed(self, values, name, tries):
        """The sizes with one knob at the first value that runs; as they are if none does."""
        for value in tries:
            trial = self.module.with_knob(values, name, value) if value >= 1 else None
            if trial:
                return trial
        return values

    def hidden(self):
        """Two sets: near the search shape, and around a quarter of it; at odd and prime sizes."""
        near = [self.moved(index, 1) for index in (0, 1)]
        quarter = [self.moved(index, 4) for index in (0, 1)]
        ones = [self.only_batch(index) for index in (0, 1)]
        sets = []
        for index in (0, 1):
            shapes = []
            for values in (near[index], quarter[index], ones[index]):
                if values and values not in [self.search, *self.tiny, *shapes]:
                    shapes.append(values)
            sets.append(shapes)
        if not sets[0] and not sets[1]:
            return [self.search], [self.search]
        return sets[0] or sets[1], sets[1] or sets[0]

    def moved(self, index, divisor):
        """The search shape with each free knob at a prime below; the first one divided, too."""
        values = dict(self.search)
        for position, name in enumerate(self.free):
            if values[name] != self.search[name]:
                continue  # it moved with another one
            size = values[name] // divisor if position == 0 else values[name]
            primes = primes_below(size + (divisor > 1), 3)
            tries = primes[index:] + primes[:index] + [size - 1 - 2 * index, size - 2]
            tries += [*stepped_below(size + (divisor > 1), 1 + index)[index :: 1 + index], size // 2]
            values = self.changed(values, name, tries)
        return values if self.fits(values) else None

    def only_batch(self, index):
        """Where one knob varies: it is 1, or a prime above."""
        if len(self.free) != 1:
            return None
        name = self.free[0]
        tries = [1, 2] if index else [prime_above(self.search[name])]
        values = self.changed(self.search, name, tries)
        return values if self.fits(values) else None

    def fits(self, values):
        found = self.module.survey(values)
        if isinstance(found, BaseException):
            return False
        return found.bytes() <= LARGEST_HIDDEN * self.module.survey(self.search).bytes() + 4096

    def all(self):
        return [*self.tiny, *self.searches, *self.promotion, *self.held_out]

    def observed(self):
        """Every survey that worked: extents must be named so that all of them agree."""
        names = list(self.module.all)
        every = [(dict(zip(names, key)), found) for key, found in self.module.seen.items()]
        return [
            (values, found)
            for values, found in every
            if not isinstance(found, BaseException) and not found.estimated and self.module.is_tied(values)
        ]


def tiny_values(module, search):
    """The smallest sizes that run: no more than TINY where that can be had."""
    for limits in (TINY, Limits(1e8, 1e7), Limits(1e10, 1e9)):
        try:
            return module.shrunk(limits, 2, search)
        except TooLarge:
            continue
    return search


def identifier(text, taken):
    """A C identifier that no other thing has."""
    name = re.sub(r"\W", "_", text) or "x"
    name = f"x{name}" if name[0].isdigit() else name
    while name in C_WORDS or name in taken:
        name += "_"
    taken.add(name)
    return name


class Extents:
    """Names for the extents of tensors: a knob, an integer, or an axis of their own."""

    def __init__(self, observed, usable):
        self.observed, self.usable = observed, usable
        self.own = {}  # values in all surveys: name of the axis
        self.shown, self.used = {}, {}  # the axis of a knob, and the knobs that are extents

    def name(self, get, label, taken):
        """get(survey) is the extent; label the name of an axis for it."""
        series = tuple(get(found) for _, found in self.observed)
        for knob in self.usable:
            if self.is_series(knob, series):
                self.used[knob] = True
                return self.shown.get(knob, knob)
        if len(set(series)) == 1:
            return series[0]
        if series not in self.own:
            self.own[series] = (identifier(label, taken), get)
        return self.own[series][0]

    def is_series(self, knob, series):
        return all(values[knob] == extent for (values, _), extent in zip(self.observed, series))

    def is_knob(self, knob, index, dim):
        """Whether the knob is this extent of the input."""
        return self.is_series(knob, [found.inputs[index][2][dim] for _, found in self.observed])

    def axes_of(self, found):
        """{axis: value} of the axes that are no knobs, at the sizes of a survey."""
        return {name: get(found) for name, get in self.own.values()}
