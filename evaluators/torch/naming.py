"""Names of axes and tensors of a described module, and its shapes in these names."""

from shapes import C_WORDS, Extents, identifier
from tensors import task_dtype


def name_everything(sets, generators, module, scalars):
    """The parts "axes", "tensors" and "shapes" of a description."""
    usable = [
        name for name, kind in sets.kinds.items() if kind not in ("dead", "fixed") and name not in C_WORDS
    ]
    extents = Extents(sets.observed(), usable)
    taken = set(usable) | set(C_WORDS) | {scalar["name"] for scalar in scalars}
    search = module.survey(sets.search)
    labels = label_tensors(search, taken)
    tensors = [
        *input_tensors(search, labels, generators, extents, taken),
        *state_tensors(search, labels, generators, extents, taken),
        *output_tensors(search, labels, extents, taken),
    ]

    def shape(values):
        own = extents.axes_of(module.survey(values))
        return {**{name: values[name] for name in usable}, **own}

    shapes = {
        "tiny": [shape(v) for v in sets.tiny], "search": [shape(sets.search)],
        "promotion": [shape(v) for v in sets.promotion],
        "held_out": [shape(v) for v in sets.held_out],
    }  # fmt: skip
    hidden = shapes["promotion"] + shapes["held_out"]
    axes = [
        {"name": name, "value": value, "fixed": all(other[name] == value for other in hidden)}
        for name, value in shapes["search"][0].items()
    ]
    if len(hidden) == 2 and hidden[0] == hidden[1] == shapes["search"][0]:
        axes = [{**axis, "fixed": True} for axis in axes]
    return {"axes": axes, "tensors": tensors, "shapes": shapes}


def label_tensors(found, taken):
    """{(part, index): C identifier}."""
    labels = {}
    for i, entry in enumerate(found.inputs):
        if isinstance(entry, tuple):
            labels["inputs", i] = identifier(entry[0], taken)
    for i, (name, _, _) in enumerate(found.state):
        labels["state", i] = identifier(name.replace(".", "_"), taken)
    for i in range(len(found.outputs)):
        labels["outputs", i] = identifier("out" if len(found.outputs) == 1 else f"out_{i}", taken)
    return labels


def shape_names(part, index, found, label, extents, taken):
    names = []
    for dim in range(len(getattr(found, part)[index][2])):

        def get(survey, dim=dim):
            return getattr(survey, part)[index][2][dim]

        names.append(extents.name(get, f"{label}_{dim}", taken))
    return names


def tensor(part, index, found, labels, extents, taken, **fields):
    label = labels[part, index]
    return {
        "name": label, "role": "input", "dtype": task_dtype(getattr(found, part)[index][1]),
        "shape": shape_names(part, index, found, label, extents, taken), "state": "",
        "static": False, **fields,
    }  # fmt: skip


def input_tensors(found, labels, generators, extents, taken):
    tensors = []
    for i, entry in enumerate(found.inputs):
        if not isinstance(entry, tuple):
            continue
        generator = generators[entry[0]] or {"kind": "reference"}
        if generator["kind"] == "index":
            get = lambda survey, i=i: survey.inputs[i][3]["limit"]
            generator = {**generator, "limit": str(extents.name(get, f"{entry[0]}_limit", taken))}
        tensors.append(tensor("inputs", i, found, labels, extents, taken, generator=generator))
    return tensors


def state_tensors(found, labels, generators, extents, taken):
    return [
        tensor(
            "state", i, found, labels, extents, taken,
            state=name, static=True, generator=generators[name],
        )
        for i, (name, _, _) in enumerate(found.state)
    ]  # fmt: skip


def output_tensors(found, labels, extents, taken):
    return [
        tensor("outputs", i, found, labels, extents, taken, role="output")
        for i in range(len(found.outputs))
    ]
