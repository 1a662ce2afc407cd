"""Answers for a task whose reference is a PyTorch module: a child process inside a sandbox.

    python3 torch_child.py DEVICE      # cpu, cuda:0

File descriptor 3 is a memory file with the tensors. The first line of stdout is {"torch": version,
"device": name}, or {"missing": why}. Each line of stdin is a request and gets one line; README.md
lists the requests. An error in a module ends no child: {"error": "Type: text"}.
stdout is for these lines only: whatever else prints goes to stderr.
"""

import gc
import importlib.util
import json
import logging
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from errors import error_text

MEMORY_SHARE = 0.9
CONTEXT_BYTES = 600 << 20  # of CUDA, in each child


def limit_memory(children=1):
    """A module that asks for more than the machine has gets an error, and no process is killed.

    So many children share the machine."""
    import resource

    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = int(total * MEMORY_SHARE / children)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    except (OSError, ValueError):
        pass  # the sandbox has its own limit


def share_machine(children, device):
    """Takes one of so many parts of the cores and of the device's memory."""
    import torch

    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // children))
    if device.startswith("cuda"):
        total = torch.cuda.get_device_properties(device).total_memory
        part = max(total * MEMORY_SHARE / children - CONTEXT_BYTES, CONTEXT_BYTES)
        torch.cuda.set_per_process_memory_fraction(part / total, device)
    else:
        limit_memory(children)


def open_child(device):
    """Whoever answers requests, and the first line; (None, line) when something is missing."""
    try:
        import torch
    except (ImportError, OSError) as error:
        return None, {"missing": f"{sys.executable} cannot import torch: {error}"}
    if device.startswith("cuda") and not torch.cuda.is_available():
        return None, {"missing": f"torch {torch.__version__} cannot use a GPU here"}
    name = "cpu"
    if device.startswith("cuda"):
        name = torch.cuda.get_device_name(device)
    else:
        limit_memory()
    line = {"torch": torch.__version__, "device": name}
    if importlib.util.find_spec("torch._dynamo") is None:
        line["no_compile"] = f"torch {torch.__version__} has no torch.compile"
    return Child(device), line


class Child:
    def __init__(self, device):
        import answer
        import compat

        compat.add_missing()
        self.device = device
        self.answers = answer.Answers(device)

    def describe(self, request):
        import describe
        import torch

        self.answers.forget()
        share_machine(request.get("children") or 1, self.device)
        try:
            return describe.describe(request, self.device)
        finally:
            gc.collect()
            if self.device != "cpu":
                torch.cuda.empty_cache()  # other children share the GPU

    def definition(self, request):
        import definition_task

        self.answers.forget()
        return definition_task.describe(request, self.device)

    def handle(self, line):
        """The line that answers one request; it may say an error."""
        start = time.perf_counter()
        try:
            request = json.loads(line)
            known = {
                "answer": self.answers.answer,
                "mutant": self.answers.mutant,
                "alternatives": self.answers.alternatives,
                "alternative": self.answers.alternative,
                "time": self.answers.time,
                "inputs": self.answers.inputs,
                "describe": self.describe,
                "definition": self.definition,
            }
            if request["do"] not in known:
                raise ValueError(f"no request is named {request['do']}")
            reply = {"error": None, **known[request["do"]](request)}
            reply["seconds"] = time.perf_counter() - start
            return json.dumps(reply, allow_nan=False)
        except (Exception, SystemExit) as error:
            self.answers.forget()
            return json.dumps({"error": error_text(error)})

    def usable(self):
        """False after a GPU error that every later call would repeat."""
        import torch

        if self.device == "cpu":
            return True
        try:
            torch.cuda.synchronize(self.device)
            return True
        except Exception:
            return False


def take_protocol():
    """The streams of the protocol. Modules that read stdin or print get other ones."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing, end = os.pipe()
    os.close(end)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def main():
    requests, protocol = take_protocol()

    def say(text):
        protocol.write(text + "\n")
        protocol.flush()

    logging.disable()  # PyTorch logs each size that does not run
    child, first_line = open_child(sys.argv[1])
    say(json.dumps(first_line))
    if child is None:
        return
    for line in requests:
        say(child.handle(line))
        if not child.usable():
            sys.exit(1)


if __name__ == "__main__":
    main()
