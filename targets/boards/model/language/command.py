"""The command for language models: its steps, and the folder that it writes."""

import contextlib
import io
import json
import pathlib
import shutil
import tempfile

import quote
import targets
from failure import Failure
from frontend import TVM, require
from language import chat, description, options, parameters
from language.checkpoint import Checkpoint


def run(args):
    """Compiles the language model in a folder."""
    folder = args.file
    decoder = description.read(folder / "config.json")
    chosen = options.choose(args, decoder)
    if not (folder / "tokenizer.json").is_file():
        raise Failure(f"{folder} has no file tokenizer.json")
    checkpoint, sources = Checkpoint(folder), parameters.Sources(decoder)
    sources.check(checkpoint)
    tvm = require("tvm", TVM)
    chosen.target = tvm.target.Target(host(args) if args.target == targets.HOST else targets.description(args.target))
    output = args.output or pathlib.Path(f"{folder.resolve().name}-{chosen.quantization}-{args.target}")
    output.mkdir(parents=True, exist_ok=True)
    # What fails leaves nothing behind.
    with tempfile.TemporaryDirectory(prefix=".model-", dir=output) as place:
        place = pathlib.Path(place)
        mod, table = module(decoder, chosen)
        total = weights(checkpoint, sources, table, place)
        library(mod, chosen, args.mode, place / "model.so")
        conversation = args.conversation or chat.template_of(folder)
        config = chat.config(folder, decoder, chosen, conversation)
        (place / "mlc-chat-config.json").write_text(json.dumps(config, indent=2) + "\n")
        for name in config["tokenizer_files"]:
            shutil.copyfile(folder / name, place / name)
        replace(output, place)
    print(f"model        {decoder.kind}, {decoder.layers} layers of width {decoder.width}, {chosen.quantization}")
    print(f"weights      {total} bytes")
    print(f"library      {(output / 'model.so').stat().st_size} bytes")
    print(f"context      {chosen.context} tokens, prompts in steps of {chosen.chunk}, conversation {conversation}")
    print(f"folder       {quote.visible(output)}: run ferrite chat {quote.shell(output)}")


def replace(output, place):
    """Moves the files of a model into a folder, in place of an earlier model's."""
    for old in output.glob("params_shard_*.bin"):
        old.unlink()
    for file in place.iterdir():
        file.replace(output / file.name)


def host(args):
    """Returns TVM's target for this machine, or for the processor that the user names."""
    return {"kind": "llvm", "mcpu": args.cpu} if args.cpu else targets.description(targets.HOST)


@contextlib.contextmanager
def compiling():
    """Turns errors of TVM, which are of every kind, into failures."""
    try:
        yield
    except Failure:
        raise
    except Exception as error:
        raise Failure(f"TVM cannot compile the model: {str(error).strip().splitlines()[-1]}") from error


def module(decoder, chosen):
    """Returns the model as TVM's IRModule, and the table of its parameters."""
    from language import network

    with compiling(), chosen.target:
        return network.module(decoder, chosen)


def library(mod, chosen, mode, path):
    """Compiles a model to a library."""
    from tvm import relax

    with compiling(), chosen.target:
        pipeline = relax.pipeline.get_default_pipeline(chosen.target)
        relax.build(mod, target=chosen.target, relax_pipeline=pipeline, exec_mode=mode).export_library(str(path))


def weights(checkpoint, sources, table, folder):
    """Writes the weights in the order of the table, as `tensor_cache.load` reads them, and returns their bytes."""
    from tvm.contrib import tvmjs

    dtype, total = next(entry["dtype"] for entry in table if entry["dtype"] != "uint32"), 0

    def arrays():
        nonlocal total
        for entry in table:
            for name, array in parameters.stored(entry["name"], sources, checkpoint, dtype):
                total += array.nbytes
                yield name, array

    with contextlib.redirect_stdout(io.StringIO()):
        tvmjs.dump_tensor_cache(arrays(), str(folder), encode_format="raw", meta_data={"ParamSize": len(table)}, show_progress=False)
    return total
