#!/usr/bin/env bash
# Installs the packages that Winnow needs to build and run: Debian 12, Ubuntu 24.04 and later. Quick
# if all are installed. --tests adds the packages for the tests, --hip adds ROCm's hiprtc.
set -euo pipefail

packages=(
  cmake ninja-build g++ clang binutils pkg-config ccache
  nlohmann-json3-dev libfmt-dev libspdlog-dev libcli11-dev libtomlplusplus-dev libvalijson-dev
  libsqlitecpp-dev libsqlite3-dev libcurl4-openssl-dev libssl-dev libseccomp-dev
  libboost-context-dev zlib1g-dev node-d3 bubblewrap ca-certificates
)
tests=
hip=
for option in "$@"; do
  case $option in
    --tests) tests=1 ;;
    --hip) hip=1 ;;
    *) echo "install-packages: unknown option $option; known: --tests, --hip" >&2; exit 2 ;;
  esac
done
if [[ -n $tests ]]; then
  packages+=(python3 libgtest-dev libgmock-dev lld sqlite3)
  if apt-cache show chromium-driver >/dev/null 2>&1; then # Ubuntu has a snap only
    packages+=(chromium chromium-driver)
  fi
fi
if [[ -n $hip ]]; then
  packages+=(libamdhip64-dev)
fi

# clang's runtime for sanitizers and fuzzing is a separate package, named after clang's version.
clang_runtime() {
  local major
  major=$(clang++ -dumpversion 2>/dev/null | cut -d. -f1) && [[ -n $major ]] && echo "libclang-rt-$major-dev"
}
if [[ -n $tests ]] && runtime=$(clang_runtime); then
  packages+=("$runtime")
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed' ||
    missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

command -v apt-get >/dev/null ||
  { echo "install-packages: no apt-get here; install by hand: ${missing[*]}" >&2; exit 1; }
sudo=
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "install-packages: run as root, or install: ${missing[*]}" >&2; exit 1; }
  sudo=sudo
fi
echo "Installing: ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() { $sudo env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 || { tail -n 20 "$log" >&2; exit 1; }; }
run apt-get update
run apt-get install -y --no-install-recommends "${missing[@]}"
if [[ -n $tests ]] && runtime=$(clang_runtime); then # clang may not have been installed before
  run apt-get install -y --no-install-recommends "$runtime"
fi
if [[ -n $tests ]] && apt-cache show clang-format-14 >/dev/null 2>&1; then
  # the version that the format check uses
  run apt-get install -y --no-install-recommends clang-format-14
fi
