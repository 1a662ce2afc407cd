"""Times one call: as the baseline's child does, with a cold L2 on GPUs."""

import time

import torch

OVERDRAFT = 4  # a slow model may take this many time budgets for the minimum number of samples
FLUSH_L2_SIZES = 3
UNKNOWN_L2_BYTES = 128 << 20
MOST_FLUSHES = 64  # 3.5 ms at the 2.8 TB/s of an H100


def cuda_sample(run, restore, device):
    """A sample is the time between two events, without the time that Python needs to queue kernels.

    The GPU is kept busy with flushes of its L2 until Python has queued all kernels. If the start
    event comes before that, there were too few flushes: their number doubles, and the sample is
    taken again. A sample with MOST_FLUSHES counts as it is. So it includes Python's time if run()
    waits for the GPU or queues kernels for longer than the GPU takes for the flushes.
    """
    properties = torch.cuda.get_device_properties(device)
    l2_bytes = getattr(properties, "L2_cache_size", 0) or UNKNOWN_L2_BYTES
    flush = torch.empty(FLUSH_L2_SIZES * l2_bytes, dtype=torch.uint8, device=device)
    start = torch.cuda.Event(enable_timing=True)
    stop = torch.cuda.Event(enable_timing=True)
    flushes = 1

    def take():
        nonlocal flushes
        while True:
            restore()
            for _ in range(flushes):
                flush.zero_()
            start.record()
            run()
            stop.record()
            waited_for_python = start.query()
            stop.synchronize()
            if not waited_for_python or flushes == MOST_FLUSHES:
                return start.elapsed_time(stop) * 1e6  # milliseconds to nanoseconds
            flushes *= 2

    return take


def cpu_sample(run, restore):
    def take():
        restore()
        start = time.perf_counter_ns()
        run()
        return time.perf_counter_ns() - start

    return take


def sampler(run, restore, device):
    """A function that takes one sample, in nanoseconds. restore() runs before and is not timed."""
    return cuda_sample(run, restore, device) if device.type == "cuda" else cpu_sample(run, restore)


def turns(takes, sampling):
    """Times of several calls, which take turns: one sample each in every round. The budget is that
    of one call. Returns the times of each, and the error that ended its turns, or None."""
    times, errors = [[] for _ in takes], [None for _ in takes]

    def take_turns(keep):
        for i, take in enumerate(takes):
            try:
                sample = None if errors[i] else take()
            except Exception as error:
                errors[i] = error
            else:
                times[i] += [sample] if keep and not errors[i] else []

    for _ in range(sampling["warmup"]):
        take_turns(False)
    start = time.perf_counter_ns()
    for rounds in range(1, sampling["max_samples"] + 1):
        take_turns(True)
        budget = sampling["budget_ns"] * len(takes)
        if rounds < sampling["min_samples"]:
            budget *= OVERDRAFT
        if time.perf_counter_ns() - start >= budget:
            break
    return [[] if error else taken for taken, error in zip(times, errors)], errors
