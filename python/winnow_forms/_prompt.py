"""A task as a prompt, from what the server tells of it (GET /v1/tasks/NAME). Hidden shapes are not in it."""

FORMAT = """\
Write one kernel file: CUDA C++ device code, and a launch plan as JSON in a comment. Winnow allocates the buffers, launches
the kernels in the order of the plan, and times them; there is no host code. Example, for z = alpha * x + y:

```cuda
/*@winnow
{
  "params": { "BLOCK": [256, 128, 512] },
  "launches": [
    { "kernel": "axpy", "grid": ["ceil_div(n, BLOCK)"], "block": ["BLOCK"], "args": ["x", "y", "z", "alpha", "n"] }
  ]
}
@*/
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
```

`params` are integers that Winnow may tune; the first value of each is the default. `grid`, `block`, `shared_bytes` and
arguments may be expressions over params, axes and integer scalars. `"scratch": {"partial": {"dtype": "f32", "count": "n"}}` is
a temporary buffer. Outputs and scratch are not zeroed: `{"fill": "z", "value": 0}` is a launch that does. The kernel is
checked at shapes that are not shown, on new inputs each time, and then timed beside the task's baseline."""


def prompt_of(task):
    lines = [f"# {task.get('title') or task['name']} (`{task['name']}`)", "", task.get("description", ""), "",
             "Tensors (row-major):", ""]
    for tensor in task.get("tensors", []):
        about = "; ".join(text for text in (tensor.get("description"), tensor.get("values")) if text)
        lines.append(f"- `{tensor['name']}`: {tensor['role']}, {tensor['dtype']}, [{', '.join(map(str, tensor['shape']))}]. {about}")
    lines += [""] + [f"- axis `{axis['name']}`: {axis.get('description', '')}" for axis in task.get("axes", [])]
    lines += [f"- scalar `{scalar['name']}`: {scalar['dtype']}. {scalar.get('description', '')}" for scalar in task.get("scalars", [])]
    shapes = [shape["shape"] for shape in task.get("shapes", []) if shape.get("shape_set") == "search"]
    lines += ["", "Timed at, among others: " + " | ".join(shapes), "", FORMAT, ""]
    return "\n".join(lines)
