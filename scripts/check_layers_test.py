"""What check-layers.py prints of a tree with one circle, and of a tree with none."""

import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check-layers.py")
TABLE = """# Which folder may include which

| folder | may include |
|---|---|
| `base` | |
| `evaluators` | `base` |
"""
FLOORS = {
    "base/text.h": "",
    "evaluators/device/device.h": '#include "base/text.h"\n',
    "evaluators/device/module.h": "",
    "evaluators/judge/compare.h": "#pragma once\n\n#include \"evaluators/device/device.h\"\n",
    "evaluators/judge/verdict.h": "",
}


class CheckLayers(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {"ARCHITECTURE.md": TABLE, **files}.items():
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(text)
            command = [sys.executable, SCRIPT, root]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

    def test_floors_pass(self):
        self.assertEqual(self.check(FLOORS), (0, ""))

    def test_a_circle_of_folders_fails(self):
        code, printed = self.check({**FLOORS, "evaluators/device/module.h": '#include "evaluators/judge/verdict.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("2 folders include each other in a circle", printed)
        self.assertIn('evaluators/device/module.h:1: `evaluators/device` includes "evaluators/judge/verdict.h"', printed)
        self.assertIn('evaluators/judge/compare.h:3: `evaluators/judge` includes "evaluators/device/device.h"', printed)
        self.assertNotIn("base", printed)

    def test_a_circle_with_the_folder_above_fails(self):
        code, printed = self.check({**FLOORS, "evaluators/door.h": '#include "evaluators/judge/compare.h"\n',
                                    "evaluators/device/module.cpp": '#include "evaluators/door.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("3 folders include each other in a circle", printed)

    def test_the_includes_of_tests_do_not_count(self):
        back = '#include "evaluators/judge/verdict.h"\n'
        self.assertEqual(self.check({**FLOORS, "evaluators/device/module_test.cpp": back,
                                     "evaluators/device/testing/device_fake.h": back}), (0, ""))

    def test_a_folder_below_is_refused(self):
        code, printed = self.check({**FLOORS, "base/text.h": '#include "evaluators/judge/verdict.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("base/text.h:1: `base` may not include", printed)


if __name__ == "__main__":
    unittest.main()
