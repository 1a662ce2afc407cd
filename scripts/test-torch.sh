#!/usr/bin/env bash
# Runs the tests that need PyTorch, which CI has not. WINNOW_PYTHON names the Python that has it
# (default python3). If that Python has no torch, installs Debian's python3-torch and uses Debian's
# Python. Exits with 77 where torch is missing and apt has none.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${WINNOW_PYTHON:-python3}
has_torch() { "$1" -c 'import torch' >/dev/null 2>&1; }

install_torch() {
  command -v apt-get >/dev/null || return 0
  local sudo=
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || { echo "test-torch: run as root to install python3-torch" >&2; return 0; }
    sudo=sudo
  fi
  echo "Installing: python3-torch" >&2
  $sudo apt-get update >/dev/null
  $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends python3-torch >/dev/null
}

if ! has_torch "$python"; then
  has_torch /usr/bin/python3 || install_torch
  python=/usr/bin/python3
fi
for test in evaluators/torch/*_test.py tests/bench/*_test.py; do
  "$python" "$test"
done
# Exported files, if the C++ tests have been built.
for test in build/*/tasks/tasks_test; do
  [[ -x $test ]] && WINNOW_PYTHON=$python "$test" --gtest_filter='KernelBenchFile.*:ModuleExtension.*'
done
exit 0
