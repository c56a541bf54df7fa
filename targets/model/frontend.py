"""Imports a model into TVM: files of ONNX, PyTorch and TensorFlow Lite, and Python files that define one."""

import contextlib
import io
import logging
import runpy
import warnings
from unittest import mock

from failure import Failure

TVM = "pip install apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.15.post2 numpy"
ONNX, TORCH, TFLITE = "pip install onnx", "pip install torch", "pip install tflite"
SUFFIXES = (".onnx", ".pt2", ".tflite", ".py")
"""Names of the files end in one of these."""


def require(name, install):
    """Imports a module, or says how to install it."""
    try:
        return __import__(name, fromlist=["_"])
    except ImportError as error:
        raise Failure(f"the Python package {error.name or name} is missing: {install}") from None


def load(path, shapes, values, loops, weights=None):
    """Returns the model in a file as TVM's IRModule, with its weights.

    `shapes` has the shapes of inputs by their names, and `values` the constants that replace inputs. With `loops`, long
    recurrent operators become kernels for CPUs. `weights` is the file of a model that a Python file describes.
    """
    require("tvm", TVM)
    if weights and path.suffix != ".py":
        raise Failure(f"--weights is for models of Python files, and {path} is another file")
    if path.suffix == ".onnx":
        return from_onnx(onnx_file(path), shapes, values, loops)
    if values:
        raise Failure(f"--value is for ONNX models, and {path} is another file")
    if path.suffix == ".pt2":
        return from_torch(program_file(path), shapes)
    if path.suffix == ".tflite":
        return from_tflite(path, shapes)
    names = runpy.run_path(str(path))
    if "model" not in names:
        raise Failure(f"{path} defines no variable `model`: an IRModule, a torch.nn.Module with `example_inputs`, an nn.Module of tvm.relax.frontend with `spec`, or an ONNX model")
    if is_relax_network(names["model"]):
        return from_relax_network(path, names, weights)
    if weights:
        fill(path, names["model"], weights)
    return convert(path, names["model"], names.get("example_inputs"), shapes, values, loops)


def is_relax_network(model):
    from tvm.relax.frontend import nn

    return isinstance(model, nn.Module)


def from_relax_network(path, names, file):
    """Returns a `tvm.relax.frontend.nn.Module` as an IRModule. Without a file of weights, they stay inputs."""
    import weights

    if not isinstance(names.get("spec"), dict):
        raise Failure(f"{path} defines no variable `spec`: inputs of the model's functions, as `export_tvm` takes them")
    return imported(lambda: weights.bind(names["model"], names["spec"], file))


def fill(path, model, file):
    """Gives a `torch.nn.Module` the weights of a file."""
    import weights

    if "torch.Module" not in kinds(model):
        raise Failure(f"{path}: `model` is a {kinds(model)[0]}; --weights is for an nn.Module of tvm.relax.frontend or of torch")
    weights.fill(model, file)


def kinds(model):
    """Returns the names of a model's classes, each with its package."""
    return [f"{kind.__module__.split('.')[0]}.{kind.__name__}" for kind in type(model).__mro__]


def onnx_file(path):
    """Returns the ONNX model in a file, with the weights that it has in other files."""
    onnx = require("onnx", ONNX)
    try:
        return onnx.load(path)
    except Exception as error:  # noqa: BLE001 - protobuf's classes depend on its version
        raise Failure(f"{path} is not a readable ONNX model: {error}") from None


def convert(path, model, examples, shapes, values, loops):
    import tvm

    if isinstance(model, tvm.IRModule):
        return model
    classes = kinds(model)
    if "onnx.ModelProto" in classes:
        return from_onnx(model, shapes, values, loops)
    if "torch.Module" in classes:
        if examples is None:
            raise Failure(f"{path} defines no variable `example_inputs`: a tuple of tensors with the shapes of the model's inputs")
        torch = require("torch", TORCH)
        model = torch.export.export(model.eval(), tuple(examples))
        classes.append("torch.ExportedProgram")
    if "torch.ExportedProgram" in classes:
        return from_torch(model, shapes)
    raise Failure(f"{path}: `model` is a {classes[0]}, not an IRModule, a torch.nn.Module or an ONNX model")


def program_file(path):
    """Returns the program that `torch.export.save` wrote."""
    torch = require("torch", TORCH)
    # It logs a traceback of each way to read the file.
    logging.getLogger("torch.export").setLevel(logging.ERROR)
    try:
        return torch.export.load(path)
    except Exception as error:  # noqa: BLE001 - errors of zip files, pickle and JSON
        raise Failure(f"{path} is not a readable program of torch.export: {error}") from None


def from_tflite(path, shapes):
    tflite = require("tflite", TFLITE)
    from tvm.relax.frontend.tflite import from_tflite

    data = path.read_bytes()
    if data[4:8] != b"TFL3":
        raise Failure(f"{path} is not a readable TensorFlow Lite model")
    return imported(lambda: from_tflite(tflite.Model.GetRootAsModel(data, 0), shape_dict=shapes))


def from_torch(program, shapes):
    import static_shapes
    from tvm.relax.frontend.torch import from_exported_program

    mod = imported(lambda: from_exported_program(program, unwrap_unit_return_tuple=True))
    return static_shapes.fixed(mod, shapes)


def from_onnx(model, shapes, values, loops):
    require("onnx", ONNX)
    import onnx_graph
    import outputs
    from onnx_graph import recurrent
    from recurrence import Recurrence
    from tvm.relax.frontend.onnx import from_onnx, onnx_frontend

    converters = onnx_frontend._get_convert_map() | ({recurrent.LOOP: Recurrence} if loops else {})
    model = onnx_graph.prepared(model, shapes, values, {*converters, "If", "Constant"})
    convert, node = onnx_frontend.ONNXGraphImporter._convert_operator, []

    def noted(importer, operator, inputs, attributes, version):
        node[:] = operator, attributes["tvm_custom"]["name"]
        return convert(importer, operator, inputs, attributes, version)

    with (
        mock.patch.object(onnx_frontend.ONNXGraphImporter, "_convert_operator", noted),
        mock.patch.object(onnx_frontend, "_get_convert_map", lambda: converters),
    ):
        mod = imported(lambda: from_onnx(model), node)
    return outputs.rename(mod, [output.name for output in model.graph.output])


def imported(convert, node=()):
    """Returns the result of a conversion. Failures name the operator and the node in `node`."""
    try:
        # TVM prints the operands of an operator that it cannot convert, and warns of inputs that it
        # renames.
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return convert()
    except Failure:
        raise
    except Exception as error:  # noqa: BLE001 - TVM raises errors of many classes
        place = "the operator {} (node {})".format(*node) if node else "the model"
        raise Failure(f"TVM cannot import {place}: {(str(error).strip() or type(error).__name__).splitlines()[-1]}") from error
