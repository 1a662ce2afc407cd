"""Which literals of a module file are one size, because the module runs only if they agree.

A number that no tensor's shape depends on is no size: it keeps the file's value.
"""

MOST_TOGETHER = 12
SMALL = 4  # has no half above 1


def tie(module):
    """Leaves one knob for each size among the literals and the names of functions. `followers` has the others."""
    start = module.survey({})
    if isinstance(start, BaseException):
        return  # whoever asks for sizes next says why
    for name in [n for n in module.knobs if n not in module.of_module]:
        if is_no_size(module, name, start) or is_unseen(module, name, start):
            module.drop(name)
    for name in [n for n in module.knobs if n not in module.of_module]:
        if name in module.knobs:
            members = together(module, name, start)
            leader = min(members, key=lambda n: order(module, n))
            module.follow(leader, [m for m in members if m != leader and m not in module.of_module])


def order(module, name):
    """Names that people gave come first."""
    invented = name.startswith(("size_", "init_"))
    return (name not in module.of_module, invented, list(module.all).index(name))


def tensors_of(found):
    """What a kernel sees of the sizes: shapes, dtypes and bounds of indices."""
    return found.tensor_inputs(), found.state, found.outputs


def is_no_size(module, name, start):
    """A 1 or 2 among other sizes, as of a part that get_inputs() puts before the rest."""
    extents = {extent for entry in start.tensor_inputs() for extent in entry[2]}
    return name.startswith("size_") and module.all[name] < SMALL - 1 and module.all[name] not in extents


def is_unseen(module, name, start):
    """Whether another value runs and changes no tensor."""
    value = module.all[name]
    larger = (value + 1, 2 * value) if start.is_fake else ()
    for other in (value - 1, *larger):
        found = module.survey({name: other}) if other >= 0 else start
        if found is not start and not isinstance(found, BaseException):
            if tensors_of(found) == tensors_of(start):
                return True
    return False


def together(module, name, start):
    """The fewest knobs of this value that can be changed with this one; only itself if it can change alone."""
    same = [n for n, v in module.knobs.items() if v == module.all[name] and n != name][:MOST_TOGETHER]
    for group in groups(name, same, start):
        if runs(module, [name, *group], start):
            return smallest(module, name, group, start)
    return [name]


def groups(name, same, start):
    """Candidates, the likeliest first: literals of the same place in other tensors, then all."""
    yield []
    for one in same:
        yield [one]
    literals = [n for n in same if n.startswith("size_")]
    if literals and len(literals) < len(same):
        yield literals
    if len(literals) > 2:
        yield from thinned(literals)
    if len(same) > 1:
        yield same


def thinned(literals):
    """Every second and every third one: the first sizes of tensors of two or three sizes."""
    for step in (2, 3, 4):
        for first in range(step):
            yield literals[first::step]


def smallest(module, name, group, start):
    kept = list(group)
    for one in group:
        fewer = [n for n in kept if n != one]
        if runs(module, [name, *fewer], start):
            kept = fewer
    return [name, *kept]


def runs(module, names, start):
    """At another value above 1: a size of 1 would be broadcast."""
    value = module.all[names[0]]
    larger = (value + 1, 2 * value) if start.is_fake or value < SMALL else ()
    tries = [v for v in (*larger, value // 2, value - 1) if v > 1 and v != value]
    for other in tries:
        found = module.survey({name: other for name in names})
        if not isinstance(found, BaseException):
            return tensors_of(found) != tensors_of(start)
    return False
