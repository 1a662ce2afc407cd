#!/usr/bin/env bash
# Installs the packages that Winnow needs to build and run: Debian 12, Ubuntu 24.04 and later. Quick
# if all are installed. --tests adds the packages for the tests, --browser adds the browser for one of
# them, --hip adds ROCm's hiprtc.
set -euo pipefail

packages=(
  cmake ninja-build clang binutils pkg-config
  nlohmann-json3-dev libfmt-dev libspdlog-dev libcli11-dev libtomlplusplus-dev libyaml-cpp-dev rapidjson-dev
  libsqlitecpp-dev libsqlite3-dev libcurl4-openssl-dev libssl-dev libseccomp-dev
  libboost-dev libboost-context-dev libnats-dev zlib1g-dev node-d3 bubblewrap ca-certificates
)
tests=
browser=
hip=
for option in "$@"; do
  case $option in
    --tests) tests=1 ;;
    --browser) browser=1 ;;
    --hip) hip=1 ;;
    *) echo "install-packages: unknown option $option; known: --tests, --browser, --hip" >&2; exit 2 ;;
  esac
done
if [[ -n $tests ]]; then
  packages+=(g++ python3 libgtest-dev libgmock-dev lld sqlite3 nats-server pyflakes3)
fi
if [[ -n $hip ]]; then
  packages+=(libamdhip64-dev)
fi

# Prints the packages for the tests that have another name, or none, in some releases.
optional_for_tests() {
  local clang package names=()
  # clang's runtime for sanitizers and fuzzing is a separate package, named after clang's version.
  clang=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
  # The checks of C++ and JavaScript use version 14. Ubuntu has chromium as a snap only.
  [[ -z $tests ]] || names+=("libclang-rt-$clang-dev" clang-format-14 clang-tidy-14)
  [[ -z $browser ]] || names+=(chromium-driver)
  for package in "${names[@]}"; do
    ! apt-cache show "$package" >/dev/null 2>&1 || echo "$package"
  done
}

# Sets `missing` to the packages that are not installed.
find_missing() {
  local package optional=()
  mapfile -t optional < <(optional_for_tests)
  missing=()
  for package in "${packages[@]}" "${optional[@]}"; do
    dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed' ||
      missing+=("$package")
  done
}

find_missing
[[ ${#missing[@]} -eq 0 ]] && exit 0

command -v apt-get >/dev/null ||
  { echo "install-packages: no apt-get here; install by hand: ${missing[*]}" >&2; exit 1; }
sudo=
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "install-packages: run as root, or install: ${missing[*]}" >&2; exit 1; }
  sudo=sudo
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() { $sudo env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 || { tail -n 20 "$log" >&2; exit 1; }; }
run apt-get update
find_missing # once more: a new machine knows no optional package before the update
echo "Installing: ${missing[*]}" >&2
run apt-get install -y --no-install-recommends "${missing[@]}"
