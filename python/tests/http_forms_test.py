"""Forms with a server, asked as the trainers ask: their fields, order, retries and errors, as read in their sources."""
import contextlib
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

from fake_judge import saying
from forms_fixture import PYTHON, FormTest

from winnow_client import Client
from winnow_forms import _http, kernelgym, miles, openrlhf, slime
from winnow_forms._core import Judge, Refused, Stop

PROMPT = "<|im_start|>user\nImprove this kernel:\n" + saying(speedup=9) + "<|im_end|>\n<|im_start|>assistant\n"


class OpenRlhf(FormTest):
    def fetch(self, url, query, prompt=PROMPT, label="axpy", tries=5):
        """As _post_request: lists of one; a status other than 2xx is tried again, five times in all."""
        for _ in range(tries):
            status, answer, _ = self.ask(url, {"query": [query], "prompts": [prompt], "labels": [label]})
            if status == 200:
                return answer
        return status

    def test_a_query_is_its_prompt_and_the_reply(self):
        url = self.serve(openrlhf)
        answer = self.fetch(url + "/", PROMPT + saying(speedup=2))
        self.assertEqual((answer["rewards"], answer["scores"]), ([2.3], [1.0]))
        self.assertEqual((answer["extra_logs"]["speedup"], answer["extra_logs"]["fault"]), ([2.0], [0.0]))
        self.assertEqual(self.judge.items[0]["reply"], saying(speedup=2))
        status, answer, _ = self.ask(url, {"query": [PROMPT + "no", PROMPT + saying()], "prompts": [PROMPT] * 2, "labels": ["axpy"] * 2})
        self.assertEqual((status, answer["rewards"]), (200, [0, 2.3]))

    def test_a_query_that_does_not_begin_with_its_prompt_is_refused(self):
        url, said = self.serve(openrlhf), "I do not know."
        without_tokens = PROMPT.replace("<|im_start|>", "").replace("<|im_end|>", "")
        for query in (without_tokens + said, PROMPT[20:] + said, " ".join(PROMPT.split(" ")[1:]) + said, "<bos>" + PROMPT + said,
                      PROMPT.replace("\n", " ") + said, "\n" + PROMPT + said, said, ""):
            self.assertEqual(self.fetch(url + "/", query, tries=1), 422, query)
        self.assertEqual(self.judge.items, [])
        self.assertEqual(self.fetch(url + "/", PROMPT + PROMPT + said)["scores"], [1.0])  # the model wrote the prompt once more
        for body in ({"query": []}, {"query": ["x"], "prompts": []}, {"query": "x", "prompts": "x"}, [], None,
                     {"query": [None], "prompts": [None]}, {"query": [saying()], "prompts": [""], "labels": ["axpy"]},
                     {"query": ["x"], "prompts": ["x"], "labels": ["axpy", "axpy"]}):
            self.assertEqual(self.ask(url + "/", body, "POST")[0], 422, body)

    def test_several_urls_share_a_query(self):
        """OpenRLHF gives each URL its share of one query: the others get empty lists."""
        self.assertEqual(self.ask(self.serve(openrlhf) + "/", {"query": [], "prompts": [], "labels": []})[:2],
                         (200, {"rewards": [], "scores": [], "extra_logs": {}}))

    def test_a_fault_is_no_answer(self):
        self.judge.faults = 10 ** 6
        url = self.serve(openrlhf, wait_s=0.1)
        status, answer, headers = self.ask(url + "/", {"query": [PROMPT + saying()], "prompts": [PROMPT], "labels": ["axpy"]})
        self.assertEqual((status, headers["Retry-After"]), (503, "1"))
        self.assertIn("the device was lost", answer["error"])
        self.judge.faults = 0
        self.assertEqual(self.fetch(url + "/", PROMPT + saying())["rewards"], [2.3])
        self.judge.faults = 10 ** 6
        self.assertEqual(self.fetch(self.serve(openrlhf, wait_s=0.1, fault="-1"), PROMPT + saying())["rewards"], [-1])

    def test_in_the_trainers_process(self):
        answer = openrlhf.reward_func([PROMPT + saying()], [PROMPT], ["axpy"])
        self.assertAlmostEqual(float(answer["rewards"][0]), 2.3, places=5)
        with self.assertRaisesRegex(Refused, "does not begin with its prompt"):
            openrlhf.reward_func(["I do not know."], [PROMPT], ["axpy"])


