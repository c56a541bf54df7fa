"""Runs the Relax fixtures as TVM's C target writes them for exec_mode `compiled`, and compares the results with those of TVM's machine.

gen_relax.py compiles the models and repairs the C sources, in a process of its own. All fixtures but `control`, for which the C
target prints an empty condition.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import ferrite_tvm_ffi  # noqa: F401  # first: tvm_ffi then runs on its library

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "relax"))
import fixtures  # noqa: E402


def main():
    generator = pathlib.Path(__file__).parents[2] / "relax" / "gen_relax.py"
    models = json.loads((fixtures.FOLDER / "manifest.json").read_text())["models"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(generator), "--c", folder], check=True)
        libraries = {path.parent.name: path for path in pathlib.Path(folder).glob("*/c.so")}
        assert set(libraries) == set(models) - {"control"}, set(libraries)
        for model, path in libraries.items():
            fixtures.run_model(model, path, models[model])
    assert "tvm" not in sys.modules
    print(f"{len(libraries)} models from C sources passed")


main()
