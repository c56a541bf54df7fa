"""Writes `mlc-chat-config.json`: how programs talk with a model."""

import json

from failure import Failure

CONVERSATIONS = {
    "LM": {},
    "chatml": {
        "system_template": "<|im_start|>system\n{system_message}<|im_end|>\n",
        "system_message": "You are a helpful assistant.",
        "roles": {"user": "<|im_start|>user", "assistant": "<|im_start|>assistant"},
        "seps": ["<|im_end|>\n"],
        "role_content_sep": "\n",
        "role_empty_sep": "\n",
        "stop_str": ["<|im_end|>"],
    },
    "llama-3": {
        "system_template": "<|start_header_id|>system<|end_header_id|>\n\n{system_message}<|eot_id|>",
        "system_message": "You are a helpful assistant.",
        "roles": {"user": "<|start_header_id|>user", "assistant": "<|start_header_id|>assistant"},
        "seps": ["<|eot_id|>"],
        "role_content_sep": "<|end_header_id|>\n\n",
        "role_empty_sep": "<|end_header_id|>\n\n",
        "stop_str": ["<|eot_id|>"],
    },
    "mistral_default": {
        "system_template": "[INST] {system_message}",
        "roles": {"user": "[INST]", "assistant": "[/INST]"},
        "seps": [" ", "</s>"],
        "role_content_sep": " ",
        "add_role_after_system_message": False,
    },
    "llama-2": {
        "system_template": "[INST] <<SYS>>\n{system_message}\n<</SYS>>\n\n",
        "roles": {"user": "[INST]", "assistant": "[/INST]"},
        "seps": [" ", " </s>"],
        "role_content_sep": " ",
        "add_role_after_system_message": False,
    },
}
"""Conversations by MLC-LLM's names, with what differs from plain continuation, `LM`."""
MARKS = (("<|start_header_id|>", "llama-3"), ("<|im_start|>", "chatml"), ("<<SYS>>", "llama-2"), ("[INST]", "mistral_default"))
"""Pieces of chat templates of Hugging Face, each with the conversation that it shows."""
PLAIN = {
    "system_template": "{system_message}",
    "system_message": "",
    "add_role_after_system_message": True,
    "roles": {"user": "", "assistant": ""},
    "role_templates": {"user": "{user_message}", "assistant": "{assistant_message}", "tool": "{tool_message}"},
    "messages": [],
    "seps": [""],
    "role_content_sep": "",
    "role_empty_sep": "",
    "stop_str": [],
    "function_string": "",
    "use_function_calling": False,
}
TOKENIZERS = ("tokenizer.json", "tokenizer_config.json")


def optional(path):
    """Returns a JSON object in a file that need not exist."""
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text())
    except ValueError as error:
        raise Failure(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise Failure(f"{path} is not a JSON object")
    return value


def tokenizer_files(folder):
    return [name for name in TOKENIZERS if (folder / name).is_file()]


def template_of(folder):
    """Returns the name of the conversation that the tokenizer's chat template shows; `LM` without one."""
    template = optional(folder / "tokenizer_config.json").get("chat_template") or ""
    if (folder / "chat_template.jinja").is_file():
        template = (folder / "chat_template.jinja").read_text()
    return next((name for mark, name in MARKS if mark in str(template)), "LM")


def tokenizer_info(folder):
    """Returns how tokens become strings, which grammars of replies need."""
    tokenizer = optional(folder / "tokenizer.json")
    parts = {name: json.dumps(tokenizer.get(name)) for name in ("normalizer", "pre_tokenizer", "decoder")}
    method = "byte_level" if "ByteLevel" in parts["decoder"] else "byte_fallback" if "ByteFallback" in parts["decoder"] else "raw"
    return {
        "token_postproc_method": method,
        "prepend_space_in_encode": any(word in parts[name] for name in ("normalizer", "pre_tokenizer") for word in ('"Prepend"', '"Metaspace"')),
        "strip_space_in_decode": any(word in parts["decoder"] for word in ('"Strip"', '"Metaspace"')),
    }


def config(folder, description, options, name):
    """Returns the content of `mlc-chat-config.json`."""
    generation = optional(folder / "generation_config.json")
    end = generation.get("eos_token_id", list(description.eos))
    end = [end] if isinstance(end, int) else list(end or [])
    begin = [] if description.bos is None else [description.bos]
    conversation = PLAIN | {"name": name, "system_prefix_token_ids": begin, "stop_token_ids": end} | CONVERSATIONS[name]
    stops = generation.get("stop_strings") or []
    conversation["stop_str"] = conversation["stop_str"] + ([stops] if isinstance(stops, str) else stops)
    metadata = options.metadata(description)
    sizes = ("context_window_size", "sliding_window_size", "prefill_chunk_size", "attention_sink_size", "tensor_parallel_shards")
    return {
        "version": "0.1.0",
        "model_type": description.kind,
        "quantization": options.quantization,
        "model_config": model_config(description) | {size: metadata[size] for size in sizes} | {"max_batch_size": options.batch},
        "vocab_size": description.vocab,
        **{size: metadata[size] for size in sizes},
        "temperature": generation.get("temperature", 1.0),
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "repetition_penalty": generation.get("repetition_penalty", 1.0),
        "top_p": generation.get("top_p", 1.0),
        "tokenizer_files": tokenizer_files(folder),
        "tokenizer_info": tokenizer_info(folder),
        "conv_template": conversation,
        "pad_token_id": generation.get("pad_token_id") or 0,
        "bos_token_id": description.bos,
        "eos_token_id": end,
    }


def model_config(d):
    return {
        "hidden_size": d.width,
        "intermediate_size": d.hidden,
        "num_attention_heads": d.heads,
        "num_hidden_layers": d.layers,
        "rms_norm_eps": d.epsilon,
        "vocab_size": d.vocab,
        "tie_word_embeddings": d.tied,
        "position_embedding_base": d.theta,
        "rope_scaling": d.scaling or None,
        "num_key_value_heads": d.kv_heads,
        "head_dim": d.head,
    }
