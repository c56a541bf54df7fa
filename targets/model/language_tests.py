#!/usr/bin/env python3
"""Tests of language models in `ferrite model` that need neither TVM nor numpy. Prints the sum at the end."""

import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import targets
import weights
from failure import Failure
from language import bert, byte_tokens, chat, description, options, parameters
from language.checkpoint import Checkpoint

HERE = pathlib.Path(__file__).resolve().parent
CONFIG = {
    "model_type": "llama",
    "hidden_size": 8,
    "intermediate_size": 12,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "vocab_size": 16,
    "eos_token_id": [1, 2],
}


def file(table, data=b""):
    text = json.dumps(table).encode() if isinstance(table, dict) else table
    return len(text).to_bytes(8, "little") + text + data


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        (self.folder / name).write_bytes(content)


class ByteTokens(Folder):
    def written(self, vocab=None, **more):
        vocab = {character: byte for byte, character in enumerate(byte_tokens.alphabet())} if vocab is None else vocab
        self.write("tokenizer.json", {"pre_tokenizer": {"type": "ByteLevel"}, "model": {"type": "BPE", "vocab": vocab, "merges": []} | more})
        return self.folder / "tokenizer.json"

    def refused(self, message, vocab=None, **more):
        with self.assertRaisesRegex(Failure, message):
            byte_tokens.tokens(self.written(vocab, **more), 256)

    def test_each_byte_has_its_token(self):
        self.assertEqual(byte_tokens.tokens(self.written(), 256), list(range(256)))
        small = targets.ROOT / "tests/programs/llm/small/tokenizer.json"
        self.assertEqual(byte_tokens.tokens(small, 256), list(range(256)))

    def test_bytes_without_a_token_have_none(self):
        found = byte_tokens.tokens(self.written({"a": 7, "\u0120": 3}), 8)
        self.assertEqual((found[ord("a")], found[ord(" ")], found[ord("b")]), (7, 3, -1))

    def test_other_tokenizers_are_refused(self):
        self.refused("without merges", merges=["a b"])
        self.refused("without merges", type="WordPiece")
        self.refused("has the token 256, and the model has 256", {"a": 256})
        self.refused("has the token -2", {"a": -2})
        self.refused("is not a tokenizer", ["a"])
        self.write("tokenizer.json", [])
        with self.assertRaisesRegex(Failure, "is not a tokenizer"):
            byte_tokens.tokens(self.folder / "tokenizer.json", 256)


class BoardOptions(unittest.TestCase):
    ARGUMENTS = {"quantization": None, "context": 64, "prefill_chunk": None, "batch": None, "conversation": None, "cpu": None, "mode": "bytecode"}

    def chosen(self, **more):
        return options.choose_board(types.SimpleNamespace(**self.ARGUMENTS | more), description.described(CONFIG))

    def test_a_step_has_one_token(self):
        found = self.chosen()
        self.assertEqual((found.bits, found.dtype, found.context, found.chunk, found.batch), (4, "float32", 64, 1, 1))
        self.assertEqual(self.chosen(quantization="none").bits, 32)

    def test_options_of_hosts_are_refused(self):
        for more in ({"batch": 16}, {"prefill_chunk": 1}, {"cpu": "x86-64-v3"}, {"conversation": "LM"}, {"mode": "compiled"}, {"quantization": "f16"}):
            with self.assertRaisesRegex(Failure, "is for hosts and GPUs"):
                self.chosen(**more)
        with self.assertRaisesRegex(Failure, "--context 0 is not from 1"):
            self.chosen(context=0)


