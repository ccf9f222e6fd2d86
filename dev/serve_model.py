"""An OpenAI-compatible server on loopback, in a process of its own: ``python serve_model.py KIND MODEL``.

It says ``ready URL`` on its output when it answers, and ends when its input does: so it never outlives the program that
started it, even if that is killed.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["llama.cpp", "llama-cpp-python"])
    parser.add_argument("model")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--context", type=int, default=2048, help="tokens of prompt and answer together")
    parser.add_argument("--slots", type=int, default=1, help="answers at a time (llama.cpp)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--logits-all", action="store_true", help="log-probabilities (llama-cpp-python)")
    options = parser.parse_args()
    threading.Thread(target=_end_with_input, daemon=True).start()
    if options.kind == "llama.cpp":
        _llama_cpp(options)
    else:
        _llama_cpp_python(options)


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _ready(host: str, port: int) -> None:
    sys.stdout.write(f"ready http://{host}:{port}/v1\n")
    sys.stdout.flush()


def _llama_cpp(options: argparse.Namespace) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options.model
    params.port = options.port
    params.n_ctx = options.context
    params.n_parallel = options.slots
    params.kv_unified = True  # else each slot has its share of the context only
    params.n_predict = options.context // 4  # a small model may write white space for ever
    params.warmup = False
    params.ui = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    server = xllamacpp.Server(params)
    address = server.listening_address
    _ready("127.0.0.1", int(address.rsplit(":", 1)[1]))
    threading.Event().wait()


def _llama_cpp_python(options: argparse.Namespace) -> None:
    import socket

    import uvicorn
    from llama_cpp.server.app import create_app
    from llama_cpp.server.settings import ModelSettings, ServerSettings

    listener = socket.create_server(("127.0.0.1", options.port))
    settings = ModelSettings(
        model=options.model,
        n_ctx=options.context,
        n_threads=options.threads,
        n_threads_batch=options.threads,
        logits_all=options.logits_all,
        verbose=False,
    )
    app = create_app(server_settings=ServerSettings(), model_settings=[settings])
    _ready(*listener.getsockname())
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