class Sample:
    def __init__(self, response, label=None, metadata=None):
        self.prompt, self.response, self.label, self.metadata = "p", response, label, metadata or {}


class Arguments:
    reward_key = None


class Slime(FormTest):
    def remote_rm(self, url, response, tries=10):
        """As remote_rm: one sample; the JSON of the answer is the reward."""
        for _ in range(tries):
            status, answer, _ = self.ask(url, {"prompt": [{"role": "user", "content": "p"}], "response": response, "label": "axpy"})
            if status == 200:
                return answer
        raise RuntimeError(f"HTTP {status}")

    def test_a_number_or_an_object(self):
        url = self.serve(slime)
        self.assertEqual(self.remote_rm(url + "/", saying()), 2.3)
        answer = self.remote_rm(url + "/?object=1&reward=tiers", saying(speedup=4, promoted=0))
        self.assertEqual((answer["reward"], answer["speedup"]), (4.3, 1.0))  # the fake judge's reward
        self.assertEqual(self.judge.requests[-1]["reward"], "tiers")
        self.assertEqual(self.remote_rm(url + "/slime", None), 0)
        self.assertEqual(self.ask(url + "/?rewrd=log", {"response": "x", "label": "axpy"})[0], 422)

    def test_a_fault_is_tried_again(self):
        self.judge.faults = 10 ** 6
        url = self.serve(slime, wait_s=0.1)
        threading.Timer(0.5, lambda: setattr(self.judge, "faults", 0)).start()
        self.assertEqual(self.remote_rm(url + "/", saying(), tries=100), 2.3)

    def test_miles_tries_once_so_its_form_waits_longer(self):
        self.assertEqual((miles.HTTP_DEFAULTS["wait_s"], slime.HTTP_DEFAULTS["wait_s"]), (290, 110))
        url = self.serve(miles)
        self.judge.slow = True
        threading.Timer(0.5, lambda: setattr(self.judge, "slow", False)).start()
        self.assertEqual(self.remote_rm(url + "/?object=1", saying(), tries=1)["reward"], 2.3)

    def test_in_the_trainers_process(self):
        args = Arguments()
        self.assertEqual(self.run_async(slime.custom_rm(args, Sample(saying(), "axpy"))), 2.3)
        group = [Sample(saying(speedup=i), metadata={"task": "axpy"}) for i in range(3)]
        self.assertEqual(self.run_async(slime.custom_rm(args, group, evaluation=True)), [0.3, 1.3, 2.3])
        args.reward_key = "reward"
        self.assertEqual(self.run_async(slime.custom_rm(args, Sample(saying(), "axpy")))["reward"], 2.3)


