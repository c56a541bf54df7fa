# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # suite.sh sets and uses the variables
#
# Upstream's Python package with this library in it. Sourced after suite.sh.

# Creates a Python environment in $work/python with upstream's wheel, in which libtvm_ffi.so is
# replaced; upstream's own is on none of its paths. If `library` is this project's wheel, that is
# installed, too, nothing is replaced, and every Python process imports it first, except
# tvm-ffi-config, which tells linkers where upstream's other libraries are. Sets `overlay_python`
# and `overlay_library`.
make_overlay() {
  local dir=$work/python folders='import sysconfig; print(sysconfig.get_path("purelib"))' packages tool
  "$base_python" -m venv --without-pip "$dir"
  overlay_python=$dir/bin/python
  packages=$("$overlay_python" -c "$folders")
  "$base_python" -m pip --python "$overlay_python" install --quiet --no-deps --no-index --no-compile \
    "$wheel"/*.whl
  echo "import site; site.addsitedir('$("$base_python" -c "$folders")')" >"$packages/base.pth"
  if [[ $library == *.whl ]]; then
    "$base_python" -m pip --python "$overlay_python" install --quiet --no-deps --no-index --no-compile "$library"
    echo "import sys; any('tvm-ffi-config' in word for word in sys.orig_argv) or __import__('ferrite_tvm_ffi')" \
      >"$packages/ferrite.pth"
    overlay_library=$packages/ferrite_tvm_ffi.libs/libtvm_ffi.so
    library=$overlay_library
  else
    overlay_library=$packages/tvm_ffi/lib/libtvm_ffi.so
    rm "$overlay_library"
    cp "$library" "$overlay_library"
  fi
  for tool in cmake ninja; do ln -s "$(dirname "$base_python")/$tool" "$dir/bin/"; done
  export VIRTUAL_ENV=$dir PATH=$dir/bin:$PATH TVM_FFI_CACHE_DIR=$work/tvm-ffi-cache
}

# copy_tree DIR: a private copy of upstream's sources, for tests that write into their folder.
copy_tree() {
  cp -a "$sources" "$1"
  cp "$pins/Cargo.lock" "$1/rust/Cargo.lock"
}
