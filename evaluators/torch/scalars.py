"""Numbers of the constructor that hidden shapes may vary."""

import inspect

from naming import identifier
from problem import load_module

FACTORS = (0.5, 1.5)


def init_numbers(module):
    """[(name, value)] if all of the constructor's arguments are floats, else []."""
    code = load_module(module.source, {})
    values = code.get_init_inputs()
    if not values or not all(type(value) is float for value in values):
        return []
    names = list(inspect.signature(code.Model.__init__).parameters)[1:]
    names += [f"scalar_{i}" for i in range(len(names), len(values))]
    return list(zip(names, values))


def ranges(numbers, works):
    """The task's scalars. One varies only if works(numbers) at both ends of its range."""
    taken, scalars = set(), []
    for i, (name, value) in enumerate(numbers):
        ends = sorted(value * factor for factor in FACTORS) if value else [-0.5, 0.5]
        values = [number for _, number in numbers]
        free = all(works([*values[:i], end, *values[i + 1 :]]) for end in ends)
        low, high = ends if free else (value, value)
        scalars.append(
            {"name": identifier(name, taken), "dtype": "f32", "value": value, "low": low, "high": high}
        )
    return scalars
