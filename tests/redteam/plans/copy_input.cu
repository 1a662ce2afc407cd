/*@winnow
{ "scratch": { "s": { "dtype": "i32", "count": 1 } }, "launches": [ { "kernel": "touch", "grid":
    [1], "block": [1], "args": ["s"] }, { "copy": "y", "to": "z" } ] }
@*/
// Lets a copy of an input stand for the answer.
extern "C" __global__ void touch(int* s) {
  s[0] = 1;
}
