"""Tokenizers whose tokens are bytes, which firmware has as tables."""

import json

from failure import Failure


def alphabet():
    """Returns the characters that stand for bytes in a byte-level tokenizer, in the order of the bytes."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(256 + others.index(byte)) for byte in range(256)]


def tokens(path, vocab):
    """Returns the token of each byte in a `tokenizer.json`; -1 for bytes without one."""
    try:
        tokenizer = json.loads(path.read_text())
        model = tokenizer["model"]
        table, merges = dict(model["vocab"]), list(model.get("merges") or [])
        kind = (tokenizer.get("pre_tokenizer") or {}).get("type")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Failure(f"{path} is not a tokenizer of Hugging Face's: {type(error).__name__}: {error}") from None
    if model.get("type") != "BPE" or kind != "ByteLevel" or merges:
        raise Failure(f"{path} is not a byte-level tokenizer without merges: firmware has a table of bytes in place of a tokenizer")
    found = [table.get(character, -1) for character in alphabet()]
    wrong = next((token for token in found if not isinstance(token, int) or not -1 <= token < vocab), None)
    if wrong is not None:
        raise Failure(f"{path} has the token {wrong}, and the model has {vocab}")
    return found
