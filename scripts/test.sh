#!/usr/bin/env bash
# Installs packages, checks the sources (scripts/lint.sh), builds with warnings as errors, runs every
# test (those of base and tasks under sanitizers), and fuzzes each parser for a few seconds.
# WINNOW_FUZZ_SECONDS sets how long (default 6; 0: no fuzzing and no sanitizers); WINNOW_FUZZ_SEED
# which inputs (default 1, so that two runs of one commit try the same; 0 for other ones each time).
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh --tests
# The build needs no browser, so its packages are installed beside the build.
browser_log=$(mktemp)
scripts/install-packages.sh --browser >"$browser_log" 2>&1 &
browser=$!
fuzz_log=$(mktemp)
tidy_log=$(mktemp)
tidy=
fuzz_build=
WINNOW_TEST_CACHE=
trap '[[ -z $fuzz_build ]] || kill "$fuzz_build" 2>/dev/null || true
      [[ -z $tidy ]] || kill "$tidy" 2>/dev/null || true
      [[ -z $browser ]] || wait "$browser" || true # the next run would find the packages locked
      rm -rf "$WINNOW_TEST_CACHE" "$fuzz_log" "$tidy_log" "$browser_log"' EXIT
scripts/lint.sh --quick &
source_checks=$! # beside cmake, which uses one processor

export seconds=${WINNOW_FUZZ_SECONDS:-6} seed=${WINNOW_FUZZ_SEED:-1}
sanitized=
[[ $seconds -eq 0 ]] || sanitized='base;tasks'
if [[ $seconds -gt 0 ]]; then
  echo "Building the fuzz targets with what all else leaves of the processor ..." >&2
  { cmake --preset fuzz >/dev/null &&
      exec nice -n 19 ninja -C build/fuzz -j "$(nproc)" --quiet fuzzers base_test tasks_test; } >"$fuzz_log" 2>&1 &
  fuzz_build=$!
fi
cmake --preset ci -DWINNOW_TESTS_LEFT_OUT="$sanitized" >/dev/null
wait "$source_checks"
scripts/lint.sh --tidy-changed >"$tidy_log" 2>&1 & # beside the build, with the commands that cmake wrote
tidy=$!
echo "Building the tests ..." >&2
cmake --build --preset ci -- --quiet
wait "$browser" || { cat "$browser_log" >&2; exit 1; }
browser=
# The tests keep their stores in memory, if there is a gigabyte: SQLite waits for a disk after each write.
memory=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) || memory=0
[[ ${memory:-0} -gt 1000000 && -w /dev/shm ]] && export TMPDIR=/dev/shm
# Suites share compiled kernels, measured ceilings and a finished run: each alone would make the same
# ones again.
WINNOW_TEST_CACHE=$(mktemp -d)
export WINNOW_TEST_CACHE
export XDG_STATE_HOME=$WINNOW_TEST_CACHE XDG_CACHE_HOME=$WINNOW_TEST_CACHE # also of the suites in Python, which otherwise use the user's
# count BUILD...: how many cases passed in these builds' last runs.
count() {
  awk '/^\[==========\] [0-9]+ tests? from .* ran\./ { ran += $2 }
       /^\[  PASSED  \]/ { passed += $4 }
       /^\[  SKIPPED \] [0-9]+ tests?, listed/ { skipped += $4 }
       END { printf "Of %d test cases %d passed and %d were skipped\n", ran, passed, skipped }' \
    "${@/%//Testing/Temporary/LastTest.log}"
}
# Two suites more than cores, because suites wait for children and servers, too. A ctest entry is a
# suite: the number of its cases is in the log only.
ctest --preset ci -j $(($(nproc) + 2)) || { failed=$?; count build/ci; exit "$failed"; }
[[ -n $fuzz_build ]] || count build/ci

# fuzz TARGET: runs it for $seconds with the seed inputs of its name; if it finds something, shows
# the end of its log.
fuzz() {
  local name corpus seeds=()
  name=$(basename "$1" _fuzz)
  corpus=$(mktemp -d)
  [[ -d fuzz/corpus/$name ]] && seeds=("fuzz/corpus/$name")
  echo "Fuzzing $name for $seconds s" >&2
  # libFuzzer ends when more than max_total_time has passed, in whole seconds: a second later.
  "$1" -max_total_time=$((seconds > 1 ? seconds - 1 : 1)) -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
    -print_funcs=0 -seed="$seed" \
    -artifact_prefix="$corpus/" "$corpus" "${seeds[@]}" >"$corpus.log" 2>&1 ||
    { tail -n 50 "$corpus.log" >&2; echo "see $corpus and $corpus.log" >&2; return 1; }
  rm -rf "$corpus" "$corpus.log"
}
# sanitize JOB: one of the jobs that share the processors: the tests under sanitizers, or a target.
sanitize() {
  if [[ $1 == tests ]]; then ctest --preset fuzz; else fuzz "$1"; fi
}
export -f fuzz sanitize

failed=0
if [[ -n $fuzz_build ]]; then
  wait "$fuzz_build" || { tail -n 50 "$fuzz_log" >&2; exit 1; }
  printf '%s\0' tests build/fuzz/fuzz/*_fuzz |
    xargs -0 -n 1 -P "$(nproc)" bash -c 'sanitize "$@"' sanitize || failed=1
  count build/ci build/fuzz
fi
wait "$tidy" || failed=1
tidy=
cat "$tidy_log" >&2
exit "$failed"
