"""Makes identifiers, and quotes names of models for C, the shell, Markdown, JavaScript and terminals: the only place that does.

Names come from files of others. What they say becomes text of a comment or of a literal, never code, and never a path.
"""

import re
import shlex
import unicodedata
from json import dumps

from failure import Failure

LONGEST = 64
"""Characters of a model's name, from which names of files are made."""

HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbit stdbool
stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype"""
"""Headers of C, which a model's own would hide."""

FILES = """board element ffi include inputs kernels main memory objects print results semihosting start tvm_ffi_model tvm_ffi_platform"""
"""Files and folders of a project and of the firmware's sources, without their suffixes."""

RESERVED = frozenset(f"{HEADERS} {FILES}".split())


def is_identifier(text):
    """Returns whether generated code may use a string as it is, in a name."""
    return re.fullmatch(r"[A-Za-z0-9_]+", text, re.ASCII) is not None


def is_model_name(text):
    """Returns whether a model may have the name: a C identifier of which no other file of the project, and no header of C, is named."""
    begins_well = re.match(r"[A-Za-z]", text) is not None
    return begins_well and is_identifier(text) and len(text) <= LONGEST and text.lower() not in RESERVED


def model_name(text):
    """Makes a name for a model from any string."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)
    return name if is_model_name(name) else f"model_{name}"[:LONGEST]


def checked_model_name(text):
    """Returns the name that the user chose."""
    if not is_model_name(text):
        raise Failure(
            f"a model cannot have the name {visible(text)!r}: use up to {LONGEST} letters, digits and underscores that begin with a letter, "
            "and no name of the project's files or of a header of C"
        )
    return text


def symbol(text):
    """Returns a part of a symbol's name, if code in C can have it."""
    if not is_identifier(text):
        raise Failure(f"the model calls a function whose name no code in C can have: {visible(text)!r}")
    return text


def visible(text):
    """Replaces characters that are not seen, or that change how a line is shown, by their numbers, such as `{U+202E}`."""
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return "".join(f"{{U+{ord(letter):04X}}}" if unicodedata.category(letter) in hidden else letter for letter in str(text))


def c_comment(text):
    """Returns a string for a comment in C."""
    return visible(text).replace("*/", "* /").replace("/*", "/ *")


def c_literal(text):
    """Returns a string literal of C."""

    def letter(byte):
        character = chr(byte)
        # A question mark may begin a trigraph.
        return f"\\{character}" if character in '"\\?' else character if 32 <= byte < 127 else f"\\{byte:03o}"

    return '"' + "".join(map(letter, str(text).encode(errors="surrogateescape"))) + '"'


def shell(text):
    """Returns a word of the shell."""
    return shlex.quote(str(text))


def json(value):
    """Returns a literal of JSON, JavaScript and TypeScript, in ASCII."""
    return dumps(value)


def markdown(text):
    """Returns a string for a code span of Markdown."""
    return visible(text).replace("`", "'")
