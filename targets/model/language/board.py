"""The command for language models on boards: firmware that continues a prompt."""

import pathlib

import compiler
import plan
import project
import quote
import signature
import targets
from executable import DataType, Executable
from frontend import TVM, require
from language import byte_tokens


def run(args, model, chosen, stored):
    """Compiles a language model to firmware. `stored` returns the arrays of a parameter by their names."""
    tokens = byte_tokens.tokens(args.file / "tokenizer.json", model.vocab)
    tvm = require("tvm", TVM)
    chosen.target = tvm.target.Target("c")
    data, source = compiled(model, chosen, stored)
    targets.check_types(args.target, source)
    executable = Executable(data)
    targets.check_functions(executable, args.target, compiler.kernel_names(source))
    token = signature.Input("token", (1,), DataType(0, 32, 1))
    measurement = plan.Measurement(plan.module(targets.clone()), executable, plan.workspaces(source), "step", [token], chosen.context)
    arena = plan.smallest_arena(measurement)
    name = quote.model_name(args.file.resolve().name) if args.name is None else quote.checked_model_name(args.name)
    output = args.output or pathlib.Path(f"{name}-{args.target}")
    project.write_talker(output, name, args.target, data, source, arena, chosen.context, tokens, model)
    print(f"model        {model.kind}, {model.layers} layers of width {model.width}, {chosen.quantization}")
    print(f"context      {chosen.context} tokens")
    print(f"arena        {arena} bytes of RAM, with the key-value cache")
    print(f"weights      {executable.weight_bytes} bytes of flash, used in place")
    print(f"project      {quote.visible(output)}: run {quote.shell(output / 'build.sh')} run")


def compiled(model, chosen, stored):
    """Returns the executable and the source of its kernels."""
    from language import stepwise

    with compiler.compiling(), chosen.target:
        mod = stepwise.module(model, chosen, stored)
    built = compiler.executable(mod, "c")
    return compiler.serialised(built), compiler.c_source(built)
