#!/usr/bin/env bash
# Installs packages, builds build/release/winnow and runs configs/quickstart.toml: six tasks, a
# recorded model, the best device of this machine. Ends with the leaderboard.
#   scripts/quickstart.sh [options of `winnow run`]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh
[[ -f build/release/build.ninja ]] || cmake --preset release >/dev/null
echo "Building build/release/winnow ..." >&2
cmake --build --preset release --target winnow -- --quiet

build/release/winnow run configs/quickstart.toml "$@"
