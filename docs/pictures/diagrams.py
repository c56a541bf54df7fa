"""Diagrams of the ABI: records in memory, the life of a call, a module, a launch."""

from picture import Picture


def languages():
    picture = Picture("One call between languages: programs on the left, Ferrite in the middle, what they call on the right", 760, 330)
    picture.text(110, 28, "programs in", "head", "middle")
    for place, name in enumerate(["Python", "C", "C++", "Rust"]):
        picture.label(40, 42 + place * 46, 140, 34, [name])
        picture.arrow((180, 59 + place * 46), (278, 59 + place * 46))
    picture.text(229, 52, "f(x, y)", "mono", "middle")
    picture.box(280, 42, 200, 172, "header")
    picture.text(380, 66, "Ferrite", "head", "middle")
    for place, line in enumerate(["libtvm_ffi", "int f(self, args, n, result)"]):
        picture.text(380, 84 + place * 18, line, "mono", "middle")
    for place, line in enumerate(["values with a type,", "functions by name,", "tensors without a copy,", "errors that cross languages"]):
        picture.text(380, 132 + place * 18, line, "", "middle")
    picture.text(650, 28, "call", "head", "middle")
    for place, name in enumerate(["kernels in C, C++, Rust", "functions in Python", "kernels on GPUs", "models compiled by TVM"]):
        picture.arrow((480, 59 + place * 46), (558, 59 + place * 46))
        picture.label(560, 42 + place * 46, 180, 34, [name])
    picture.text(40, 262, "the same library on", "head")
    for place, (name, size) in enumerate([("Linux hosts", "libtvm_ffi.so"), ("microcontrollers", "from 2 KiB of flash"), ("WebAssembly", "libtvm_ffi.a")]):
        picture.label(40 + place * 240, 272, 220, 44, [name, size])
    return picture


def objects():
    picture = Picture("Two values: an int, and an Array of two elements as an object", 760, 330)
    picture.record(50, 50, 230, "TVMFFIAny: the int 7", [(0, "type_index: i32 = 1", "box"), (4, "zero", "box"), (8, "v_int64 = 7", "box")])
    picture.record(50, 170, 230, "TVMFFIAny: an Array", [(0, "type_index: i32 = 71", "box"), (4, "zero", "box"), (8, "v_obj", "box")])
    picture.record(440, 50, 280, "the object", [
        (0, "strong count u32, weak count u32", "header"), (8, "type_index: i32 = 71", "header"), (12, "zero", "header"),
        (16, "deleter(self, flags)", "header"), (24, "data", "box"), (32, "size = 2", "box"), (40, "capacity = 4", "box"),
        (48, "data_deleter = null", "box"), (56, "element 0: TVMFFIAny", "box"), (72, "element 1: TVMFFIAny", "box"),
        (88, "room for two more", "free"),
    ])
    picture.arrow((280, 225), (360, 225), (360, 61), (418, 61))
    picture.arrow((720, 149), (742, 149), (742, 237), (722, 237))
    picture.text(50, 270, "Values are copied; counts say who owns.", "small")
    picture.text(50, 288, "Blue: the header, which every object has.", "small")
    return picture


def call():
    picture = Picture("The life of a call: argument cells, the safe call of a function object, result or raised error", 760, 330)
    picture.label(20, 40, 190, 70, ["caller", "packs values into", "an array of TVMFFIAny"])
    picture.label(280, 40, 200, 70, ["TVMFFIFunctionCall", "checks the handle,", "jumps to safe_call"], "header")
    picture.label(550, 40, 190, 70, ["callee", "converts the arguments,", "runs its body"])
    picture.arrow((210, 75), (278, 75))
    picture.text(216, 68, "args, n", "small")
    picture.arrow((480, 75), (548, 75))
    picture.label(550, 170, 190, 50, ["success", "writes *result, returns 0"])
    picture.label(280, 250, 200, 60, ["this thread's slot", "holds the raised Error"], "header")
    picture.label(550, 250, 190, 60, ["failure", "raises an Error,", "returns -1"])
    picture.arrow((615, 110), (615, 168))
    picture.arrow((728, 110), (728, 160), (750, 160), (750, 280), (742, 280))
    picture.arrow((548, 280), (482, 280))
    picture.arrow((548, 195), (115, 195), (115, 112))
    picture.text(250, 188, "the caller owns the result", "small")
    picture.arrow((278, 280), (60, 280), (60, 112))
    picture.text(76, 273, "TVMFFIErrorMoveFromRaised", "small")
    return picture


