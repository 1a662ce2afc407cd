"""The sizes that a benchmark states for its problem, as the four sets of shapes of a task."""

import math
import time

from definition import spread
from shapes import TINY, ShapeSets, tiny_values
from sizes import TooLarge
from survey import Refused

SHAPES = 3  # search shapes
SLOW = 10  # seconds: where one size takes so long to look at, no larger ones are
FEW = 2  # tests and hidden benchmarks, of each set


class Cases:
    """`tests` and `benchmarks`: lists of {knob: value}, all with the same knobs."""

    def __init__(self, tests, benchmarks):
        self.tests, self.benchmarks = distinct(tests), distinct(benchmarks)
        if not self.benchmarks:
            self.tests, self.benchmarks = [], self.tests
        if not self.benchmarks:
            raise Refused("the problem states no sizes: it has neither tests nor benchmarks")

    def sizes(self):
        return list(self.benchmarks[0])


class CaseSets(ShapeSets):
    """Benchmarks are search shapes, and every third one is hidden. Small tests are tiny, others held out. Hidden
    shapes at odd sizes come from the largest search shape, as for a module without cases."""

    def __init__(self, module, cases, limits):
        self.module, self.flags, self.notes = module, [], []
        self.tests = self.running(cases.tests)
        chosen = self.choose(self.running(cases.benchmarks, must=True), limits)
        shown = [values for i, values in enumerate(chosen) if i % 3 != 2]
        self.searches = sorted(spread(shown, SHAPES), key=self.cost, reverse=True)
        self.search = self.searches[0]
        self.scaled = "scaled" in self.flags
        smallest = min([*self.tests, self.search], key=self.cost)
        self.look_around(tiny_values(module, smallest))
        self.tiny = self.tiny_set()
        small = sorted([v for v in self.tests if TINY.hold(module.survey(v))], key=self.cost)
        self.tiny += self.others(small[: FEW + len(self.tiny)], self.tiny)
        self.add_hidden([v for i, v in enumerate(chosen) if i % 3 == 2], limits)

    def cost(self, values):
        found = self.module.survey(values)
        return found.operations + found.elements

    def running(self, cases, must=False):
        """Those that run, completed with the file's other knobs; raises what the first one raised if none does."""
        values = [{**self.module.knobs, **case} for case in cases]
        looked = self.looked_at(values)
        good = [v for v in values if v in looked and self.module.runs(v)]
        if len(good) < len(looked) and good:
            self.notes.append(f"{len(looked) - len(good)} of its sizes do not run")
        if must and not good:
            raise self.module.survey(looked[0])
        return good

    def looked_at(self, values):
        """The sizes, the smallest first, until one takes too long."""
        looked = []
        for one in sorted(values, key=product):
            start = time.monotonic()
            self.module.survey(one)
            looked.append(one)
            if time.monotonic() - start > SLOW and len(looked) < len(values):
                self.notes.append(f"{len(values) - len(looked)} of its sizes take too long to look at")
                break
        return looked

    def choose(self, benchmarks, limits):
        """The benchmarks that fit the machine; else tests that do; else a smaller one."""
        fitting = [v for v in benchmarks if limits.hold(self.module.survey(v))]
        if fitting:
            if len(fitting) < len(benchmarks):
                self.notes.append(f"{len(benchmarks) - len(fitting)} of {len(benchmarks)} benchmarks are too large")
            return fitting
        self.flags.append("scaled")
        tests = [v for v in self.tests if limits.hold(self.module.survey(v)) and not TINY.hold(self.module.survey(v))]
        if tests:
            return sorted(tests, key=self.cost)[-SHAPES:]
        return [self.smaller(min(benchmarks, key=self.cost), limits)]

    def smaller(self, values, limits):
        for rank in (1, 2):
            try:
                return self.module.shrunk(limits, rank, values)
            except TooLarge as error:
                last = error
        raise last

    def others(self, values, taken):
        return spread([v for v in values if v not in taken], FEW)

    def add_hidden(self, benchmarks, limits):
        """Odd sizes, hidden benchmarks, and tests that are not tiny."""
        self.promotion, self.held_out = self.hidden()
        more = self.others(benchmarks, self.searches)
        tests = [v for v in self.tests if limits.hold(self.module.survey(v))]
        held = self.others(tests, [*self.searches, *self.tiny, *more])
        if self.promotion == [self.search] and (more or held):
            self.promotion, self.held_out = more or held, held or more
            return
        self.promotion = self.promotion + [v for v in more if v not in self.promotion]
        self.held_out = self.held_out + [v for v in held if v not in self.held_out]


def product(values):
    return math.prod(values.values())


def distinct(cases):
    return [case for i, case in enumerate(cases) if case not in cases[:i]]
