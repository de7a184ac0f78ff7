#!/usr/bin/env bash
# Installs the packages for building, training and testing, on Debian 12, as root or through sudo; with --build, those
# for building and training. Asks nothing; changes nothing if none is missing.
set -euo pipefail

packages=(
  # The toolchain. g++ brings the C++ standard library that clang uses.
  g++ cmake git ninja-build ccache python3 ca-certificates clang-22 lld-22
  # LLVM and MLIR 22.1: libraries, mlir-tblgen.
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  # oneDNN is opened at run time; zlib reads .gz data, libpng and libturbojpeg pictures, utf8proc and PCRE2 text.
  libdnnl-dev zlib1g-dev libpng-dev libturbojpeg0-dev libutf8proc-dev libpcre2-dev
  # Training on several processes; libmantissa-mpi.so is built with it, and mpirun starts them.
  libopenmpi-dev openmpi-bin
  # The examples train on these data.
  dataset-fashion-mnist wordnet-base
)
test_packages=(
  libgtest-dev clang-format-22 clang-tidy-22 python3-numpy python3-pip
  # A test builds the wheel, and installs it into a virtual environment.
  python3-dev python3-venv
  # cpack makes the Debian package with them.
  dpkg-dev file
  # A C program is built with the flags that it prints.
  pkgconf
  # A test opens the page of mp-run report with it.
  chromium
  # Faults are injected under ThreadSanitizer, and with a second OpenMP; strace shows which programs are started.
  libclang-rt-22-dev libomp-dev strace
  # bench/micro needs it, and is not built without it.
  libbenchmark-dev
)

give_up() {
  printf '%s: %s\nneeded, by the names Debian 12 has for them:\n' "${0##*/}" "$1" >&2
  printf '  %s\n' "${packages[@]}" >&2
  exit 1
}

case "${1:-}" in
'') packages+=("${test_packages[@]}") ;;
--build) ;;
*)
  printf 'usage: %s [--build]\ninstalls the packages that building, training and, without --build, testing need\n' "${0##*/}" >&2
  [[ $1 == --help ]] && exit 0 || exit 2
  ;;
esac
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  give_up 'this is not a Debian system: install these by hand'

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  # -n never asks for a password; a script that waits is worse than one that fails.
  sudo -n true 2>/dev/null || give_up "not root, and sudo does not work without a password (missing: ${missing[*]})"
  as_root=(sudo -n)
fi

printf 'installing %s\n' "${missing[*]}"
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null; }
# An outdated third-party repository is not an error: only the installation must succeed.
apt update || printf '%s: apt-get update failed; trying with the lists at hand\n' "${0##*/}" >&2
apt install --yes --no-install-recommends "${missing[@]}" ||
  give_up "apt-get could not install: ${missing[*]}"
