"""Paths of the tree. Modules of `ferrite model` and of MiniLM's client can be imported."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[5]
TOOL = ROOT / "targets/model"
sys.path[:0] = [str(TOOL), str(ROOT / "tests/programs/llm/minilm")]
