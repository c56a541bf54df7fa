# A JSON graph whose List is its own element: 85 bytes of input. Upstream's stack overflows.
# upstream: signal 11
# ours: ValueError: Invalid JSON Object Graph: node 0 contains itself
import tvm_ffi

graph = '{"root_index": 0, "nodes": [{"type": "ffi.List", "data": [0]}]}'
tvm_ffi.serialization.from_json_graph_str(graph)
