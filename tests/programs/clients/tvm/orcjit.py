"""Test object files in memory, linked by apache-tvm-ffi-orcjit, whose module is a C++ subclass of the library's."""

import os
import subprocess
import tempfile
from pathlib import Path

import ferrite_tvm_ffi
from tvm_ffi_orcjit import default_session

SOURCE = """
struct any { int type_index, padding; long long value; };
void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);
int __tvm_ffi_twice(void* self, const struct any* args, int n, struct any* result) {
  if (n != 1) {
    TVMFFIErrorSetRaisedFromCStr("ValueError", "one argument, please");
    return -1;
  }
  result->type_index = 1;
  result->value = 2 * args[0].value;
  return 0;
}
"""

with tempfile.TemporaryDirectory() as folder:
    source, target = Path(folder, "twice.c"), Path(folder, "twice.o")
    source.write_text(SOURCE)
    subprocess.run([os.environ.get("CC", "cc"), "-c", "-fPIC", "-O1", source, "-o", target], check=True)
    module = default_session().load_module(str(target))
    other = default_session().load_module(target.read_bytes())

assert module.kind == "orcjit" and module.twice(21) == 42
assert module.implements_function("twice") and not module.implements_function("thrice")
try:
    module.twice()
except ValueError as error:
    assert "one argument, please" in str(error)
else:
    raise AssertionError("no argument was enough")
module.import_module(other)
assert module.get_function("twice", query_imports=True)(4) == 8 and len(module.imports) == 1
function = other.get_function("twice")
module.clear_imports()
del module, other
assert function(5) == 10
assert ferrite_tvm_ffi.mapped() == {str(ferrite_tvm_ffi.LIBRARY)}
