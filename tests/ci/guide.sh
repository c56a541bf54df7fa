#!/usr/bin/env bash
# usage: guide.sh README LINE
#
# Follows the guide of a README in a clean copy of the tracked files, as a new user would. Installs no packages of the system and
# no targets: those that the guide names have to be there. The rest is run as it stands in the README, from the top of the copy;
# one line that it prints must be LINE.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readme=$1
copy=${CARGO_TARGET_DIR:-$PWD/target}/guide/$(dirname "$readme")
rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --create | tar --extract --directory "$copy"
cd "$copy"
unset CARGO_TARGET_DIR

# The block after the mark, without its fences and the commands that install.
sed -n '/^<!-- guide -->$/,/^```$/p' "$readme" |
  grep -v -e '^<!-- guide -->$' -e '^```' -e '^sudo apt-get ' -e '^rustup target add ' >guide-commands.sh
# Emulators write what the firmware says to their standard error.
bash -eu guide-commands.sh 2>&1 | tee guide.log
grep -qxF "$2" guide.log
echo "$readme: 1 passed, 0 failed"
