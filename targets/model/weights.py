"""Weights from a file of safetensors for a model that a Python file describes."""

import frontend
from failure import Failure
from language.checkpoint import Checkpoint


def bind(model, spec, path):
    """Returns a `tvm.relax.frontend.nn.Module` as an IRModule with its weights as constants; without a file, as inputs."""
    from tvm import relax, runtime

    mod, parameters = model.export_tvm(spec)
    if path is None:
        for function in spec:
            # It exempts weights from the checks of inputs.
            mod[function] = mod[function].without_attr("num_input")
        return mod
    named = arrays(path, {name: (list(map(int, parameter.shape)), str(parameter.dtype)) for name, parameter in parameters})
    tensors = {name: runtime.tensor(array) for name, array in named.items()}
    for function in spec:
        mod = relax.transform.BindParams(function, tensors)(mod)
    return mod


def fill(model, path):
    """Gives a `torch.nn.Module` its weights; counters of integers stay."""
    torch = frontend.require("torch", frontend.TORCH)
    floats = {name: tensor for name, tensor in model.state_dict().items() if tensor.is_floating_point()}
    found = arrays(path, {name: (list(tensor.shape), "float32") for name, tensor in floats.items()})
    model.load_state_dict({name: torch.from_numpy(array) for name, array in found.items()}, strict=False)


def arrays(path, declared):
    """Returns the tensors of a file that a model declares by name, with shapes and types."""
    if not path.is_file():
        raise Failure(f"there is no file {path}")
    checkpoint = Checkpoint(path)
    if lacking := [name for name in declared if name not in checkpoint.entries]:
        raise Failure(f"{path} lacks the tensors {', '.join(lacking)}; it has: {', '.join(sorted(checkpoint.entries)) or 'none'}")
    for name, (shape, _) in declared.items():
        checkpoint.check(name, shape)
    return {name: checkpoint.tensor(name).astype(dtype) for name, (_, dtype) in declared.items()}