class KernelGym(FormTest):
    def task(self, task_id, kernel, **more):
        """The payload of compute_batch_rewards."""
        return {"task_id": task_id, "reference_code": "class axpy: pass", "kernel_code": kernel, "backend": "triton",
                "num_correct_trials": 5, "num_perf_trials": 100, "timeout": 60, "priority": "normal", "entry_point": "axpy",
                "is_valid": None, "verbose_errors": True, "enable_profiling": True, "detect_decoy_kernel": True,
                "reference_backend": None, **more}

    def submit_and_poll(self, url, payload, seconds=5):
        self.assertEqual(self.ask(url + "/evaluate", payload)[:2], (200, {"task_id": payload["task_id"], "status": "pending"}))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status, data, _ = self.ask(f"{url}/status/{payload['task_id']}")
            if status == 200 and data["status"] in ("completed", "failed", "timeout", "cancelled"):
                return self.ask(f"{url}/results/{payload['task_id']}")[1] if data["status"] == "completed" else data
            time.sleep(0.02)
        return {"status": "timeout"}

    def test_polls_its_task(self):
        url = self.serve(kernelgym)
        result = self.submit_and_poll(url, self.task("parallel_task_000001_ab", saying(), priority="high"))
        self.assertEqual((result["status"], result["compiled"], result["correctness"], result["speedup"]), ("completed", True, True, 2))
        self.assertEqual((result["kernel_runtime"], result["reference_runtime"], result["error_code"]), (5, 10, None))
        self.assertEqual(self.judge.requests[-1]["priority"], 1)
        wrong = self.submit_and_poll(url, self.task("t/2", saying("wrong")))
        self.assertEqual((wrong["correctness"], wrong["error_code"], wrong["speedup"]), (False, "wrong", 0))
        self.assertEqual(self.ask(url + "/status/other")[0], 404)

    def test_is_healthy_in_the_word_of_the_trainer(self):
        """Dr. Kernel starts only with "healthy", and waits 10 s for it."""
        url = self.serve(kernelgym, wait_s=600)
        self.assertEqual(self.ask(url + "/health")[1]["status"], "healthy")
        self.judge.down, begin = True, time.monotonic()
        self.assertEqual(self.ask(url + "/health")[0], 503)
        self.assertLess(time.monotonic() - begin, 9)
        self.assertEqual(self.ask(self.serve(kernelgym, wait_s=0.1) + "/health")[0], 503)

    def test_a_kernel_file_is_a_kernel(self):
        self.submit_and_poll(self.serve(kernelgym), self.task("t", saying().replace("```cuda\n", "").replace("```\n", "")))
        self.assertEqual(self.judge.items[0]["reply"].count("```"), 2)

    def test_a_kernel_that_is_not_promoted_has_a_speedup_of_1_at_most(self):
        result = self.submit_and_poll(self.serve(kernelgym), self.task("t", saying(speedup=4.02, promoted=0)))
        self.assertEqual((result["speedup"], result["reference_runtime"]), (1, result["kernel_runtime"]))

    def test_covers_what_it_times(self):
        """As compute_coverage_reward and kernel_async.py compute it; samples without time_coverage are masked."""
        url = self.serve(kernelgym)
        result = self.submit_and_poll(url, self.task("t", saying()))
        self.assertEqual(result["custom_kernel_cuda_time_in_profiling_us"] / result["total_kernel_run_time_in_profiling_us"], 1)
        self.assertEqual(result["metadata"]["num_custom_kernels"] / result["metadata"]["num_total_kernels"], 1)
        self.assertEqual((result["time_coverage"], result["num_coverage"]), (1, 1))
        self.assertEqual(self.submit_and_poll(url, self.task("u", saying("wrong")))["time_coverage"], 0)

    def test_a_fault_is_no_result(self):
        self.judge.faults = 10 ** 6
        url = self.serve(kernelgym, wait_s=0.1)
        self.assertEqual(self.submit_and_poll(url, self.task("t", saying()), seconds=0.6)["status"], "timeout")
        tasks = [self.task("a", saying(speedup=3)), self.task("b", saying())]
        self.assertEqual(self.ask(url + "/evaluate/batch", {"batch_id": "b", "tasks": tasks})[0], 503)
        self.judge.faults = 0
        end = time.monotonic() + 5
        while self.ask(url + "/status/t")[1]["status"] != "completed" and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(self.ask(url + "/results/t")[1]["speedup"], 2)  # the poll asked again
        answer = self.ask(url + "/evaluate/batch", {"batch_id": "b", "tasks": tasks})[1]
        self.assertEqual((answer["batch_id"], answer["total_tasks"], answer["completed_tasks"], answer["failed_tasks"]), ("b", 2, 2, 0))
        self.assertEqual([r["speedup"] for r in answer["results"]], [3, 2])
        self.judge.faults = 10 ** 6
        stated = self.serve(kernelgym, wait_s=0.1, fault="-1")
        self.assertEqual(self.submit_and_poll(stated, self.task("v", saying()))["status"], "failed")

    def test_an_outage_at_the_first_use_of_a_task_loses_no_kernel(self):
        """The client sends again three times, and then makes a reward of 0 of what nobody took."""
        self.judge.down = True
        url = self.serve(kernelgym, wait_s=0.2)
        with unittest.mock.patch.object(kernelgym, "EVALUATIONS", kernelgym.Evaluations()):
            threading.Timer(1, lambda: setattr(self.judge, "down", False)).start()
            self.assertEqual(self.submit_and_poll(url, self.task("t", saying()))["speedup"], 2)
            self.judge.down = True
            self.assertEqual(self.ask(url + "/evaluate", self.task("u", saying(), entry_point="axpi"))[0], 200)  # nobody knows yet
            self.judge.down = False
            self.wait_for(lambda: self.ask(url + "/status/u")[0] == 422)
            self.assertEqual(self.ask(url + "/status/u")[0], 422)

    def test_an_error_that_passes_is_asked_again(self):
        url, judge, failures = self.serve(kernelgym), Judge(**self.options), [OSError("a thread"), ValueError("no JSON"), Stop("x")]
        real = judge.client.judge

        def fails(*arguments, **named):
            if failures:
                raise failures.pop()
            return real(*arguments, **named)

        with unittest.mock.patch.object(Client, "judge", side_effect=fails):
            self.assertEqual(self.submit_and_poll(url, self.task("t", saying()))["speedup"], 2)
        self.assertEqual(failures, [])

    def held(self, patience=5):
        """Bytes that the server of the newest form counts when it has settled."""
        end = time.monotonic() + patience
        while self.forms[-1].bodies and time.monotonic() < end:
            time.sleep(0.02)
        return self.forms[-1].bodies

    def test_a_text_that_waits_counts_until_it_has_a_result(self):
        self.judge.slow = True
        with unittest.mock.patch.object(kernelgym, "EVALUATIONS", kernelgym.Evaluations()) as evaluations:
            url = self.serve(kernelgym)
            for i in range(3):
                self.assertEqual(self.ask(url + "/evaluate", self.task(f"t{i}", "x" * (4 << 20)))[0], 200)
            kept = self.held(0.2)
            self.assertGreater(kept, 3 << 20)
            self.assertLess(kept, 4 << 20)  # cut as the client cuts it
            with unittest.mock.patch.object(kernelgym, "MAX_KEPT", kept + (1 << 20)):
                self.assertEqual(self.ask(url + "/evaluate", self.task("u", "x" * (4 << 20)))[0], 503)
            self.judge.slow = False
            self.assertEqual(self.held(), 0)
            self.assertEqual([one.text for one in evaluations.known.values()], [None] * 3)

    def test_a_text_that_the_judge_refuses_is_not_kept(self):
        with unittest.mock.patch.object(kernelgym, "EVALUATIONS", kernelgym.Evaluations()) as evaluations:
            url = self.serve(kernelgym)
            self.assertEqual(self.ask(url + "/evaluate", self.task("t", saying()))[0], 200)
            self.held()
            self.judge.down = 401  # a made-up token
            self.assertEqual(self.ask(url + "/evaluate", self.task("u", saying()), Authorization="Bearer made-up")[0], 200)
            self.assertEqual(self.held(), 0)
            self.assertEqual([one.text for one in evaluations.known.values()], [None] * 2)
            self.assertEqual(self.ask(url + "/status/u", Authorization="Bearer made-up")[0], 422)

    def test_a_text_about_which_nobody_asks_is_dropped(self):
        self.judge.faults = 10 ** 6
        with unittest.mock.patch.object(kernelgym, "EVALUATIONS", kernelgym.Evaluations()) as evaluations:
            url = self.serve(kernelgym, wait_s=0.1)
            for i in range(2):
                self.assertEqual(self.ask(url + "/evaluate", self.task(f"t{i}", saying()))[0], 200)
            self.wait_for(lambda: not any(one.asks for one in evaluations.known.values()))
            self.assertGreater(self.held(0.1), 0)
            with unittest.mock.patch.object(kernelgym, "KEEP_S", 0):
                self.judge.faults = 0
                self.assertEqual(self.ask(url + "/evaluate", self.task("u", saying()))[0], 200)
            self.assertEqual(self.held(), 0)
            self.assertEqual(len(evaluations.known), 1)

    def test_the_newest_of_one_task_id_counts(self):
        with unittest.mock.patch.object(kernelgym, "EVALUATIONS", kernelgym.Evaluations()):
            url = self.serve(kernelgym)
            for speedup in (2, 3):
                self.assertEqual(self.submit_and_poll(url, self.task("t", saying(speedup=speedup)))["speedup"], speedup)
            self.assertEqual(self.held(), 0)

    def test_refuses(self):
        url, task = self.serve(kernelgym), self.task("t", saying())
        self.assertEqual(self.ask(url + "/evaluate", {**task, "entry_point": "x" * 1000})[0], 422)
        for tasks in ([], [task, task], [task] * 101, ["text"], "text", None, [{**task, "task_id": ""}]):
            self.assertEqual(self.ask(url + "/evaluate/batch", {"tasks": tasks})[0], 422, tasks)
        self.assertEqual(self.ask(url + "/evaluate", self.task("t", saying(), entry_point="Model"))[0], 422)


