#!/usr/bin/env bash
# Runs clang-format and clang-tidy (version 14) over the sources. Needs `cmake --preset dev` first.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files '*.cpp' '*.h' | grep -v '^evaluators/device/headers/')
clang-format-14 --dry-run -Werror "${files[@]}"
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep '\.cpp$' | grep -v -e '^fuzz/' -e '^tests/buggy/')
printf '%s\0' "${sources[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 -p build/dev --quiet
