/*@winnow
{
  "params":  { "T": [32, 64] },
  "let":     { "smem": {"const": "sizeof(Tile<{T}>)"}, "more": "smem * 2", "threads": {"const": "size(MMA{ {T} })"} },
  "scratch": { "p": { "dtype": "f32", "count": "rows * cols", "keep": true } },
  "tensor_maps": {
    "m": { "tensor": "p", "at": 8, "dtype": "bf16", "extents": [64, "rows", 2], "strides": [64, 512], "box": [16, 2, 1],
           "element_strides": [1, 2, 1], "swizzle": "32B", "interleave": "16B", "l2_promotion": "128B", "fill": "nan" },
    "x_map": { "tensor": "x", "extents": ["cols", "rows"], "box": ["T", 4] },
    "turn": { "pick": ["x", "p"], "by": "t % 2", "at": "t * 4", "extents": ["c", 2], "strides": ["cols"], "box": [4, 1] }
  },
  "prepare":  [ { "kernel": "pack<{T}>", "grid": ["rows"], "block": 32, "args": [{"tensor_map": "x_map"}, "w", "p", 1, 2, 0.5], "when": "cols > 1 << 30" },
                { "copy": "w", "to": "p" } ],
  "launches": [
    { "kernel": "use<{T}>", "grid": ["min(rows, resident_blocks)", 2], "block": ["threads"], "cluster": [2, "rows / 2"], "cooperative": true,
      "shared_bytes": "more", "args": [{"tensor_map": "m"}, "p", "y", "rows", "cols", "eps"] },
    { "repeat": "smem - 10", "as": "t", "let": {"c": {"table": [16, 32], "by": "t % 2"}}, "do": [
      { "kernel": "use<{T}>", "when": "more > 3 && t < 2", "grid": [2], "block": [32], "args": [{"tensor_map": "turn"}, "p", "y", "t", "threads", 0.5] } ] }
  ]
}
@*/
template <int T> __global__ void pack() {} template <int T> __global__ void use() {}
