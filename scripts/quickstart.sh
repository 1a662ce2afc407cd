#!/usr/bin/env bash
# Installs packages, builds build/release/winnow and runs configs/quickstart.toml: six tasks, a
# recorded model, the best device of this machine. Ends with the leaderboard. A second call
# continues a stopped run, or shows the leaderboard of a finished one again.
#   scripts/quickstart.sh [options of `winnow run`]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh
# clang compiles Winnow in less time than g++, and half of the time is the optimiser's: what judges and measures is
# optimised here, the command line and stores are not. `cmake --preset release` and a build optimise all.
[[ -f build/release/build.ninja ]] ||
  cmake --preset release -DCMAKE_CXX_COMPILER=clang++ -DWINNOW_OPTIMISED=judging >/dev/null
echo "Building build/release/winnow ..." >&2
cmake --build --preset release --target winnow -- --quiet

store=${XDG_DATA_HOME:-$HOME/.local/share}/winnow/quickstart.db
if [[ -f $store && $# -eq 0 ]]; then
  echo "Going on with $store (delete it to start over)." >&2
  code=0
  build/release/winnow resume quickstart --store "$store" || code=$?
  [[ $code -eq 2 ]] || exit "$code" # 2: the first call stopped before it created the run
fi
exec build/release/winnow run configs/quickstart.toml "$@"
