#!/usr/bin/env bash
# Installs packages, builds with warnings as errors, runs every test, and fuzzes each parser for a
# few seconds. WINNOW_FUZZ_SECONDS sets how long (default 10, 0 skips).
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-packages.sh --tests
if command -v clang-format-14 >/dev/null; then
  git ls-files '*.h' '*.cpp' | grep -v '^evaluators/device/headers/' |
    xargs clang-format-14 --dry-run -Werror
fi

cmake --preset ci >/dev/null
echo "Building the tests ..." >&2
cmake --build --preset ci -- --quiet
ctest --preset ci -j "$(nproc)"

seconds=${WINNOW_FUZZ_SECONDS:-10}
if [[ $seconds -gt 0 ]]; then
  cmake --preset fuzz >/dev/null
  echo "Building the fuzz targets ..." >&2
  cmake --build --preset fuzz --target fuzzers -- --quiet
  for target in build/fuzz/fuzz/*_fuzz; do
    name=$(basename "$target" _fuzz)
    corpus=$(mktemp -d)
    seeds=()
    [[ -d fuzz/corpus/$name ]] && seeds=("fuzz/corpus/$name")
    echo "Fuzzing $name for $seconds s" >&2
    "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
      -artifact_prefix="$corpus/" "$corpus" "${seeds[@]}" >"$corpus.log" 2>&1 ||
      { tail -n 50 "$corpus.log" >&2; echo "see $corpus and $corpus.log" >&2; exit 1; }
    rm -rf "$corpus" "$corpus.log"
  done
fi