class Descriptions(unittest.TestCase):
    def refused(self, message, **more):
        config = {key: value for key, value in (CONFIG | more).items() if value is not None}
        with self.assertRaisesRegex(Failure, message):
            description.described(config)

    def test_sizes_have_their_defaults(self):
        found = description.described(CONFIG)
        self.assertEqual((found.kv_heads, found.head, found.qkv_rows, found.theta), (2, 4, 24, 10000.0))
        self.assertEqual((found.eos, found.bos, found.tied, found.qkv_bias, found.window), ((1, 2), None, False, False, None))

    def test_families_differ(self):
        self.assertTrue(description.described(CONFIG | {"model_type": "qwen2"}).qkv_bias)
        self.assertIsNone(description.described(CONFIG | {"model_type": "qwen2", "sliding_window": 64}).window)
        self.assertEqual(description.described(CONFIG | {"model_type": "mistral", "sliding_window": 64}).window, 64)

    def test_rotary_positions_are_read_from_either_place(self):
        scaling = {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192}
        old = description.described(CONFIG | {"rope_theta": 500000.0, "rope_scaling": scaling})
        new = description.described(CONFIG | {"rope_parameters": scaling | {"rope_theta": 500000.0}})
        self.assertEqual((old.theta, old.scaling), (500000.0, scaling))
        self.assertEqual((new.theta, new.scaling), (old.theta, old.scaling))
        self.refused("'llama3' lack factor, low_freq_factor", rope_scaling={"type": "llama3", "high_freq_factor": 4, "original_max_position_embeddings": 1})

    def test_what_is_not_supported_is_named(self):
        self.refused(r"model_type 'gpt2' \(GPT2LMHeadModel\) is not supported; supported are: llama, mistral, qwen2", model_type="gpt2", architectures=["GPT2LMHeadModel"])
        self.refused("model_type None", model_type=None)
        self.refused("lacks hidden_size", hidden_size=None)
        self.refused("vocab_size is '16', not a positive integer", vocab_size="16")
        self.refused("hidden_size 9 is not a multiple", hidden_size=9)
        self.refused("head_dim 3 is odd", head_dim=3)
        self.refused("hidden_act 'gelu' is not supported", hidden_act="gelu")
        self.refused("mlp_bias is not supported", mlp_bias=True)
        self.refused("partial_rotary_factor 0.5", partial_rotary_factor=0.5)
        self.refused(r"quantised already \(gptq\)", quantization_config={"quant_method": "gptq"})
        self.refused("rms_norm_eps is '1e-5', not a number", rms_norm_eps="1e-5")