class Server(FormTest):
    def test_lends_its_token_to_this_machine_only(self):
        url = self.serve(slime, token="own-token")
        body = {"response": saying(), "label": "axpy"}
        self.assertEqual(self.ask(url + "/", body)[0], 200)
        self.assertEqual(self.judge.tokens[-1], "Bearer own-token")
        self.assertEqual(self.ask(url + "/", body, Origin="http://evil.example")[0], 403)
        self.assertEqual(self.ask(url + "/", body, Host="evil.example")[0], 403)
        self.ask(url + "/", body, Authorization="Basic YW55OmdpdmVu")  # any:given
        self.assertEqual(self.judge.tokens[-1], "Bearer given")
        self.assertEqual(self.ask(url + "/?server=http://x", body)[0], 422)
        self.assertEqual(self.ask(url + "/nothing", body)[0], 404)
        self.assertEqual(self.ask(url + "/", method="GET")[0], 405)

    def test_lends_its_token_to_no_other_machine(self):
        url = self.serve(slime, bind=("0.0.0.0", 0), token="own-token").replace("0.0.0.0", "127.0.0.1")
        body = {"response": saying(), "label": "axpy"}
        for empty in ("", "Bearer", "Bearer ", "bearer  ", "Basic", "Basic Og==", "Basic !", "Basic YW55Og=="):
            self.assertEqual(self.ask(url + "/", body, Authorization=empty)[0], 401, empty)
        self.assertEqual(self.judge.tokens, [])
        self.assertEqual(self.ask(url + "/", body, Authorization="Bearer given")[0], 200)
        self.assertEqual(self.judge.tokens[-1], "Bearer given")

    def test_a_body_that_is_too_long_gets_an_answer(self):
        """Its sender still sends: without a reader the sender would see a broken connection, and try again for ever."""
        url = self.serve(slime)
        with unittest.mock.patch.object(_http, "MAX_BODY", 1 << 20):
            self.assertEqual(self.ask(url + "/", {"response": "x" * (8 << 20), "label": "axpy"})[0], 413)

    def test_a_stranger_gets_an_answer_before_a_body_is_read(self):
        port = self.serve_to_all()
        with socket.create_connection(("127.0.0.1", port), timeout=5) as stranger:
            stranger.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000000\r\n\r\n")
            self.assertIn(b" 401 ", stranger.recv(100))
        with socket.create_connection(("127.0.0.1", port), timeout=5) as stranger:
            with contextlib.suppress(OSError):
                for _ in range(3):
                    stranger.sendall(b"GET / HTTP/1.1\r\n" + b"x: " + b"y" * 60_000 + b"\r\n")
                self.assertNotIn(b" 200 ", stranger.recv(100))

    def test_silent_strangers_keep_no_friend_out(self):
        with unittest.mock.patch.multiple(_http, MAX_STRANGERS=4, STRANGER_S=1):
            port = self.serve_to_all()
            strangers = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(12)]
            body = {"response": saying(), "label": "axpy"}
            self.assertEqual(self.ask(f"http://127.0.0.1:{port}/", body, Authorization="Bearer own")[0], 200)
            begin = time.monotonic()
            for stranger in strangers:
                with stranger:
                    self.assertTrue(self.is_closed_while_it_drips(stranger))
            self.assertLess(time.monotonic() - begin, 8)

    def test_a_body_that_drips_ends(self):
        with unittest.mock.patch.multiple(_http, REQUEST_S=0.5):
            with socket.create_connection(("127.0.0.1", self.serve_to_all()), timeout=10) as friend:
                friend.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer own\r\nContent-Length: 60000\r\n\r\n")
                self.assertTrue(self.is_closed_while_it_drips(friend))

    def test_bodies_without_an_answer_have_a_bound(self):
        with unittest.mock.patch.multiple(_http, MAX_BODIES=1000):
            url = self.serve(slime)
            for _ in range(3):  # what is answered does not count
                self.assertEqual(self.ask(url + "/", {"response": saying(), "label": "axpy"})[0], 200)
            self.assertEqual(self.ask(url + "/", {"response": "x" * 1000, "label": "axpy"})[0], 503)

    def test_the_json_of_a_body_has_a_bound(self):
        url = self.serve(slime)
        for body in ([[]] * 600_000, [[[]]] * 300_000 + [{"a": 1, "b": 2}] * 200_000, {"response": "[" * 2000}):
            wanted = 200 if isinstance(body, dict) else 422
            self.assertEqual(self.ask(url + "/", {"label": "axpy", "response": "x", "more": body})[0], wanted)
        for levels, wanted in ((63, 200), (64, 422)):
            deep = 1
            for _ in range(levels):
                deep = [deep]
            self.assertEqual(self.ask(url + "/", {"label": "axpy", "response": "x", "more": deep})[0], wanted)

    def test_counts_values_as_the_judge_does(self):
        for text, values, objects in (('{"a": [1, 2], "b": {}}', 5, 2), ('["[[[{,,,", "\\"[,", "\\\\", "\\\\\\",["]', 4, 0), ('"["', 0, 0),
                                      ("1", 0, 0)):
            self.assertEqual(_http.checked_size(text.encode()), 40 * values + 200 * objects, text)
        for body in (b"[" + b"{}," * 10_000_000 + b"{}]", b"[" * 1000, b'"' * 10_000_000, b"]" * 10_000_000, b"," * 10_000_000):
            with self.assertRaises(_http.Answer):
                _http.checked_size(body)

    def test_values_count_with_their_body(self):
        with unittest.mock.patch.multiple(_http, MAX_BODIES=40_000):
            url = self.serve(slime)
            body = {"response": saying(), "label": "axpy", "more": [0] * 900}
            self.assertEqual(self.ask(url + "/", body)[0], 200)
            self.assertEqual(self.ask(url + "/", {**body, "more": [0] * 1200})[0], 503)

    def serve_to_all(self):
        return int(self.serve(slime, bind=("0.0.0.0", 0)).rpartition(":")[2])

    def is_closed_while_it_drips(self, connection):
        connection.settimeout(0.05)
        for _ in range(100):
            try:
                connection.sendall(b"x")
                return connection.recv(1000) == b"" or connection.recv(1000) == b""
            except socket.timeout:
                continue
            except OSError:
                return True
        return False

    def test_the_command_shows_no_token(self):
        for words in (["slime"], ["harbor", "/nowhere"]):
            server = self.judge.url.replace("//", "//any:secret@")
            done = subprocess.run([sys.executable, "-m", "winnow_forms", *words, "--server", server], cwd=PYTHON, text=True, timeout=20,
                                  capture_output=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("WINNOW_TOKEN", done.stderr)
            self.assertNotIn("secret", done.stderr)

    def test_the_command(self):
        run = lambda *words: subprocess.Popen([sys.executable, "-m", "winnow_forms", *words], cwd=PYTHON, text=True,
                                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with run("slime", "--server", self.judge.url, "--bind", "127.0.0.1:0", "--wait-s", "5") as process:
            url = process.stdout.readline().split()[-1]
            self.assertEqual(self.ask(url + "/", {"response": saying(), "label": "axpy"})[1], 2.3)
            process.terminate()
        self.judge.slow = True
        with run("kernelgym", "--server", self.judge.url, "--bind", "127.0.0.1:0", "--wait-s", "30") as process:
            url = process.stdout.readline().split()[-1]
            for i in range(3):
                self.ask(url + "/evaluate", {"task_id": f"t{i}", "kernel_code": saying(), "entry_point": "axpy"})
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(20), 130)
            self.assertLess(time.monotonic() - begin, 10)  # it does not wait for its threads
        for words, why in ((["slime", "--fault", "zero"], "fault is 'zero'"), (["slime", "--bind", "here"], "winnow_forms"), (["nobody"], "invalid choice")):
            process = run(*words)
            self.assertIn(why, process.communicate(timeout=20)[1])
            self.assertEqual(process.returncode, 2)

    def test_binds_to_ipv6(self):
        try:
            server = _http.server_for(slime, bind=("::1", 0), **self.options)
        except OSError as error:
            self.skipTest(f"no IPv6 here: {error}")
        self.forms.append(server)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.assertEqual(self.ask(server.url + "/", {"response": saying(), "label": "axpy"})[1], 2.3)

    def test_serves_many_at_once(self):
        self.judge.slow = True
        url, answers = self.serve(slime, wait_s=30), []
        ask = lambda i: answers.append(self.ask(url + "/", {"response": saying(speedup=i), "label": "axpy"})[1])
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(64)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + 20
        while len(self.judge.batches) < 64 and time.monotonic() < end:
            time.sleep(0.02)
        self.judge.slow = False
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answers), [0.3 + i for i in range(64)])


if __name__ == "__main__":
    unittest.main()
