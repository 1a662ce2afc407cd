#!/usr/bin/env bash
# Checks the sources without building them, and fails on a finding: layout, layers, documents, Python,
# and what clang-tidy says of C++. Only clang-tidy takes long: --quick leaves it out; --tidy-changed
# runs only it, over the changed sources (scripts/tidy.py says which). Layout and clang-tidy need
# version 14 of clang's tools: a system without them leaves them out.
set -euo pipefail
cd "$(dirname "$0")/.."

# has TOOL: whether it is installed; if not, says what is not checked.
has() { command -v "$1" >/dev/null || { echo "lint: there is no $1, so it checks nothing" >&2; return 1; }; }

quick() {
  local failed=0
  ! has clang-format-14 || git ls-files '*.h' '*.cpp' '*.js' | grep -v '^evaluators/device/headers/' |
    xargs -n 40 -P "$(nproc)" clang-format-14 --dry-run -Werror || failed=1
  ! has pyflakes3 || git ls-files '*.py' | xargs pyflakes3 || failed=1
  python3 scripts/check-layers.py || failed=1
  python3 scripts/check-documents.py || failed=1
  return "$failed"
}
tidy() {
  has clang-tidy-14 || return 0
  # The headers of a newer release may be beyond version 14.
  [[ $(clang++ -dumpversion) == 14.* ]] || { echo "lint: clang++ is not 14, so clang-tidy 14 checks nothing" >&2; return 0; }
  exec nice -n 19 python3 scripts/tidy.py "$@"
}

case ${1:-} in
  --quick) quick ;;
  --tidy-changed) tidy --changed ;;
  '') failed=0; quick || failed=1; (tidy) || failed=1; exit "$failed" ;;
  *) echo "lint: unknown option $1; known: --quick, --tidy-changed" >&2; exit 2 ;;
esac
