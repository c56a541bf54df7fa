"""Writes a project that builds: the model as C or as a library, a program that calls it, and a build script."""

import os
import pathlib
import re
import shutil

import quote
import signature
import targets
from executable import Executable, as_c, bytes_as_c
from failure import Failure

TEMPLATES = pathlib.Path(__file__).resolve().parent / "project"


def fill(template, names):
    """Returns a template with each @NAME@ replaced, by its form for the kind of file: strings of models are quoted for it."""
    # Values for JavaScript are literals.
    quoted = {".c": quote.c_comment, ".h": quote.c_comment, ".md": quote.markdown, ".sh": quote.shell, ".mjs": str, ".mts": str}[pathlib.Path(template).suffix]
    literals = {"FUNCTION": quote.c_literal}

    def value(found):
        name = found[1]
        return literals.get(name, quoted)(names[name])

    # In one pass, so that a string with @NAME@ in it stays.
    return re.sub(r"@([A-Z]+)@", value, (TEMPLATES / template).read_text())


def example(tensor, array):
    """Returns the bytes of an example of an input: those of `array`, or zeros."""
    if array is None:
        return bytes(tensor.bytes)
    if tuple(array.shape) != tensor.shape or str(array.dtype) != str(tensor.dtype):
        raise Failure(f"the example of {tensor} is {array.dtype}[{', '.join(map(str, array.shape))}]")
    return array.tobytes()


def examples(inputs, arrays):
    """Returns an array for each input: the example, or zeros."""
    import numpy

    missing = [numpy.zeros(tensor.shape, str(tensor.dtype)) for tensor in inputs[len(arrays) :]]
    return [*arrays, *missing]


def inputs_as_c(name, inputs, arrays):
    """Yields C code with the example inputs: the list NAME_inputs of DLTensors."""
    for at, tensor in enumerate(inputs):
        yield from bytes_as_c(example(tensor, arrays[at] if at < len(arrays) else None) or bytes(8), f"input_{at}")
        extents = ", ".join(map(str, tensor.shape)) or "0"
        yield f"static const int64_t shape_{at}[] = {{{extents}}};\n"
    yield f"DLTensor {name}_inputs[] = {{"
    for at, tensor in enumerate(inputs):
        dtype = f"{{{tensor.dtype.code}, {tensor.dtype.bits}, {tensor.dtype.lanes}}}"
        yield f"  {{(void*)input_{at}, {{kDLCPU, 0}}, {len(tensor.shape)}, {dtype}, (int64_t*)shape_{at}, NULL, 0}}, /* {quote.c_comment(tensor)} */"
    yield "};"


def write(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if name.endswith(".sh"):
            path.chmod(0o755)


def names_of(name, function, inputs, target):
    return {
        "NAME": name,
        "MODEL": name.upper(),
        "FUNCTION": function.name,
        "INPUTS": len(inputs),
        "SIGNATURE": signature.text(function, inputs),
        "TARGET": target,
        "ROOT": targets.clone() or "",
    }


def features(data):
    """Returns the features of the library that firmware with a model links."""
    has_cache = any(re.search("kv_(cache|state)", name) for name in Executable(data).builtins)
    return "core,model,libm" + ",ferrite-ffi-relax/kv-cache" * has_cache


def write_board(folder, name, target, data, function, inputs, arrays, source, arena):
    """Writes the project of firmware for a board."""
    names = names_of(name, function, inputs, target)
    names |= {"ARENA": arena, "WEIGHTS": Executable(data).weight_bytes, "FEATURES": features(data)}
    model = "\n".join([*as_c(data, name), "", *inputs_as_c(name, inputs, arrays), ""])
    write(
        folder,
        {
            f"{name}.c": model,
            f"{name}.h": fill("model.h", names),
            "kernels.c": source,
            "main.c": fill("board.c", names),
            "build.sh": fill("board.sh", names),
            "README.md": fill("board.md", names),
        },
    )


def tokens_as_c(name, tokens, model):
    """Yields C code with the token of each byte, and the byte of each token."""
    table = [-1] * model.vocab
    for byte, token in enumerate(tokens):
        if token >= 0 and token not in model.eos:
            table[token] = byte
    yield f"const int32_t {name}_token_of_byte[256] = {{{', '.join(map(str, tokens))}}};"
    yield f"const int16_t {name}_byte_of_token[{model.vocab}] = {{{', '.join(map(str, table))}}};"


def write_talker(folder, name, target, data, source, arena, context, tokens, model):
    """Writes the project of firmware that continues a prompt with a language model."""
    names = {"NAME": name, "MODEL": name.upper(), "TARGET": target, "ROOT": targets.clone() or ""}
    names |= {"ARENA": arena, "WEIGHTS": Executable(data).weight_bytes, "CONTEXT": context, "TOKENS": model.vocab}
    names["FEATURES"] = features(data)
    write(
        folder,
        {
            f"{name}.c": "\n".join([*as_c(data, name), "", *tokens_as_c(name, tokens, model), ""]),
            f"{name}.h": fill("talk.h", names),
            "kernels.c": source,
            "main.c": fill("talk.c", names),
            "build.sh": fill("board.sh", names),
            "README.md": fill("talk.md", names),
        },
    )


COPIED = ("firmware/element.c", "firmware/element.h", "include/tvm_ffi_model.h", "include/tvm/ffi/c_api.h", "include/dlpack/dlpack.h")
"""Files that the program of a host is compiled with, so that it needs the library alone."""


def copied():
    """Yields the paths of these files in a project, and their content."""
    for name in COPIED:
        path = targets.ROOT / ("targets/boards" if name.startswith("firmware") else "") / name
        yield name.removeprefix("firmware/"), path.read_text()


def library_folder():
    """Returns the folder of the installed library: below the prefix of the command that runs this program, or empty."""
    prefix = os.environ.get("FERRITE_PREFIX")
    places = ("lib", "lib64", "lib/*-linux-*", "lib*/python3*/site-packages/ferrite_tvm_ffi.libs")
    found = [file for place in places for file in sorted(pathlib.Path(prefix).glob(f"{place}/libtvm_ffi.so"))] if prefix else []
    return found[0].parent if found else ""


def write_host(folder, name, target, library, function, inputs, arrays):
    """Writes the project of a program for this machine. `library` is the compiled model, or writes it to a path."""
    names = names_of(name, function, inputs, target)
    names |= {"LIBRARY": library_folder(), "DEVICE": targets.DEVICES.get(target, 1), "FEATURES": ",".join(["relax", *([target] if target in targets.DEVICES else [])])}
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{name}.so"
    if callable(library):
        library(str(place))
    else:
        shutil.copyfile(library, place)
    head = f'/* inputs.c: example inputs of the model {name}. */\n#include "{name}.h"\n'
    write(
        folder,
        {
            "inputs.c": "\n".join([head, *inputs_as_c(name, inputs, arrays), ""]),
            f"{name}.h": fill("host.h", names),
            "main.c": fill("device.c" if target in targets.DEVICES else "host.c", names),
            "results.c": fill("results.c", names),
            "results.h": fill("results.h", names),
            **dict(copied()),
            "build.sh": fill("host.sh", names),
            "README.md": fill("host.md", names),
        },
    )
