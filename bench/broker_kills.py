#!/usr/bin/env python3
"""Kills the broker, the coordinator and workers at random moments: broker_kills.py [OPTIONS] BUILD_FOLDER.

Three hosts, which are network namespaces that a bridge joins: the broker (nats-server), the coordinator (`winnow run` and
`winnow resume` with a store, and the model), and the workers (the program simulated_workers: real workers whose judging is
sleeping). The model is a fake server of chat completions, whose requests are counted. Runs follow one another in one store
until all kills are done; the last run ends in peace. After each kill, and at the end, the store is checked:
  - no candidate has two evaluations; in a finished run each candidate has one, and each call has one candidate;
  - no call is sent again after its reply was stored.
Needs root for `ip netns`, nats-server, and these targets: ninja -C BUILD_FOLDER winnow winnow_nats simulated_workers."""
import argparse
import collections
import http.server
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import time

PORT, MODEL_PORT = 4222, 8080
HOSTS = {"broker": "10.77.0.1", "coordinator": "10.77.0.2", "workers": "10.77.0.3"}
URL = f"nats://{HOSTS['broker']}:{PORT}"
WORKERS_OF_A_PROCESS = 4
SHARE = {"worker": 0.4, "coordinator": 0.35, "broker": 0.25}
AFTERMATH_S = 5  # what a kill has caused may begin so much later
LAST_RUN_S = 900  # for the last run to end in peace
CONFIG = """[run]
name = "{name}"
tasks = ["axpy"]
strategy = "one-plus-one"
chains = {workers}
parallel = {workers}
proposals = {proposals}
finalists = 0

[endpoint]
kind = "chat"
base_url = "http://127.0.0.1:{port}/v1"
model = "{name}"
max_output_tokens = 1000
"""
KERNEL = """/*@winnow
{ "launches": [ { "kernel": "axpy", "grid": ["ceil_div(n, 256)"], "block": [256],
                  "args": ["x", "y", "z", "alpha", "n"] } ] }
@*/
// kernel %s
extern "C" __global__ void axpy(const float* x, const float* y, float* z, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    z[i] = alpha * x[i] + y[i];
  }
}
"""


def model_server(log_path):
    """Answers each call with a kernel of its own, after 50 to 300 ms. A line of the log: RUN KEY."""
    log = open(log_path, "a", buffering=1)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            name = f"{asked['model']} {asked['user']}"
            log.write(name + "\n")
            time.sleep(random.uniform(0.05, 0.3))
            text = f"```cuda\n{KERNEL % name}```\n"
            usage = {"prompt_tokens": 100, "completion_tokens": 100, "total_tokens": 200}
            head = {"id": name, "created": 0, "model": asked["model"]}
            if asked.get("stream"):
                parts = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]},
                         {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}]
                body = "".join(f"data: {json.dumps(head | part | {'object': 'chat.completion.chunk'})}\n\n"
                               for part in parts) + "data: [DONE]\n\n"
            else:
                message = {"role": "assistant", "content": text}
                body = json.dumps(head | {"object": "chat.completion", "usage": usage, "choices": [
                    {"index": 0, "message": message, "finish_reason": "stop"}]})
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if asked.get("stream") else "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        # With less room for new connections, the system delivers a killed coordinator's last requests seconds later,
        # when the next coordinator's reply to the same call may be stored: they would count as paid twice.
        request_queue_size = 1024

    server = Server(("127.0.0.1", MODEL_PORT), Handler)
    server.handle_error = lambda *_: None  # the coordinator was killed
    server.serve_forever()


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Network:
    """The three hosts. Every namespace is removed at the end."""

    def __init__(self):
        self.names = {host: f"winnow-{host}" for host in [*HOSTS, "bridge"]}

    def __enter__(self):
        self.remove()
        for name in self.names.values():
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        bridge = self.names["bridge"]
        ip("-n", bridge, "link", "add", "joint", "type", "bridge")
        ip("-n", bridge, "link", "set", "joint", "up")
        for host, address in HOSTS.items():
            name = self.names[host]
            ip("-n", bridge, "link", "add", f"to-{host}", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("-n", bridge, "link", "set", f"to-{host}", "master", "joint", "up")
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        for name in self.names.values():
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)

    def start(self, host, command, log, **more):
        """The process is the command itself: `ip netns exec` becomes the command."""
        return subprocess.Popen(["ip", "netns", "exec", self.names[host], *map(str, command)],
                                stdout=open(log, "a"), stderr=subprocess.STDOUT, **more)


