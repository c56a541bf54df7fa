"""Digits that the command compiles for web pages are right in Chromium, in a page and in a worker, on the CPU and on WebGPU; TVMJS and FERRITE_WEB are those of ../web."""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "web"))

from digits import MODEL, TVMJS, compiled, write_pictures  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    pictures = write_pictures(place)
    for target in "web", "web,webgpu":
        status, output = compiled(MODEL, target, place / target)
        assert status == 0, output
        subprocess.run(["node", HERE / "pages.js", TVMJS / "tvmjs-0.27.js", place / target, *pictures], check=True)
