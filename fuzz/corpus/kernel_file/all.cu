/*@winnow
{
  "params":  { "B": [64, 128], "FAST": [false, true] },
  "where":   ["B * 2 <= 256"],
  "let":     { "parts": "ceil_div(cols, B)", "last": "parts - 1" },
  "scratch": { "a": { "dtype": "f32", "count": "rows * cols" }, "lock": { "dtype": "i32", "count": 1, "once": 0 } },
  "compile": { "fast_math": "FAST" },
  "launches": [
    { "fill": "a", "value": "-inf", "when": "parts > 1", "at": 1, "count": "cols" },
    { "copy": {"tensor": "x", "at": "8"}, "to": "a", "count": 4, "rows": 2, "from_stride": 8, "to_stride": 16 },
    { "repeat": "steps", "as": "t", "let": { "done": "t == steps - 1", "c": {"table": [64, -1, 128, 7], "by": "t"} }, "do": [
      { "kernel": "heat<{B}, {dtype:x}>", "grid": ["parts", "rows"], "block": ["B"], "shared_bytes": "4 * B", "cooperative": true,
        "args": [{"pick": ["x", "a", null], "by": "t == 0 ? 0 : 1"}, {"tensor": "y", "at": "t * cols"}, 3, "cols", {"float": "eps / 2"}] } ] }
  ]
}
@*/
template <int B, class T> __global__ void heat(const T* x, T* y, int rows, int cols, float eps) { "a string"; R"(raw)"; 1'000; }
