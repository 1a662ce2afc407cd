/*@winnow
{ "scratch": { "s": { "dtype": "i32", "count": 1 } }, "launches": [ { "kernel": "touch", "grid":
    [1], "block": [1], "args": ["s"] }, { "fill": "z", "value": 0 } ] }
@*/
// Lets a fill write the expected value of every element.
extern "C" __global__ void touch(int* s) {
  s[0] = 1;
}