class Store:
    """What the coordinator has stored."""

    def __init__(self, path):
        self.path = path

    def rows(self, sql, *values):
        if not self.path.exists():
            return []
        try:
            with sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=20) as database:
                return database.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []  # the coordinator has only begun
            raise

    def has_run(self, name):
        return bool(self.rows("SELECT 1 FROM runs WHERE name = ?", name))

    def evaluations(self):
        return sum(row[0] for row in self.rows("SELECT count(*) FROM evaluations"))

    def doubled(self):
        """Candidates with more than one evaluation."""
        return {row[0] for row in self.rows("SELECT candidate_id FROM evaluations GROUP BY 1 HAVING count(*) > 1")}

    def answered(self, name):
        """The calls with a stored reply."""
        return {row[0] for row in self.rows(
            "SELECT key FROM model_calls AS m JOIN runs AS r ON r.id = m.run_id WHERE r.name = ? AND reply IS NOT NULL", name)}

    def lost(self, name):
        """Of a finished run: candidates without an evaluation that counts, and calls without a candidate."""
        return self.rows(
            "SELECT c.id FROM candidates AS c JOIN runs AS r ON r.id = c.run_id WHERE r.name = ?1 AND (SELECT count(*) "
            "FROM evaluations AS e WHERE e.candidate_id = c.id AND e.ordinal = 0 AND e.superseded_by IS NULL) <> 1 "
            "UNION ALL SELECT m.id FROM model_calls AS m JOIN runs AS r ON r.id = m.run_id WHERE r.name = ?1 AND "
            "(SELECT count(*) FROM candidates AS c WHERE c.call_id = m.id) <> 1", name)

    def faults(self):
        return sum(row[0] for row in self.rows("SELECT count(*) FROM events WHERE kind = 'machine fault'"))


