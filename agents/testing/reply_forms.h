// The forms in which models, chat templates and servers dress one kernel file up. A form is drawn
// by numbers, so that tests and a fuzz target draw from the same grammar.
#pragma once

#include <functional>
#include <string>

namespace winnow::agents {

inline const std::string kFormKernel =
    "/*@winnow\n{\n  \"launches\": [\n    { \"kernel\": \"f\", \"grid\": [\"ceil_div(n, 256)\"], "
    "\"block\": [256],\n      \"args\": [\"x\", \"n\"] }\n  ]\n}\n@*/\n"
    "extern \"C\" __global__ void f(float* x, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x; // a < b\n"
    "  if (i < n) {\n    x[i] = 1; // </think> is only a word\n  }\n}\n";

/// Draws a number below `n`.
using Draw = std::function<std::size_t(std::size_t n)>;

/// A whole reply around kFormKernel. Thoughts hold another kernel file, which is a draft.
std::string drawn_reply(const Draw& draw);

} // namespace winnow::agents