class Encoders(Folder):
    CONFIG = {"model_type": "bert", "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 12, "vocab_size": 16}

    def test_rows_of_queries_keys_and_values_are_one_matrix(self):
        found = bert.parameters(bert.described(self.CONFIG))
        self.assertEqual([name for name, _ in found["layers.0.qkv.bias"]], [f"encoder.layer.0.attention.self.{name}.bias" for name in ("query", "key", "value")])
        self.assertEqual(found["embeddings.position.weight"], [("embeddings.position_embeddings.weight", (512, 8))])

    def test_what_is_not_supported_is_named(self):
        for message, more in (
            ("hidden_act 'relu' is not supported, only gelu", {"hidden_act": "relu"}),
            ("position_embedding_type 'relative_key' is not supported", {"position_embedding_type": "relative_key"}),
            ("hidden_size 9 is not a multiple of num_attention_heads 2", {"hidden_size": 9}),
        ):
            with self.assertRaisesRegex(Failure, message):
                bert.described(self.CONFIG | more)

    def test_vectors_are_means_over_tokens(self):
        bert.check_pooling(self.folder)
        (self.folder / "1_Pooling").mkdir()
        self.write("1_Pooling/config.json", {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False})
        bert.check_pooling(self.folder)
        self.write("1_Pooling/config.json", {"pooling_mode_cls_token": True})
        with self.assertRaisesRegex(Failure, "pooling_mode_cls_token is not supported, only pooling_mode_mean_tokens"):
            bert.check_pooling(self.folder)


class Checkpoints(Folder):
    def refused(self, message):
        with self.assertRaisesRegex(Failure, message):
            Checkpoint(self.folder)

    def test_files_of_other_kinds_are_refused(self):
        self.refused("has no file model.safetensors")
        for content, message in (
            (b"", "not a complete file"),
            ((1 << 60).to_bytes(8, "little") + b"{}", "not a complete file"),
            (file(b"[1]"), "not a file of safetensors"),
            (file({"x": {"dtype": "F32"}}), "not a file of safetensors"),
            (file({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, b"1234"), "the tensor x has other bytes"),
            (file({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}), "the tensor x has other bytes"),
            (file({"x": {"dtype": "F32", "shape": [-1, -1], "data_offsets": [-4, 0]}}, b"1234"), "the tensor x has other bytes"),
        ):
            self.write("model.safetensors", content)
            self.refused(message)

    def test_shards_stay_in_their_folder(self):
        self.write("model.safetensors.index.json", {"weight_map": {"x": "../../etc/passwd"}})
        self.refused("names files outside of its folder")
        self.write("model.safetensors.index.json", {"weight_map": {"x": "a.safetensors"}})
        self.refused("has no file a.safetensors")
        self.write("model.safetensors.index.json", [])
        self.refused("cannot be read")

    def test_a_tensor_in_two_shards_is_refused(self):
        entry = {"x": {"dtype": "F16", "shape": [1], "data_offsets": [0, 2]}}
        for name in ("a.safetensors", "b.safetensors"):
            self.write(name, file(entry, b"12"))
        self.write("model.safetensors.index.json", {"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}})
        self.refused("the tensor x is in two files: a.safetensors and b.safetensors")

    def test_a_file_has_the_tensors_that_a_model_declares(self):
        path = self.folder / "some.safetensors"
        for content, declared, message in (
            (None, {}, "no file .*some.safetensors"),
            (file({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}), {}, "the tensor x has other bytes"),
            (file({}), {"x": ([1], "float32")}, "some.safetensors lacks the tensors x; it has: none"),
            (file({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"1234"), {"x": ([2], "float32")}, r"the shape \[1\], and the model means \[2\]"),
            (file({"x": {"dtype": "I8", "shape": [1], "data_offsets": [0, 1]}}, b"1"), {"x": ([1], "float32")}, "the data type I8"),
        ):
            if content is not None:
                self.write(path.name, content)
            with self.assertRaisesRegex(Failure, message):
                weights.arrays(path, declared)

    def test_tensors_are_those_of_the_description(self):
        sources = parameters.Sources(parameters.decoder(description.described(CONFIG)))
        shapes = dict(pair for pairs in sources.table.values() for pair in pairs)

        def check(shapes, dtype="I8"):
            at, table = 0, {}
            for name, shape in shapes.items():
                size = shape[0] * (shape[1] if len(shape) > 1 else 1)
                table[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size * (1 if dtype == "I8" else 2)]}
                at = table[name]["data_offsets"][1]
            self.write("model.safetensors", file(table, bytes(at)))
            sources.check(Checkpoint(self.folder))

        check(shapes, "BF16")
        check(shapes | {"model.layers.0.self_attn.rotary_emb.inv_freq": (4,)}, "F16")
        with self.assertRaisesRegex(Failure, "the tensor model.norm.bias is not part of the model"):
            check(shapes | {"model.norm.bias": (8,)}, "F16")
        with self.assertRaisesRegex(Failure, r"the tensor model.norm.weight has the shape \[9\], and config.json means \[8\]"):
            check(shapes | {"model.norm.weight": (9,)}, "F16")
        with self.assertRaisesRegex(Failure, "lacks the tensor lm_head.weight"):
            check({name: shape for name, shape in shapes.items() if name != "lm_head.weight"}, "F16")
        with self.assertRaisesRegex(Failure, "has the data type I8; weights are one of F64, F32, F16, BF16"):
            check(shapes)


class Options(Folder):
    def choose(self, decoder=None, **more):
        args = {"target": "host", "quantization": "f16", "context": None, "prefill_chunk": None, "batch": None}
        return options.choose(types.SimpleNamespace(**args | more), decoder or description.described(CONFIG))

    def test_sizes_are_limited_by_the_model(self):
        self.assertEqual((self.choose().context, self.choose().chunk), (2048, 512))
        self.assertEqual((self.choose(context=64).context, self.choose(context=64).chunk), (64, 64))
        window = description.described(CONFIG | {"model_type": "mistral", "sliding_window": 40})
        self.assertEqual(self.choose(window).context, 40)
        for message, more in (
            ("--context 41 is not from 1 to 40, the model's sliding window", {"decoder": window, "context": 41}),
            ("--context 0 is not", {"context": 0}),
            ("--prefill-chunk 65 is not from 1 to the context, 64", {"context": 64, "prefill_chunk": 65}),
            ("--batch 0 is not positive", {"batch": 0}),
            ("encoders are compiled for host, opencl, cuda, not for riscv32", {"target": "riscv32"}),
        ):
            with self.assertRaisesRegex(Failure, message):
                self.choose(**more)

    def test_quantisations_have_the_names_of_mlc(self):
        names = {name: self.choose(quantization=name).quantization for name in options.QUANTIZATIONS}
        self.assertEqual(names, {"none": "q0f32", "f16": "q0f16", "q4": "q4f32_1"})
        self.assertEqual(self.choose(quantization="q4", target="cuda").quantization, "q4f16_1")
        self.assertEqual(self.choose(quantization="q4", target="opencl").quantization, "q4f32_1")

    def test_conversations_come_from_the_chat_template(self):
        decoder = description.described(CONFIG)
        config = chat.config(self.folder, decoder, self.choose(), chat.template_of(self.folder))
        self.assertEqual((config["conv_template"]["name"], config["conv_template"]["stop_token_ids"]), ("LM", [1, 2]))
        self.write("tokenizer_config.json", {"chat_template": "{% for m in messages %}<|im_start|>..."})
        self.write("generation_config.json", {"temperature": 0.6, "eos_token_id": 7, "stop_strings": ["\n"]})
        config = chat.config(self.folder, decoder, self.choose(), chat.template_of(self.folder))
        self.assertEqual(config["conv_template"]["name"], "chatml")
        self.assertEqual(config["conv_template"]["stop_str"], ["<|im_end|>", "\n"])
        self.assertEqual((config["eos_token_id"], config["temperature"], config["tokenizer_files"]), ([7], 0.6, ["tokenizer_config.json"]))

    def test_the_tokenizer_says_how_tokens_become_strings(self):
        names = ("token_postproc_method", "prepend_space_in_encode", "strip_space_in_decode")
        spaces = {"normalizer": {"type": "Prepend"}, "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Strip"}]}}
        for tokenizer, expected in (
            ({}, ("raw", False, False)),
            ({"decoder": {"type": "ByteLevel"}}, ("byte_level", False, False)),
            (spaces, ("byte_fallback", True, True)),
        ):
            self.write("tokenizer.json", tokenizer)
            self.assertEqual(chat.tokenizer_info(self.folder), dict(zip(names, expected)))


class Command(Folder):
    def fails(self, message, *arguments):
        # Without the packages of the user, such as TVM.
        command = [sys.executable, "-I", "-S", "-B", str(HERE), str(self.folder), *arguments]
        with tempfile.TemporaryDirectory() as folder:
            outcome = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])
        self.assertNotEqual(outcome.returncode, 0)
        self.assertRegex(outcome.stderr, message)
        self.assertNotIn("Traceback", outcome.stderr)

    def test_mistakes_are_explained(self):
        self.fails("config.json cannot be read", "--target", "host")
        self.write("config.json", CONFIG)
        self.fails("there is no target riscv", "--target", "riscv")
        self.fails("--batch is for hosts and GPUs", "--target", "riscv32", "--batch", "2")
        self.fails("run on WebLLM, which needs WebGPU: give --target web,webgpu", "--target", "web")
        self.fails("--batch is for hosts and GPUs: WebLLM has one conversation", "--target", "web,webgpu", "--batch", "2")
        self.fails("--quantization f16 is for hosts and GPUs, since not every browser", "--target", "web,webgpu", "--quantization", "f16")
        self.fails("has no file tokenizer.json", "--target", "host")
        self.write("tokenizer.json", {})
        self.fails("has no file model.safetensors", "--target", "host")
        self.fails("invalid choice: 'q3'", "--target", "host", "--quantization", "q3")
        tensors = {name: shape for pairs in parameters.Sources(parameters.decoder(description.described(CONFIG))).table.values() for name, shape in pairs}
        table, at = {}, 0
        for name, shape in tensors.items():
            end = at + 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)
            table[name] = {"dtype": "F16", "shape": shape, "data_offsets": [at, end]}
            at = end
        self.write("model.safetensors", file(table, bytes(at)))
        self.fails("package tvm is missing: pip install apache-tvm", "--target", "host")
        self.fails("tokenizer.json is not a tokenizer", "--target", "riscv32")


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=1).result
    failed = len(outcome.failures) + len(outcome.errors)
    print(f"language: {outcome.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
