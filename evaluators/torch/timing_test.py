#!/usr/bin/env python3
"""Tests of timing.py without PyTorch: a GPU that exists only as two clocks."""

import sys
import unittest
from types import SimpleNamespace

sys.dont_write_bytecode = True
sys.modules["torch"] = torch = SimpleNamespace(uint8=None)

import timing  # noqa: E402: it imports torch

FLUSH_US = 50


class Gpu:
    """Its clock runs ahead of the host's clock by what is queued. All in microseconds."""

    def __init__(self):
        self.host_us = self.busy_until_us = 0
        self.flushes = 0

    def queue(self, host_us, gpu_us):
        self.host_us += host_us
        self.busy_until_us = max(self.busy_until_us, self.host_us) + gpu_us

    def empty(self, *_, **__):
        return SimpleNamespace(zero_=self.flush)

    def flush(self):
        self.flushes += 1
        self.queue(1, FLUSH_US)

    def cuda(self):
        gpu = self

        class Event:
            def __init__(self, enable_timing):
                assert enable_timing

            def record(self):
                gpu.queue(1, 0)
                self.us = gpu.busy_until_us

            def query(self):
                return self.us <= gpu.host_us

            def synchronize(self):
                gpu.host_us = max(gpu.host_us, self.us)

            def elapsed_time(self, stop):
                return (stop.us - self.us) / 1000

        return SimpleNamespace(
            Event=Event,
            get_device_properties=lambda device: SimpleNamespace(L2_cache_size=50 << 20),
        )


class TimingTest(unittest.TestCase):
    def times_us(self, gpu, run, samples=5):
        sampling = {"warmup": 0, "min_samples": samples, "max_samples": samples, "budget_ns": 10**9}
        torch.cuda, torch.empty = gpu.cuda(), gpu.empty
        take = timing.sampler(run, lambda: None, SimpleNamespace(type="cuda"))
        (times,), _ = timing.turns([take], sampling)
        return [ns / 1000 for ns in times]

    def test_the_time_that_python_needs_to_queue_kernels_does_not_count(self):
        gpu = Gpu()
        times = self.times_us(gpu, lambda: [gpu.queue(100, 4) for _ in range(10)])
        for us in times:
            self.assertAlmostEqual(us, 40)

    def test_a_module_that_queues_fast_needs_one_flush(self):
        gpu = Gpu()
        self.assertEqual(len(self.times_us(gpu, lambda: gpu.queue(10, 500))), 5)
        self.assertEqual(gpu.flushes, 5)

    def test_a_module_that_waits_for_the_gpu_gets_a_time(self):
        gpu = Gpu()

        def run():
            gpu.queue(10, 5)
            gpu.host_us = gpu.busy_until_us
            gpu.queue(10, 5)

        times = self.times_us(gpu, run)
        for us in times:
            self.assertAlmostEqual(us, 20)
        self.assertLess(gpu.flushes, 7 * timing.MOST_FLUSHES)


if __name__ == "__main__":
    unittest.main()
