# shellcheck shell=bash
#
# Sources of apache/tvm that no registry has, read from a clone and never kept here. Sourced after
# cache.sh, not run.

# Unpacks files of a revision: a tag, or the hash of a commit.
unpack_tvm() { # unpack_tvm REVISION FOLDER PATTERN...
  local revision=$1 folder=$2 commit
  shift 2
  need git "apt-get install git"
  [ -n "${FERRITE_TVM_GIT:-}" ] || die "FERRITE_TVM_GIT is not set: it names a clone of apache/tvm, bare or not, with the
revision $revision: git clone --bare --filter=blob:none https://github.com/apache/tvm tvm.git"
  # A clone may have a branch of the tag's name.
  commit=$(tvm_git rev-parse --verify --quiet "refs/tags/$revision^{commit}" ||
    tvm_git rev-parse --verify --quiet "$revision^{commit}") ||
    die "the repository that FERRITE_TVM_GIT names, $FERRITE_TVM_GIT, lacks the revision $revision of apache/tvm: fetch it there
with: git fetch --tags https://github.com/apache/tvm"
  mkdir -p "$folder"
  tvm_git archive "$commit" "$@" | tar -x -C "$folder" || die "cannot read $* of $revision in $FERRITE_TVM_GIT"
}

# The clone may belong to another user.
tvm_git() { git -c safe.directory='*' -C "$FERRITE_TVM_GIT" "$@"; }