def maps():
    picture = Picture("The two layouts of maps: up to four entries in a row, more in blocks with chains", 760, 330)
    picture.record(60, 50, 250, "small: up to four entries", [
        (0, "header", "header"), (24, "data", "box"), (32, "size = 2", "box"), (40, "slots = 1<<63 | capacity", "box"),
        (48, "data_deleter", "box"), (56, "key 0, value 0", "box"), (88, "key 1, value 1", "box"), (120, "room", "free"),
    ])
    picture.text(60, 250, "Found by comparing one key after the other.", "small")
    picture.text(60, 268, "The fifth entry changes the layout.", "small")
    picture.record(420, 50, 250, "dense: five entries and more", [
        (0, "header", "header"), (24, "data", "box"), (32, "size", "box"), (40, "slots = power of two", "box"),
        (48, "data_deleter", "box"), (56, "shift; first and last entry", "box"),
    ])
    picture.text(420, 214, "a block of 16 slots", "head")
    for slot in range(8):
        kind = "free" if slot in (2, 5) else "header" if slot in (1, 4) else "box"
        picture.box(420 + slot * 38, 222, 34, 22, kind)
        picture.box(420 + slot * 38, 248, 34, 36, kind)
    picture.text(382, 238, "meta", "small")
    picture.text(382, 270, "items", "small")
    picture.arrow((475, 284), (475, 302), (589, 302), (589, 286))
    picture.text(420, 322, "blue: one chain, which begins at the home slot of its hash", "small")
    picture.arrow((670, 83), (736, 83), (736, 233), (724, 233))
    return picture


def module():
    picture = Picture("A compiled library: its symbols, the embedded tree of modules, and what the loader makes of them", 760, 340)
    picture.text(20, 28, "lib.so", "head")
    picture.box(20, 38, 330, 282, "free")
    picture.label(36, 52, 298, 34, ["__tvm_ffi_NAME: a function each"])
    picture.label(36, 94, 298, 34, ["its __tvm_ffi__doc_… and __tvm_ffi__metadata_…"])
    picture.label(36, 136, 298, 34, ["__tvm_ffi__library_ctx: a pointer"], "header")
    picture.text(36, 196, "__tvm_ffi__library_bin", "mono")
    for number, words in enumerate(["length", "import tree: rows, children", '"_lib"', '"cuda", its payload']):
        picture.box(36, 204 + number * 26, 298, 24)
        picture.text(46, 220 + number * 26, words, "mono")
    picture.text(440, 28, "after loading", "head")
    picture.label(440, 60, 290, 56, ["ffi.Module of the library", "finds NAME by dlsym"])
    picture.label(440, 200, 290, 56, ["ffi.Module, kind cuda", "kernels by name, loaded at the first launch"])
    picture.arrow((585, 116), (585, 198))
    picture.text(594, 160, "imports", "small")
    picture.arrow((440, 100), (400, 100), (400, 153), (336, 153))
    picture.arrow((334, 294), (400, 294), (400, 228), (438, 228))
    picture.text(440, 290, "ffi.Module.load_from_bytes.cuda", "mono")
    picture.text(440, 308, "makes a module of the payload.", "small")
    return picture


def launch():
    picture = Picture("The launch of a GPU kernel: host code, the plan of the kernel's arguments, the driver", 760, 250)
    steps = [
        ("host code", "__tvm_ffi_layer in lib.so"),
        ("kernel function", "of the device module"),
        ("plan", "arguments, grid, block"),
        ("driver", "libcuda, libOpenCL, ..."),
    ]
    for number, (title, words) in enumerate(steps):
        picture.label(16 + number * 186, 40, 166, 60, [title, words], "header" if number == 2 else "box")
        if number:
            picture.arrow((16 + number * 186 - 20, 70), (14 + number * 186, 70))
    picture.label(202, 150, 166, 60, ["first launch only", "opens the driver,", "loads the module"])
    picture.arrow((285, 100), (285, 148))
    picture.label(388, 150, 352, 60, ["every other launch", "no lock, no allocation, no lookup"])
    picture.arrow((471, 100), (471, 148))
    return picture


DIAGRAMS = {"languages": languages, "objects": objects, "call": call, "maps": maps, "module": module, "launch": launch}
