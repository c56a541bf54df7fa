#!/usr/bin/env bash
# usage: guide.sh README LINE [TIMES]
#
# Runs the guide of a README in a clean copy of the tracked files, as a new user would. Commands
# that install system packages or targets are skipped: these must be installed. All other commands
# run as they stand in the README, from the root of the copy. LINE must be a line of their output,
# TIMES times (default: 1).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readme=$1
copy=${CARGO_TARGET_DIR:-$PWD/target}/guide/$(dirname "$readme")
rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --create | tar --extract --directory "$copy"
cd "$copy"
unset CARGO_TARGET_DIR

# Extracts the block after the mark, without its fences and the commands that install.
sed -n '/^<!-- guide -->$/,/^```$/p' "$readme" |
  grep -v -e '^<!-- guide -->$' -e '^```' -e '^sudo apt-get ' -e '^rustup target add ' >guide-commands.sh
# Emulators write the firmware's output to standard error.
bash -eu guide-commands.sh 2>&1 | tee guide.log
[ "$(grep -cxF "$2" guide.log)" -eq "${3:-1}" ]
echo "$readme: 1 passed, 0 failed"