class Trial:
    def __init__(self, options, network, folder):
        self.options, self.network, self.folder = options, network, folder
        self.build = pathlib.Path(options.build).resolve()
        self.store = Store(folder / "store.db")
        self.random = random.Random(options.seed)
        self.run, self.finished = 1, []
        self.kills = collections.Counter()
        self.kill_times = []  # (time, kind)
        self.new_evaluations, self.new_doubled = collections.Counter(), collections.Counter()
        self.seen_evaluations, self.seen_doubled = 0, set()
        self.stored_at = {}  # call: length of the model's log when its reply was known to be stored
        self.bad_ends = collections.Counter()
        self.processes = {}
        self.folder_of_broker = folder / "broker"

    # ---- processes
    def prepare(self):
        names = [f"w{i}" for i in range(self.options.workers)]
        command = [self.build / "winnow", "broker", "init", "-o", self.folder_of_broker, "--listen", f"0.0.0.0:{PORT}"]
        for name in names:
            command += ["--worker", f"{name}@pool"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        self.slots = [names[i:i + WORKERS_OF_A_PROCESS] for i in range(0, len(names), WORKERS_OF_A_PROCESS)]
        self.processes["model"] = self.network.start(
            "coordinator", [sys.executable, __file__, "--model-log", self.folder / "model.log", "-"], self.folder / "model.out")
        self.start_broker()
        for slot in range(len(self.slots)):
            self.start_worker(slot)
        self.start_coordinator()

    def start_broker(self):
        self.processes["broker"] = self.network.start(
            "broker", ["nats-server", "-c", self.folder_of_broker / "nats.conf"], self.folder / "broker.log")

    def start_worker(self, slot):
        command = [self.build / "simulated_workers", "--broker", URL, "--job-ms", self.options.job_ms,
                   "--log", self.folder / f"jobs{slot}.log"]
        for name in self.slots[slot]:
            command += ["--credentials", self.folder_of_broker / f"{name}.credentials"]
        self.processes[f"worker {slot}"] = self.network.start("workers", command, self.folder / "workers.log")

    def name(self):
        return f"kills{self.run}"

    def start_coordinator(self):
        common = ["--store", self.folder / "store.db", "--broker", URL, "--pool", "pool",
                  "--broker-credentials", self.folder_of_broker / "coordinator.credentials"]
        if self.store.has_run(self.name()):
            command = [self.build / "winnow", "resume", self.name(), *common]
        else:
            config = self.folder / f"{self.name()}.toml"
            config.write_text(CONFIG.format(name=self.name(), port=MODEL_PORT, workers=self.options.workers,
                                            proposals=self.options.proposals))
            command = [self.build / "winnow", "run", config, *common]
        self.processes["coordinator"] = self.network.start("coordinator", command, self.folder / "coordinator.log")

    # ---- kills
    def kill(self, kind):
        slot = self.random.randrange(len(self.slots))
        process = self.processes[f"worker {slot}" if kind == "worker" else kind]
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.kills[kind] += 1
        self.kill_times.append((time.time(), kind))
        if kind == "worker":
            with open(self.folder / f"jobs{slot}.log", "a") as log:
                log.write(f"killed - {time.time():.3f}\n")
            self.start_worker(slot)
        elif kind == "broker":
            self.start_broker()
        else:
            self.note_stored_replies()  # nobody writes now
            self.start_coordinator()

    def note_stored_replies(self):
        length = len(self.requests())
        for key in self.store.answered(self.name()):
            self.stored_at.setdefault(f"{self.name()} {key}", length)

    def requests(self):
        path = self.folder / "model.log"
        return path.read_text().splitlines() if path.exists() else []

    def check(self, kind):
        evaluations, doubled = self.store.evaluations(), self.store.doubled()
        self.new_evaluations[kind] += evaluations - self.seen_evaluations
        self.new_doubled[kind] += len(doubled - self.seen_doubled)
        self.seen_evaluations, self.seen_doubled = evaluations, doubled

    def tend_coordinator(self, begins_next):
        """A coordinator that has ended by itself has finished its run, or could not begin."""
        process = self.processes["coordinator"]
        if process.poll() is None:
            return True
        if process.returncode == 0:
            self.note_stored_replies()
            self.finished.append(self.name())
            if not begins_next:
                return False
            self.run += 1
        else:
            self.bad_ends[process.returncode] += 1
            time.sleep(0.2)
        self.start_coordinator()
        return True

    def wait(self, seconds, begins_next=True):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not self.tend_coordinator(begins_next):
                return False
            time.sleep(min(0.1, max(until - time.monotonic(), 0)))
        return True

    def go(self):
        self.prepare()
        self.wait(5)
        for number in range(self.options.kills):
            kind = self.random.choices(list(SHARE), SHARE.values())[0]
            self.wait(self.random.uniform(self.options.least_gap, self.options.most_gap))
            self.kill(kind)
            self.wait(self.random.uniform(0, self.options.least_gap))
            self.check(kind)
            if (number + 1) % 50 == 0:
                print(f"{number + 1} kills, {self.seen_evaluations} evaluations, {len(self.finished)} runs finished", flush=True)
        in_peace = not self.wait(LAST_RUN_S, begins_next=False)
        self.check("peace")
        return in_peace

    # ---- account
    def jobs_begun_again(self):
        """By the kill that made a worker begin a job again."""
        begun = collections.defaultdict(list)  # job: (time, whether its worker was killed meanwhile)
        for slot in range(len(self.slots)):
            path = self.folder / f"jobs{slot}.log"
            open_jobs = {}
            for line in path.read_text().splitlines() if path.exists() else []:
                what, job, at = line.split()
                if what == "begun":
                    open_jobs[job] = entry = [float(at), False]
                    begun[job].append(entry)
                elif what == "done":
                    open_jobs.pop(job, None)
                else:
                    for entry in open_jobs.values():
                        entry[1] = True
                    open_jobs = {}
        causes = collections.Counter()
        for entries in begun.values():
            entries.sort()
            for before, after in zip(entries, entries[1:]):
                since = {kind for at, kind in self.kill_times if before[0] - AFTERMATH_S <= at <= after[0]}
                cause = "worker" if before[1] else next((kind for kind in ("broker", "coordinator") if kind in since), "none")
                causes[cause] += 1
        return len(begun), causes

    def paid_twice(self):
        return [request for number, request in enumerate(self.requests()) if self.stored_at.get(request, number + 1) <= number]

    def report(self, in_peace):
        jobs, again = self.jobs_begun_again()
        lost = [row for name in self.finished for row in self.store.lost(name)]
        requests, paid_twice = self.requests(), self.paid_twice()
        print("| killed | kills | jobs begun again | evaluations stored until the next kill | doubled |\n|---|---|---|---|---|")
        for kind in [*SHARE, "peace"]:
            print(f"| {kind} | {self.kills[kind]} | {again[kind]} | {self.new_evaluations[kind]} | {self.new_doubled[kind]} |")
        print(f"{sum(self.kills.values())} kills, {len(self.finished)} runs finished, the last one {'' if in_peace else 'NOT '}in peace; "
              f"{self.seen_evaluations} evaluations, lost {len(lost)}, doubled {len(self.seen_doubled)}; {jobs} jobs, "
              f"begun again without a kill {again['none']}; machine faults {self.store.faults()}; "
              f"{len(requests)} requests for {len(set(requests))} calls, paid twice {len(paid_twice)}; "
              f"ends of the coordinator by itself: {dict(self.bad_ends)}")
        return in_peace and not lost and not self.seen_doubled and not paid_twice

    def stop(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build folder")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--job-ms", type=int, default=1500, help="mean time of a simulated job")
    parser.add_argument("--proposals", type=int, default=640, help="calls of each run")
    parser.add_argument("--least-gap", type=float, default=0.2, help="seconds between kills")
    parser.add_argument("--most-gap", type=float, default=1.6)
    parser.add_argument("--folder", type=pathlib.Path, help="for store and logs; must not exist (default: /tmp/winnow-kills-SEED)")
    parser.add_argument("--model-log", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.model_log:
        return model_server(options.model_log)
    if os.geteuid() != 0:
        sys.exit("broker_kills.py: only root may make network namespaces; try sudo")
    folder = (options.folder or pathlib.Path(f"/tmp/winnow-kills-{options.seed}")).resolve()
    folder.mkdir()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("broker_kills.py: stopped"))  # all processes end
    begin = time.monotonic()
    with Network() as network:
        trial = Trial(options, network, folder)
        try:
            in_peace = trial.go()
            good = trial.report(in_peace)
        finally:
            trial.stop()
    print(f"seed {options.seed}, {time.monotonic() - begin:.0f} s, store and logs in {folder}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
