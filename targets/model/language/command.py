"""The command for language models: its steps, and the folder that it writes."""

import contextlib
import gzip
import io
import json
import pathlib
import shutil
import tempfile

import quote
import targets
import web
from compiler import compiling, pipeline
from failure import Failure
from frontend import TVM, require
from language import bert, board, chat, description, options, parameters
from language.checkpoint import Checkpoint


def run(args):
    """Compiles the language model in a folder."""
    folder = args.file
    config = description.content(folder / "config.json")
    is_encoder = config.get("model_type") == bert.KIND
    is_board = args.target in targets.boards() and not is_encoder
    is_page = args.target in targets.WEB and not is_encoder
    family = bert if is_encoder else description
    model = family.described(config, folder / "config.json")
    choose = options.choose_board if is_board else options.choose_page if is_page else options.choose
    chosen = choose(args, model)
    if not (folder / "tokenizer.json").is_file():
        raise Failure(f"{folder} has no file tokenizer.json")
    if is_encoder:
        bert.check_pooling(folder)
    checkpoint = Checkpoint(folder)
    sources = parameters.Sources(bert.parameters(model) if is_encoder else parameters.decoder(model))
    sources.check(checkpoint)
    if is_board:
        board.run(args, model, chosen, lambda name: parameters.stored(name, sources, checkpoint, chosen.dtype))
        return
    tvm = require("tvm", TVM)
    chosen.target = tvm.target.Target(targets.description(args.target, args.cpu, not args.no_simd))
    archive = web.archive() if is_page else None
    output = args.output or pathlib.Path(f"{folder.resolve().name}-{chosen.quantization}-{args.target.replace(',', '-')}")
    output.mkdir(parents=True, exist_ok=True)
    # A failure leaves nothing behind.
    with tempfile.TemporaryDirectory(prefix=".model-", dir=output) as place:
        place = pathlib.Path(place)
        mod, table = module(model, chosen, is_encoder, is_page)
        total = weights(checkpoint, sources, table, place)
        compiled = place / ("model.wasm" if is_page else "model.so")
        library(mod, chosen, args, compiled, archive)
        if not is_encoder:
            config = chat.config(folder, model, chosen, args.conversation or chat.template_of(folder))
            (place / "mlc-chat-config.json").write_text(json.dumps(config, indent=2) + "\n")
        for name in chat.tokenizer_files(folder):
            shutil.copyfile(folder / name, place / name)
        replace(output, place)
    print(f"model        {model.kind}, {model.layers} layers of width {model.width}, {chosen.quantization}")
    print(f"weights      {total} bytes")
    data = (output / compiled.name).read_bytes()
    print(f"library      {len(data)} bytes" + (f", {len(gzip.compress(data, 9))} by gzip -9" if is_page else ""))
    print(f"context      {chosen.context} tokens" + ("" if is_encoder else f", prompts in steps of {chosen.chunk}"))
    use = "" if is_encoder else ": serve it for WebLLM, whose model_lib is model.wasm" if is_page else f": run ferrite chat {quote.shell(output)}"
    print(f"folder       {quote.visible(output)}{use}")


def replace(output, place):
    """Moves the files of a model into a folder, in place of an earlier model's."""
    for old in output.glob("params_shard_*.bin"):
        old.unlink()
    for file in place.iterdir():
        file.replace(output / file.name)


def module(model, chosen, is_encoder, is_page):
    """Returns the model as TVM's IRModule, and the table of its parameters."""
    from language import encoder, network, web_llm

    with compiling(), chosen.target:
        return (encoder if is_encoder else web_llm if is_page else network).module(model, chosen)


def library(mod, chosen, args, path, archive):
    """Compiles a model to a library, or with the archive of the library for web pages to a WebAssembly."""
    from tvm import relax, transform

    # With 1 key head the frontend's attention for GPUs is not valid after TVM's elimination of
    # common subexpressions: `variable cse_v14 has been used before definition`.
    changes = {"tirx.disable_cse_tir": True} if "gpu" in chosen.target.keys else {}
    with compiling(), transform.PassContext(config=changes), chosen.target:
        executable = relax.build(mod, target=chosen.target, relax_pipeline=pipeline(chosen.target), exec_mode=args.mode)
        if archive:
            web.export(executable, path, archive, web.Linking((*options.LOOKED_UP, *args.names), args.all, args.asyncify))
        else:
            executable.export_library(str(path), options=["-s"])


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
