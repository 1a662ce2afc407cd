"""Names of axes and tensors of a described module, and its shapes in these names."""

from people import INVENTED, person_names
from shapes import C_WORDS, Extents, identifier
from tensors import task_dtype


class Names:
    """The axes: knobs under the names that people see, and extents of their own."""

    def __init__(self, sets, module, scalars):
        self.sets, self.module = sets, module
        usable = [name for name in module.knobs if name not in C_WORDS and self.is_usable(name)]
        self.extents = Extents(sets.observed(), usable)
        self.found = module.survey(sets.search)
        self.taken = set(usable) | set(C_WORDS) | {scalar["name"] for scalar in scalars}
        self.shown = self.names_of(usable)
        self.extents.shown = self.shown

    def is_usable(self, name):
        kind = self.sets.kinds.get(name, "fixed")
        return kind not in ("dead", "fixed") or self.varies(name)

    def varies(self, name):
        return any(values[name] != self.module.all[name] for values in self.sets.all())

    def names_of(self, usable):
        """{knob: name of the axis}; no name of an axis is another knob of the file."""
        invented = [name for name in usable if INVENTED.match(name)]
        arguments = {entry[0] for entry in self.found.tensor_inputs()}
        taken = self.taken | set(self.module.all) | arguments | {"out"}
        names = {**{name: name for name in usable}, **person_names(invented, self.places(invented), self.found, taken)}
        self.taken |= set(names.values())
        return names

    def places(self, knobs):
        """{knob: [(input, dimension)] whose extent it is}"""
        found = {}
        for knob in knobs:
            found[knob] = [
                (i, dim)
                for i, entry in enumerate(self.found.inputs) if isinstance(entry, tuple)
                for dim in range(len(entry[2])) if self.extents.is_knob(knob, i, dim)
            ]  # fmt: skip
        return found

    def axes(self):
        """The knobs that are axes: those of the module, and others that a tensor's shape shows or that vary."""
        of_module = [name for name in self.shown if name in self.module.of_module]
        varying = [name for name in self.shown if self.varies(name)]
        return list(dict.fromkeys([*of_module, *self.extents.used, *varying]))

    def knobs(self):
        """{knob of the file: axis} where the names differ."""
        axes = {name for name in self.axes() if all(values[name] > 0 for values in self.sets.all())}
        of_knob = {name: self.shown[name] for name in axes}
        of_knob.update({name: self.shown[to] for name, to in self.module.followers.items() if to in axes})
        return {name: axis for name, axis in of_knob.items() if name != axis}


def name_everything(sets, generators, module, scalars):
    """The parts "axes", "knobs", "tensors" and "shapes" of a description, and the Names."""
    names = Names(sets, module, scalars)
    search, extents, taken = names.found, names.extents, names.taken
    labels = label_tensors(search, taken)
    tensors = [
        *input_tensors(search, labels, generators, extents, taken),
        *state_tensors(search, labels, generators, extents, taken),
        *output_tensors(search, labels, extents, taken),
    ]
    axes = names.axes()

    def shape(values):
        own = extents.axes_of(module.survey(values))
        return {**{names.shown[name]: values[name] for name in axes}, **own}

    shapes = {
        "tiny": [shape(v) for v in sets.tiny], "search": [shape(v) for v in sets.searches],
        "promotion": [shape(v) for v in sets.promotion],
        "held_out": [shape(v) for v in sets.held_out],
    }  # fmt: skip
    return {"axes": axes_of(shapes), "knobs": names.knobs(), "tensors": tensors, "shapes": shapes}, names


def axes_of(shapes):
    search, hidden = shapes["search"][0], shapes["promotion"] + shapes["held_out"]
    return [
        {"name": name, "value": value, "fixed": all(other[name] == value for other in hidden)}
        for name, value in search.items()
    ]


def label_tensors(found, taken):
    """{(part, index): C identifier}."""
    labels = {}
    for i, entry in enumerate(found.inputs):
        if isinstance(entry, tuple):
            labels["inputs", i] = identifier(entry[0], taken)
    for i, (name, _, _) in enumerate(found.state):
        labels["state", i] = identifier(name.replace(".", "_"), taken)
    for i in range(len(found.outputs)):
        labels["outputs", i] = identifier(found.outputs[i][0], taken)
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
