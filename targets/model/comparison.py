"""Compares the results of a compiled model, run by Ferrite's library, with expected ones: of a file, or of ONNX Runtime."""

import dataclasses
import pathlib
import subprocess
import sys
import tempfile

import frontend
import library
import project
import quote
from failure import Failure

ONNX_RUNTIME = "onnxruntime"
DTYPES = {"tensor(bool)": "bool", "tensor(int32)": "int32", "tensor(int64)": "int64", "tensor(float16)": "float16", "tensor(double)": "float64"}
"""Element types by ONNX Runtime's names; others are float32."""
EXECUTION = pathlib.Path(__file__).resolve().parent / "execution.py"


@dataclasses.dataclass
class Difference:
    """The largest difference between two results, as it is and in relation to the largest expected number."""

    output: str
    absolute: float
    relative: float

    def __str__(self):
        return f"{self.absolute:.1e} absolute, {self.relative:.1e} relative in the output {self.output}"


def run(args, model, function, inputs, examples):
    """Runs the model and prints the largest difference. More than the tolerance is a failure."""
    numpy = frontend.require("numpy", frontend.TVM)
    if args.check:
        arrays, expected = from_file(numpy, args, inputs)
    else:
        arrays = [examples[at] if at < len(examples) else generated(numpy, tensor, at) for at, tensor in enumerate(inputs)]
        expected = from_onnx_runtime(args, arrays)
    for tensor, array in zip(inputs, arrays):
        project.example(tensor, array)
    results = executed(numpy, model, function, arrays)
    if len(results) != len(expected):
        raise Failure(f"the model has {len(results)} results, and {len(expected)} are expected: {', '.join(expected)}")
    differences = [difference(numpy, name, result, expected[name]) for name, result in zip(expected, results)]
    for found in differences:
        print(f"difference   {quote.visible(found)}")
    worst = max(differences, key=lambda found: found.relative)
    if not worst.relative <= args.tolerance:
        raise Failure(f"the results differ by {worst}, more than --tolerance {args.tolerance:g}")


def names(args, inputs):
    """Returns the names of the inputs and of the outputs; models that are not ONNX do not name their outputs."""
    if args.file.suffix != ".onnx":
        return [tensor.name for tensor in inputs], None
    graph, constants = frontend.onnx_file(args.file).graph, dict(args.value)
    given = {weight.name for weight in graph.initializer} | {*constants}
    return [value.name for value in graph.input if value.name not in given], [value.name for value in graph.output]


def from_file(numpy, args, inputs):
    """Returns the inputs in a file, and the expected results in the order of the model's outputs."""
    try:
        with numpy.load(args.check) as file:
            arrays = dict(file)
    except (OSError, ValueError) as error:
        raise Failure(f"{args.check} cannot be read: {error}") from None
    wanted, outputs = names(args, inputs)
    lacking = [name for name in wanted if name not in arrays]
    if lacking:
        raise Failure(f"{args.check} has no array for the input {', '.join(lacking)}; it has: {', '.join(arrays)}")
    given = [arrays.pop(name) for name in wanted]
    outputs = outputs or [f"output_{at}" for at in range(len(arrays))]
    if not arrays or {*arrays} != {*outputs}:
        raise Failure(f"{args.check} has the results {', '.join(arrays) or 'of no output'}; the model's are: {', '.join(outputs) or 'output_0, output_1, …'}")
    return given, {name: arrays[name] for name in outputs}


def generated(numpy, tensor, at):
    """Returns an example of an input: the same random numbers each time; integers are 0 and 1, valid wherever they are indices."""
    random = numpy.random.default_rng(at)
    dtype = numpy.dtype(str(tensor.dtype))
    return (random.standard_normal(tensor.shape) if dtype.kind == "f" else random.integers(0, 2, tensor.shape)).astype(dtype)


def from_onnx_runtime(args, arrays):
    """Returns the results of ONNX Runtime for the file as it is."""
    numpy = frontend.require("numpy", frontend.TVM)
    runtime = frontend.require("onnxruntime", "pip install onnxruntime")
    if args.file.suffix != ".onnx":
        raise Failure(f"{args.file} is not an ONNX file: give expected results by --check")
    try:
        settings = runtime.SessionOptions()
        settings.log_severity_level = 3
        session = runtime.InferenceSession(str(args.file), settings, providers=["CPUExecutionProvider"])
        constants = dict(args.value)
        kinds = {value.name: DTYPES.get(value.type, "float32") for value in session.get_inputs()}
        feeds = {name: numpy.array(value, kinds[name]) for name, value in constants.items()}
        feeds |= zip([name for name in kinds if name not in constants], arrays)
        return dict(zip([value.name for value in session.get_outputs()], session.run(None, feeds)))
    except Exception as error:  # noqa: BLE001 - its classes are not public
        raise Failure(f"ONNX Runtime cannot run {args.file}: {str(error).strip().splitlines()[-1]}") from None


def executed(numpy, model, function, arrays):
    """Returns the results of the compiled model, which runs in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, outputs = (pathlib.Path(folder) / name for name in ("inputs.npz", "outputs.npz"))
        numpy.savez(inputs, **{f"input_{at}": array for at, array in enumerate(arrays)})
        command = [sys.executable, "-B", EXECUTION, library.file("relax"), model, function.name, inputs, outputs]
        outcome = subprocess.run(command, capture_output=True, text=True)
        if outcome.returncode:
            raise Failure(f"the model cannot be run: {(outcome.stderr.strip() or f'status {outcome.returncode}').splitlines()[-1]}")
        with numpy.load(outputs) as file:
            return list(file.values())


def difference(numpy, name, result, expected):
    """Compares two arrays; numbers that are not finite must be equal."""
    if result.shape != expected.shape:
        raise Failure(f"the output {name} has the shape {list(result.shape)}, and {list(expected.shape)} is expected")
    result, expected = result.astype(numpy.float64), expected.astype(numpy.float64)
    is_finite = numpy.isfinite(expected)
    if not numpy.array_equal(result[~is_finite], expected[~is_finite], equal_nan=True) or not numpy.isfinite(result[is_finite]).all():
        return Difference(name, numpy.inf, numpy.inf)
    absolute = abs(result - expected)[is_finite].max(initial=0)
    largest = abs(expected[is_finite]).max(initial=0)
    return Difference(name, absolute, absolute / largest if largest else absolute)
