"""What KernelBench does per candidate, for the axpy baseline: torch.utils.cpp_extension.load_inline
with TORCH_CUDA_ARCH_LIST=9.0, five correctness trials, 100 timed ones. Prints seconds a candidate.
  python3 bench/load_inline_axpy.py [CANDIDATES=2]
"""
import os
import sys
import time

os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0"
import torch
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <torch/extension.h>
#include <cuda_runtime.h>
__global__ void axpy(const float* x, const float* y, float* z, int n, float alpha) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = alpha * x[i] + y[i] + NUMBER * 0.0f;
}
torch::Tensor axpy_cuda(torch::Tensor x, torch::Tensor y, double alpha) {
  auto z = torch::empty_like(x);
  int n = x.numel();
  axpy<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), z.data_ptr<float>(), n, alpha);
  return z;
}
"""
CPP = "torch::Tensor axpy_cuda(torch::Tensor x, torch::Tensor y, double alpha);"


def evaluate(number):
    start = time.perf_counter()
    module = load_inline(name=f"axpy_{os.getpid()}_{number}", cpp_sources=CPP,
                         cuda_sources=CUDA.replace("NUMBER", str(number)), functions=["axpy_cuda"])
    compiled = time.perf_counter()
    n = 50000017
    for seed in range(5):
        torch.manual_seed(seed)
        x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
        assert torch.allclose(module.axpy_cuda(x, y, 2.5), 2.5 * x + y, atol=1e-2, rtol=1e-2)
    for _ in range(100):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        module.axpy_cuda(x, y, 2.5)
        end.record()
        torch.cuda.synchronize()
    return compiled - start, time.perf_counter() - start


torch.randn(1, device="cuda")
for candidate in range(int(sys.argv[1]) if len(sys.argv) > 1 else 2):
    compile_seconds, seconds = evaluate(candidate)
    print(f"candidate {candidate}: {seconds:.1f} s, of which compiling {compile_seconds:.1f} s", flush=True)
