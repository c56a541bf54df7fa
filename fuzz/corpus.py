#!/usr/bin/env python3
"""Unpacks and packs the kept inputs of the fuzz targets, an archive for each in corpus/.

usage: corpus.py unpack              writes them to target/corpus/TARGET beside this file, in place of what is there
       corpus.py pack TARGET FOLDER  makes corpus/TARGET.zip from the files of a folder; equal files give equal bytes
"""

import shutil
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ARCHIVES = HERE / "corpus"
UNPACKED = HERE / "target/corpus"


def unpack():
    """Write the inputs of all archives."""
    shutil.rmtree(UNPACKED, ignore_errors=True)
    for archive in sorted(ARCHIVES.glob("*.zip")):
        with zipfile.ZipFile(archive) as inputs:
            inputs.extractall(UNPACKED / archive.stem)
            print(f"{archive.stem}: {len(inputs.namelist())} inputs")


def pack(target, folder):
    """Make the archive of a target from the files of a folder."""
    files = sorted(path for path in Path(folder).iterdir() if path.is_file())
    if not files:
        sys.exit(f"error: {folder} has no files")
    with zipfile.ZipFile(ARCHIVES / f"{target}.zip", "w") as archive:
        for path in files:
            # Without the time of the file.
            about = zipfile.ZipInfo(path.name)
            archive.writestr(about, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    print(f"{target}: {len(files)} inputs")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["unpack"]:
            unpack()
        case ["pack", target, folder]:
            pack(target, folder)
        case _:
            sys.exit(__doc__)
