"""Names that a person would give to the literal sizes of a module file."""

import re

INVENTED = re.compile(r"(size|init)_\d+$")
BY_RANK = {
    1: ["n"],
    2: ["batch", "features"],
    3: ["batch", "seq", "features"],
    4: ["batch", "channels", "height", "width"],
    5: ["batch", "channels", "depth", "height", "width"],
}  # fmt: skip
PLAIN_MATRIX = ["rows", "cols"]  # of a module without weights
SIGNAL = ["batch", "channels", "length"]
ATTENTION = ["batch", "heads", "seq", "dim"]
ATTENDING = re.compile(r"^(q|k|v|query|key|value|queries|keys|values)(_|$)")


def person_names(invented, places, found, taken):
    """{knob: name}. `places`: {knob: [(index of the input, dimension)]}."""
    products = product_names(invented, places, found)
    names = {}
    for knob in invented:
        wanted = products.get(knob) or name_of_place(places[knob], found)
        names[knob] = numbered(wanted, taken)
    return names


def numbered(name, taken):
    """The name, or with the first number that makes it new."""
    fresh, number = name, 2
    while fresh in taken:
        fresh, number = f"{name}_{number}", number + 1
    taken.add(fresh)
    return fresh


def name_of_place(places, found):
    if not places:
        return "n"
    index, dim = places[0]
    if len({d for i, d in places if i == index}) > 1:
        return "n"  # square
    name, _, shape, _ = found.inputs[index]
    return dimension_names(name, len(shape), found)[dim]


def dimension_names(argument, rank, found):
    ranks = {len(shape) for _, _, shape in found.state}
    if rank == 2 and not found.state:
        return PLAIN_MATRIX
    if rank == 3 and 3 in ranks:
        return SIGNAL
    if rank == 4 and 4 not in ranks and (found.state or ATTENDING.match(argument)):
        return ATTENTION
    return BY_RANK.get(rank) or ["n"] * rank


def product_names(invented, places, found):
    """m, k and n where two matrices share the second size of one and the first of the other."""
    inputs = [i for i, entry in enumerate(found.inputs) if isinstance(entry, tuple) and len(entry[2]) in (2, 3)]
    for a, b in zip(inputs, inputs[1:]):
        rank = len(found.inputs[a][2])
        wanted = {(a, rank - 2): "m", (a, rank - 1): "k", (b, rank - 2): "k", (b, rank - 1): "n"}
        at = {place: knob for knob in invented for place in places[knob]}
        shared = at.get((a, rank - 1))
        if len(found.inputs[b][2]) == rank and shared and shared == at.get((b, rank - 2)):
            return {at[place]: name for place, name in reversed(wanted.items()) if place in at}
    return {}
