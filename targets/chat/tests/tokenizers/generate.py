"""Writes small tokenizers, and the tokens that the Python package `tokenizers` makes of strings.

    pip install tokenizers==0.23.3 && python3 generate.py
"""

import json
import pathlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPECIAL = [AddedToken("<|start|>", special=True), AddedToken("<|end|>", special=True)]
TEXTS = [
    "", " ", "  ", "hello", "Hello, world!", "hello  world", " leading and trailing ", "tabs\tand\nlines\r\n\n\nend\n", "don't we'LL they'd",
    "1234567890 3.14", "naïve café — “quoted”", "cafe\u0301 ﬁ Å", "日本語のテキスト", "emoji 😀👩‍👩‍👧 done", "<|start|>user\nhi<|end|>", "a<|end|><|end|> b", "  <|start|>  x",
    "fn main() {\n    println!(\"{}\", 1 + 2);\n}\n", "the cache of the library has pages of tensors", "a" * 50, "ababababab abcabcabc", "\u0000\u0001\u007f", "Ġ ▁ <0x41>",
]


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}


def gpt2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}


def fallback(tokenizer):
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return tokenizer, {"special_tokens": ["<unk>"] + [f"<0x{byte:02X}>" for byte in range(256)]}


def llama2():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return fallback(tokenizer)


def metaspace():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    return fallback(tokenizer)


def split_metaspace():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(prepend_scheme="always"), pre_tokenizers.Digits(individual_digits=True)])
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, {"special_tokens": ["<unk>"]}


def train(make):
    tokenizer, options = make()
    options = {"special_tokens": []} | options
    text = [(ROOT / name).read_text() for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    # Without a limit a word may be a whole text where nothing splits it.
    lines = [line for part in text for line in part.splitlines(keepends=True)]
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=700, show_progress=False, max_token_length=12, **options))
    # The trainer makes its special tokens added ones; those of bytes are none in published models.
    data = json.loads(tokenizer.to_str())
    data["added_tokens"] = [token for token in data["added_tokens"] if not token["content"].startswith("<0x")]
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.add_special_tokens(SPECIAL)
    return tokenizer


def main():
    expected = {}
    for make in (byte_level, gpt2, llama2, metaspace, split_metaspace):
        tokenizer = train(make)
        (HERE / f"{make.__name__}.json").write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":")) + "\n")
        encoded = [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS]
        expected[make.__name__] = [{"text": text, "tokens": ids, "decoded": tokenizer.decode(ids)} for text, ids in zip(TEXTS, encoded)]
    (HERE / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=0) + "\n")


if __name__ == "__main__":
    main()
