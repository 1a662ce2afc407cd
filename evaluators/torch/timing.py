"""Times one call: as the baseline's child does, with a cold L2 on GPUs."""

import time

import torch

OVERDRAFT = 4  # a slow model may take this many time budgets for the minimum number of samples
FLUSH_L2_SIZES = 3
UNKNOWN_L2_BYTES = 128 << 20


def cuda_sample(run, restore, device):
    properties = torch.cuda.get_device_properties(device)
    l2_bytes = getattr(properties, "L2_cache_size", 0) or UNKNOWN_L2_BYTES
    flush = torch.empty(FLUSH_L2_SIZES * l2_bytes, dtype=torch.uint8, device=device)
    start = torch.cuda.Event(enable_timing=True)
    stop = torch.cuda.Event(enable_timing=True)

    def take():
        restore()
        flush.zero_()  # also hides the time that Python needs to queue the first kernels
        start.record()
        run()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) * 1e6  # milliseconds to nanoseconds

    return take


def cpu_sample(run, restore):
    def take():
        restore()
        start = time.perf_counter_ns()
        run()
        return time.perf_counter_ns() - start

    return take


def samples(run, restore, device, sampling):
    """Times in nanoseconds. restore() runs before each call and is not timed."""
    cuda = device.type == "cuda"
    take = cuda_sample(run, restore, device) if cuda else cpu_sample(run, restore)
    for _ in range(sampling["warmup"]):
        take()
    times = []
    start = time.perf_counter_ns()
    while len(times) < sampling["max_samples"]:
        times.append(take())
        budget = sampling["budget_ns"]
        if len(times) < sampling["min_samples"]:
            budget *= OVERDRAFT
        if time.perf_counter_ns() - start >= budget:
            break
    return times
