"""Language models: a folder of weights, as Hugging Face's tools write it, becomes a folder that talks, as MLC-LLM writes it."""
