"""Compiles a model by TVM, and writes a project that runs it: firmware for a board, or a program for this machine.

A folder with a `config.json` is a language model, which becomes a folder for `ferrite chat`.

`ferrite model` runs this program. It needs Python 3.10 or later with apache-tvm, and wasmtime for boards; it installs nothing.
"""

import argparse
import ast
import pathlib
import sys

import archive
import comparison
import compiler
import frontend
import measurement
import outputs
import plan
import project
import quote
import signature
import targets
import tuning
import web
from executable import MAGIC, Executable, Malformed
from failure import Failure
from language import chat, command, options


def shape(text):
    name, _, extents = text.partition("=")
    try:
        return name, [int(extent) for extent in extents.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{text}` is not like x=1,3,32,32") from None


def value(text):
    name, _, number = text.partition("=")
    try:
        return name, ast.literal_eval(number)
    except (ValueError, SyntaxError):
        raise argparse.ArgumentTypeError(f"`{text}` is not like rate=16000 or axes=[0,1]") from None


CUBLASLT = "matrix products of the target cuda by NVIDIA's library, which the machine that runs the model needs; factors in float32 may be rounded to TF32"


def arguments():
    parser = argparse.ArgumentParser(prog="ferrite model", description="Compiles a model, and writes a project that runs it.")
    text = "file of ONNX, PyTorch (.pt2) or TensorFlow Lite, Python file that defines `model`, library by export_library, or folder of a language model"
    parser.add_argument("file", type=pathlib.Path, help=text)
    parser.add_argument("--target", required=True, help=", ".join([*(targets.boards() or ["boards (in a clone of Ferrite)"]), targets.HOST, *targets.DEVICES, *targets.WEB]))
    parser.add_argument("-o", "--output", type=pathlib.Path, help="folder of the project; default: NAME-TARGET")
    parser.add_argument("--name", help="name of the model, a C identifier; default: that of the file")
    parser.add_argument("--function", help="function to call; default: main, or the only one")
    parser.add_argument("--shape", type=shape, action="append", default=[], help="shape of an ONNX model's input, such as x=1,3,32,32, or size of a named axis")
    parser.add_argument("--value", type=value, action="append", default=[], help="constant in place of an ONNX model's input, such as rate=16000")
    text = "file of safetensors for the model in a Python file: an nn.Module of tvm.relax.frontend with `spec`, or of torch"
    parser.add_argument("--weights", type=pathlib.Path, metavar="FILE", help=text)
    parser.add_argument("--input", type=pathlib.Path, action="append", default=[], help=".npy file with an example of the next input")
    parser.add_argument("--arena", type=int, help="bytes of a board's arena, in place of the planned number")
    text = "LLVM's name of the processor, or `native`, this machine's; default: x86-64-v3, or any of another architecture"
    parser.add_argument("--cpu", metavar="NAME", help=text)
    parser.add_argument("--no-kernels", action="store_true", help="code by TVM alone, without Ferrite's kernels for dense operators")
    parser.add_argument("--cublaslt", choices=("float32", "tf32"), nargs="?", const="float32", help=CUBLASLT)
    parser.add_argument("--profile", action="store_true", help="measures each operator on this machine; writes profile.json and profile.svg")
    page_arguments(parser.add_argument_group("web pages"))
    tuning_arguments(parser.add_argument_group("search for schedules"))
    comparison_arguments(parser.add_argument_group("comparison of results"))
    language_arguments(parser.add_argument_group("language models"))
    return parser.parse_args()


def page_arguments(group):
    group.add_argument("--no-simd", action="store_true", help="code without SIMD")
    text = "a function of the library that the page calls by name, or the beginning of several, besides those that the model calls"
    group.add_argument("--with", dest="names", metavar="NAME", action="append", default=[], help=text)
    group.add_argument("--all", action="store_true", help="every function of the library")
    group.add_argument("--asyncify", action="store_true", help="calls into JavaScript may suspend the module; needs Binaryen's wasm-opt")


def minutes(text):
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("it is not a time")
    return number


def tuning_arguments(group):
    text = "searches that long, on this machine, for faster schedules of the operators that Ferrite's kernels do not take"
    group.add_argument("--tune", type=minutes, metavar="MINUTES", help=text)
    text = "folder of what searches found, which later runs and other models use, with or without --tune; default with --tune: tuning in the project"
    group.add_argument("--records", type=pathlib.Path, metavar="FOLDER", help=text)


def comparison_arguments(group):
    either = group.add_mutually_exclusive_group()
    either.add_argument("--check", type=pathlib.Path, metavar="FILE.npz", help="compares results with those in a file, which has the inputs, too, by their names")
    either.add_argument("--against", choices=[comparison.ONNX_RUNTIME], help="compares results with ONNX Runtime's, for the examples of --input, or random ones")
    group.add_argument("--tolerance", type=float, default=1e-3, help="largest difference, in relation to the largest number of an output; default: 1e-3")


def language_arguments(group):
    add = group.add_argument
    add("--quantization", choices=options.QUANTIZATIONS, help="bits of a weight: 32, 16 or 4; default: f16, q4 for boards")
    add("--context", type=int, metavar="N", help="tokens of a conversation; default: those of the model, at most 4096")
    add("--prefill-chunk", type=int, metavar="N", help="tokens of a step; default: 512")
    add("--batch", type=int, metavar="N", help="conversations in a step; default: 16")
    add("--conversation", choices=chat.CONVERSATIONS, help="form of a conversation; default: that of the tokenizer's chat template")
    add("--mode", choices=("bytecode", "compiled"), default="bytecode", help="functions of the model as bytecode or as machine code")


def imported(args):
    """Returns the model as TVM's IRModule."""
    has_gpu = args.target in targets.DEVICES or targets.WEB.get(args.target) == "webgpu"
    return frontend.load(args.file, dict(args.shape), dict(args.value), not has_gpu, args.weights)


def compiled(args, mod, kernels=None, searched=None):
    """Returns TVM's executable for the target; `kernels` is the archive of those that do its dense work, `searched` finds schedules for others."""
    target = "c" if args.target in targets.boards() else targets.description(args.target, args.cpu, not args.no_simd)
    return compiler.executable(mod, target, kernels, searched, args.cublaslt)


def serialised(path):
    """Returns the executable in a library."""
    data = path.read_bytes()
    at = data.find(MAGIC.to_bytes(8, "little"))
    if at < 0:
        raise Failure(f"{path} has no whole model: export it after relax.build or tvm.compile of a Relax module")
    return data[at:]


def arrays(paths, inputs):
    """Reads the examples."""
    if len(paths) > len(inputs):
        raise Failure(f"there are {len(paths)} examples for {len(inputs)} inputs")
    if not paths:
        return []
    numpy = frontend.require("numpy", frontend.TVM)
    try:
        return [numpy.load(path) for path in paths]
    except (OSError, ValueError) as error:
        raise Failure(f"an example cannot be read: {error}") from None


def arena_of(args, executable, function, inputs, source):
    """Returns the size of the arena."""
    if args.arena:
        return -(-args.arena // plan.UNIT) * plan.UNIT
    if executable.has_branches():
        raise Failure("the model has branches, so the memory that it needs depends on its inputs: choose a size by --arena")
    wasm = plan.module(targets.clone())
    measurement = plan.Measurement(wasm, executable, plan.workspaces(source), function.name, inputs)
    return plan.smallest_arena(measurement)


def board(args, name, folder):
    if args.file.suffix not in frontend.SUFFIXES:
        raise Failure(f"{args.file} has machine code of a host, and boards need C source: give the file that it was compiled from")
    built = compiled(args, imported(args))
    data, source = compiler.serialised(built), compiler.c_source(built)
    targets.check_types(args.target, source)
    executable = Executable(data)
    targets.check_functions(executable, args.target, compiler.kernel_names(source))
    function = signature.entry_point(executable, args.function)
    inputs = signature.inputs(executable, function)
    examples = arrays(args.input, inputs)
    arena = arena_of(args, executable, function, inputs, source)
    project.write_board(folder, name, args.target, data, function, inputs, examples, source, arena)
    print(f"arena        {arena} bytes of RAM, which the firmware gives as one piece")
    print(f"weights      {executable.weight_bytes} bytes of flash, used in place")
    return function, inputs


def host(args, name, folder):
    if args.file.suffix in frontend.SUFFIXES:
        kernels = archive.path() if args.target == targets.HOST and not args.no_kernels else None
        searched = tuning.Tuning(args.records or folder / "tuning", args.tune) if args.tune or args.records else None
        built = compiled(args, imported(args), kernels, searched)
        data, library = compiler.serialised(built), lambda path: compiler.export(built, path, kernels)
        executable = Executable(data)
        if args.target == targets.HOST:
            print(f"kernels      {dense_work(executable, args, kernels)}")
    else:
        executable, library = Executable(serialised(args.file)), args.file
    targets.check_functions(executable, args.target, set(executable.kernels))
    function = signature.entry_point(executable, args.function)
    inputs = signature.inputs(executable, function)
    examples = arrays(args.input, inputs)
    project.write_host(folder, name, args.target, library, function, inputs, examples)
    if args.profile:
        measurement.write(folder / f"{name}.so", function.name, project.examples(inputs, examples), folder)
    if args.check or args.against:
        comparison.run(args, folder / f"{name}.so", function, inputs, examples)
    return function, inputs


def page(args, name, folder):
    if args.input:
        raise Failure("pages give their own inputs: leave out --input")
    if args.file.suffix not in frontend.SUFFIXES:
        raise Failure(f"{args.file} has machine code of a host: give the file that it was compiled from")
    mod = imported(args)
    built = compiled(args, mod)
    executable = Executable(compiler.serialised(built))
    targets.check_functions(executable, args.target, set(executable.kernels))
    function = signature.entry_point(executable, args.function)
    inputs = signature.inputs(executable, function)
    web.write(folder, name, built, executable, web.Description(args.target, executable, function, inputs, lambda name: outputs.described(mod, name)), web.Linking(tuple(args.names), args.all, args.asyncify))
    return function, inputs


def dense_work(executable, args, kernels):
    """Returns a line about the kernels that the model calls."""
    if args.no_kernels:
        return "by TVM alone"
    if kernels is None:
        return f"by TVM alone: there is no {archive.NAME} beside the library, and FERRITE_KERNELS names none"
    called = [name.removeprefix("ferrite.") for name in executable.kernels if name.startswith("ferrite.")]
    return f"Ferrite's {', '.join(called)}" if called else "by TVM alone: it has no operator that they calculate"


def check_tuning(args):
    if args.target != targets.HOST:
        raise Failure(f"schedules are measured on this machine's processor: give --tune and --records with --target {targets.HOST}")
    if args.file.suffix not in frontend.SUFFIXES:
        raise Failure(f"{args.file} is compiled: give --tune and --records with the file that it was compiled from")


def run(args):
    targets.check(args.target)
    if args.file.is_dir():
        if args.tune or args.records:
            raise Failure("--tune and --records are not for language models, whose kernels have schedules of their own")
        if args.cublaslt:
            raise Failure("--cublaslt is not for language models")
        command.run(args)
        return
    if not args.file.is_file():
        raise Failure(f"there is no file {args.file}")
    if args.file.suffix not in (*frontend.SUFFIXES, ".so"):
        raise Failure(f"{args.file} is not an .onnx, .pt2, .tflite, .py or .so file")
    if args.cublaslt and args.target != "cuda":
        raise Failure("cuBLASLt runs on NVIDIA's GPUs: give --cublaslt with --target cuda")
    for_pages = {"--no-simd": args.no_simd, "--with": args.names, "--all": args.all, "--asyncify": args.asyncify}
    if args.target not in targets.WEB and (given := [option for option, value in for_pages.items() if value]):
        raise Failure(f"{given[0]} is for web pages: give it with --target {' or '.join(targets.WEB)}")
    if args.profile and args.target != targets.HOST:
        raise Failure(f"operators are measured on this machine: give --profile with --target {targets.HOST}")
    if (args.check or args.against) and args.target != targets.HOST:
        raise Failure(f"results are compared on this machine: use --check and --against with --target {targets.HOST}")
    if args.tune or args.records:
        check_tuning(args)
        tuning.prepare()
    name = quote.model_name(args.file.stem) if args.name is None else quote.checked_model_name(args.name)
    folder = args.output or pathlib.Path(f"{name}-{args.target.replace(',', '-')}")
    write = page if args.target in targets.WEB else board if args.target in targets.boards() else host
    function, inputs = write(args, name, folder)
    print(f"function     {quote.visible(signature.text(function, inputs))}")
    start = f"read {quote.shell(folder / 'README.md')}" if args.target in targets.WEB else f"run {quote.shell(folder / 'build.sh')} run"
    print(f"project      {quote.visible(folder)}: {start}")


try:
    run(arguments())
except (Failure, Malformed) as error:
    sys.exit(f"error: {quote.visible(error)}")
