#!/usr/bin/env bash
# usage: guide.sh     follows the guide of the README in a clean copy of the tracked files, as a new user would
#
# Installs no packages of the system and no targets: those that the guide names have to be there. The rest is run as it
# stands in the README; the firmware must tell what 4 squared is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
copy=${CARGO_TARGET_DIR:-$PWD/target}/guide
rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --create | tar --extract --directory "$copy"
cd "$copy"
unset CARGO_TARGET_DIR

# The block after the mark, without its fences and the two commands that install.
sed -n '/^<!-- guide -->$/,/^```$/p' targets/boards/README.md |
  grep -v -e '^<!-- guide -->$' -e '^```' -e '^sudo apt-get ' -e '^rustup target add ' >guide-commands.sh
# The emulator writes what the firmware says to its standard error.
bash -eu guide-commands.sh 2>&1 | tee guide.log
grep -qx '4 squared is 16' guide.log
echo "boards: 1 passed, 0 failed"
