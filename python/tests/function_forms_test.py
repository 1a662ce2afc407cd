"""Forms that are functions in the trainer's process, called as the trainers call them, as read in their sources."""
import asyncio
import functools
import importlib.util
import inspect
import sys
import unittest
import unittest.mock

from forms_fixture import FormTest, saying

from winnow_forms import trl, verl
from winnow_forms._core import Fault, Stop

LOST = 10 ** 6  # faults: all


def loaded_by_path(module):
    spec = importlib.util.spec_from_file_location("custom_module", module.__file__)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


class Verl(FormTest):
    def score(self, function, response, rate_limited=False, **reward_kwargs):
        """As run_single of naive.py and limited.py: keywords, in an executor, with the router's arguments."""
        wrapped = functools.partial(lambda raw, extra, **named: raw(**{**named, **extra}), function, reward_kwargs)

        async def run_single():
            named = {"data_source": "kernels", "solution_str": response, "ground_truth": "axpy",
                     "extra_info": {"num_turns": None, "rollout_reward_scores": {}}, "reward_router_address": "http://r",
                     "reward_model_tokenizer": object(), "an_argument_of_next_month": 1}
            try:
                if inspect.iscoroutinefunction(function):
                    result = await asyncio.wait_for(function(**named, **reward_kwargs), 300)
                else:
                    result = await asyncio.get_running_loop().run_in_executor(None, lambda: wrapped(**named))
                return result["score"]
            except Exception:
                if rate_limited:
                    return 0.0
                raise

        return asyncio.run(run_single())

    def test_takes_the_arguments_of_verl(self):
        module = loaded_by_path(verl)
        self.assertEqual(self.score(module.compute_score, saying()), 2.3)
        self.assertEqual(self.score(module.compute_score_async, saying(), reward="log"), 2.3)
        self.assertEqual(self.judge.requests[-1]["reward"], "log")
        one = verl.compute_score("kernels", saying(promoted=0, speedup=4), "other", {"task": "axpy"})
        self.assertEqual((one["speedup"], set(map(type, one.values()))), (1, {float}))
        many = verl.compute_score_batched(data_sources=["k"] * 2, solution_strs=[saying(), "no"], ground_truths=["axpy", None],
                                          extra_infos=[{}, {"task": "axpy", "rollout_reward_scores": {}}], num_examine=1)
        self.assertEqual(([s["score"] for s in many], set(many[0]), len(self.judge.requests)), ([2.3, 0], set(many[1]), 4))

    def test_a_fault_is_no_0_of_the_rate_limited_manager(self):
        self.judge.faults = LOST
        for function in (verl.compute_score, verl.compute_score_async):
            with self.assertRaises(Stop):
                self.score(function, saying(), rate_limited=True, wait_s=0.1)
            with self.assertRaises(Fault):
                self.score(function, saying(), wait_s=0.1, fault="raise")
        self.assertEqual(self.score(verl.compute_score, saying(), wait_s=0.1, fault=-2), -2)


class Trl(FormTest):
    def calculate(self, function, completions, version="1.10.0", **columns):
        """As _calculate_rewards: keywords, each column of the data set, None becomes NaN."""
        with unittest.mock.patch("importlib.metadata.version", lambda name: version):
            return function(prompts=["p"] * len(completions), completions=completions, completion_ids=[[1]] * len(completions),
                            trainer_state=object(), log_extra=lambda *_: None, log_metric=self.log, environments=None, **columns)

    def setUp(self):
        super().setUp()
        self.metrics = {}

    def log(self, name, value):
        self.metrics[name] = value

    def test_calls_with_columns(self):
        texts = [saying(), [{"role": "assistant", "content": saying(speedup=3)}, {"role": "tool", "content": "x"}],
                 [{"role": "assistant", "content": [{"type": "text", "text": saying(speedup=4, promoted=0)}]}]]
        rewards = self.calculate(trl.reward_func(), texts, task=["axpy"] * 3, reward=["a column"] * 3, depth=[7] * 3, fault=[1] * 3)
        self.assertEqual(rewards, [2.3, 3.3, 4.3])
        self.assertEqual((self.metrics["winnow/speedup"], self.metrics["winnow/correct"]), (2, 1))
        self.assertEqual(trl.reward_func().__name__, "winnow")
        self.assertEqual(self.calculate(trl.reward_func(depth="correct", task="axpy"), [saying()]), [2.3])
        self.assertEqual(self.judge.requests[-1]["depth"], "correct")

    def test_from_1_6_on_a_fault_is_left_out(self):
        self.judge.faults = 1
        function = trl.reward_func(wait_s=0.01)
        self.assertEqual(self.calculate(function, [saying(), saying()], "1.6.0", task=["axpy"] * 2), [None, 2.3])

    def test_before_1_6_and_with_unsloth_a_fault_stops_the_run(self):
        self.judge.faults = LOST
        for version, modules in (("1.5.2", {}), ("0.29.0", {}), ("1.10.0", {"unsloth": unittest.mock.Mock()})):
            with unittest.mock.patch.dict(sys.modules, modules), self.assertRaises(Fault):
                self.calculate(trl.reward_func(wait_s=0.1), [saying()], version, task=["axpy"])
        self.assertEqual(self.calculate(trl.reward_func(wait_s=0.1, fault="none"), [saying()], "1.5.2", task=["axpy"]), [None])


if __name__ == "__main__":
    unittest.main()
