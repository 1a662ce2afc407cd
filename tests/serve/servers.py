"""Starts servers for tests: the real `winnow serve --judge`, or the one with a fake device."""
import os
import pathlib
import socket
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "python"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server process. start() after kill() begins a new process at the same address and store."""

    def __init__(self, *command, port=None, environment=None):
        self.port = port or free_port()
        self.command = [*map(str, command), "--bind", f"127.0.0.1:{self.port}"]
        self.environment = {**os.environ, **(environment or {})}
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, cwd=SOURCES, env=self.environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        if "serves at" not in self.process.stdout.readline():
            raise RuntimeError(self.process.communicate()[1])

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=60)
        return self.process.returncode


def kernel_saying(verdict, speedup, name=""):
    """A kernel file that the fake device judges as it says."""
    return (f'/*@winnow {{"launches": []}} @*/\n// verdict={verdict} speedup={speedup} name={name} .\n'
            "__global__ void k() {}\n")


def reply_with(kernel):
    return f"Here is the kernel:\n```cuda\n{kernel}```\n"
