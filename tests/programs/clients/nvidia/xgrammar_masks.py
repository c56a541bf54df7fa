"""Test XGrammar's masks on a GPU: tokens that a grammar forbids get no probability, in a batch, until it ends; bad input."""

import json

import ferrite_tvm_ffi  # noqa: F401
import torch
import xgrammar

VOCABULARY = [*map(chr, range(32, 127)), "</s>"]
END = len(VOCABULARY) - 1
SCHEMA = '{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"]}'


def decode(batch):
    """Write strings token by token, the most probable one that the grammar allows; return them."""
    tokens = xgrammar.TokenizerInfo(VOCABULARY, stop_token_ids=[END])
    grammar = xgrammar.GrammarCompiler(tokens).compile_json_schema(SCHEMA, any_whitespace=False)
    matchers = [xgrammar.GrammarMatcher(grammar) for _ in range(batch)]
    mask, texts = xgrammar.allocate_token_bitmask(batch, len(VOCABULARY)), [""] * batch
    preferred = torch.randn(batch, len(VOCABULARY), device="cuda")
    preferred[:, VOCABULARY.index('"')] += 1  # so that strings end
    while not all(one.is_terminated() for one in matchers):
        for at, matcher in enumerate(matchers):
            if not matcher.is_terminated():
                matcher.fill_next_token_bitmask(mask, at)
        logits = preferred + torch.randn_like(preferred)
        xgrammar.apply_token_bitmask_inplace(logits, mask.cuda())
        for at, token in enumerate(logits.argmax(-1).tolist()):
            if not matchers[at].is_terminated():
                assert matchers[at].accept_token(token), (texts[at], VOCABULARY[token])
                texts[at] += VOCABULARY[token] if token != END else ""
    return texts


def bad_input():
    try:
        xgrammar.Grammar.from_ebnf("root ::= other")
    except RuntimeError as error:
        assert "other" in str(error), error
    else:
        raise AssertionError("a grammar without its rule was accepted")


torch.manual_seed(0)
for text in decode(4):
    assert {"name", "age"} <= json.loads(text).keys(), text
bad_input()
print("ok xgrammar")
