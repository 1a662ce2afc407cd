"""SkyRL, written for NovaSky-AI/SkyRL a9564572: skyrl-gym/skyrl_gym/envs/registration.py, metrics.py,
skyrl/train/generators/skyrl_gym_generator.py.

register(id="winnow", entry_point=skyrl_env(BaseTextEnv)). The task is `task` of a row, else `reward_spec.ground_truth`.
generator.max_turns is the number of turns: SkyRL writes it over `max_turns` of a row. The feedback is the next observation.
At most skyrl_gym.max_env_workers samples are judged at a time, and with generator.batched one after the other.
A fault raises when an hour is over, and ends `generate`."""
from ._core import Judge, final_text, numbers

DEFAULTS = {"wait_s": 3600}


def skyrl_env(base=object, **options):
    """A class of environments. `base`: skyrl_gym's BaseTextEnv. Options: as in Judge."""

    class WinnowEnv(base):
        def __init__(self, env_config=None, extras=None):
            super().__init__()
            extras = extras or {}
            self.task = extras.get("task") or extras["reward_spec"]["ground_truth"]
            self.turns, self.max_turns, self.numbers = 0, int(extras.get("max_turns", 1)), {}

        def init(self, prompt):
            return prompt, {}

        def step(self, action):
            self.turns += 1
            judge = Judge(DEFAULTS, **options)
            result = judge.result(self.task, final_text(action))
            reward, self.numbers = judge.value(result), numbers(result)
            done = self.turns >= self.max_turns
            observations = [] if done else [{"role": "user", "content": result.get("feedback", "")}]
            return {"observations": observations, "reward": reward, "done": done, "metadata": self.numbers}

        def get_metrics(self):
            return self.numbers  # of the last turn

        def close(self):
            pass

    return WinnowEnv
