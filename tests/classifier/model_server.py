"""A real HTTP server on loopback that speaks the chat completions protocol, and misbehaves on demand."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import log
from types import TracebackType
from typing import Any, Self, TypeAlias


@dataclass(frozen=True)
class Reply:
    """What the server sends back."""

    status: int = 200
    body: bytes = b"{}"
    content_type: str = "application/json"
    cut_short: bool = False
    """Close the connection in the middle of the body."""
    headers: Mapping[str, str] = field(default_factory=dict)


Script: TypeAlias = Callable[[dict[str, Any], int], Reply]


def completion(*contents: str | None, usage: Mapping[str, Any] | None = None, **choice: Any) -> Reply:
    """A well-formed chat completion with a choice for each of ``contents``."""
    body = {
        "id": "completion-1",
        "object": "chat.completion",
        "created": 0,
        "model": "test-model",
        "choices": [
            {
                "index": index,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content},
            }
            | choice
            for index, content in enumerate(contents)
        ],
    }
    return Reply(body=json.dumps(body if usage is None else body | {"usage": dict(usage)}).encode())


def failure(status: int, message: str = "no", **more: Any) -> Reply:
    """An error as the protocol words it."""
    headers = more.pop("headers", {})
    error = {"message": message, "type": "t", "code": None} | more
    return Reply(status, json.dumps({"error": error}).encode(), headers=headers)


Answering: TypeAlias = Callable[[dict[str, Any]], object]
"""The body of a request → what the model answers: a text, or what it writes as JSON."""


@dataclass(frozen=True)
class Model:
    """An endpoint that can do what it is made to, and refuses the rest as real ones do.

    ``answer`` is the model; ``formats`` are the kinds of response format that the endpoint knows.
    """

    answer: Answering
    formats: frozenset[str] = frozenset({"json_schema", "json_object"})
    several: bool = True
    log_probabilities: bool = False
    seed: bool = True
    lengths: frozenset[str] = frozenset({"max_tokens", "max_completion_tokens"})
    refusal: int = 400

    def __call__(self, body: dict[str, Any], number: int) -> Reply:
        """The reply to a request."""
        asked = body.get("response_format", {}).get("type")
        if asked is not None and asked not in self.formats:
            return failure(self.refusal, f"unknown response_format {asked}")
        if body.get("n", 1) > 1 and not self.several:
            return failure(self.refusal, "n must be 1")
        if "logprobs" in body and not self.log_probabilities:
            return failure(self.refusal, "logprobs are not supported")
        if "seed" in body and not self.seed:
            return failure(self.refusal, "unknown field seed")
        if {"max_tokens", "max_completion_tokens"} & body.keys() - self.lengths:
            return failure(self.refusal, "unknown limit of tokens")
        values = [{"works": True} if is_probe(body) else self.answer(body) for _ in range(body.get("n", 1))]
        texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
        usage = {"prompt_tokens": 100, "completion_tokens": 10 * len(texts), "total_tokens": 100 + 10 * len(texts)}
        if "logprobs" not in body:
            return completion(*texts, usage=usage)
        whole = json.loads(completion(*texts, usage=usage).body)
        for choice, text in zip(whole["choices"], texts, strict=True):
            choice["logprobs"] = {"content": log_probabilities(text)}
        return Reply(body=json.dumps(whole).encode())


def log_probabilities(text: str, sure: float = 0.8) -> list[dict[str, Any]]:
    """Each word of ``text`` as a token; true and false with probability ``sure``, and the other word with the rest."""
    tokens: list[dict[str, Any]] = []
    for part in _parts(text):
        word = part.strip()
        listed = [{"token": part, "bytes": list(part.encode()), "logprob": 0.0}]
        if word in ("true", "false"):
            other = part.replace(word, "false" if word == "true" else "true")
            listed = [
                {"token": part, "bytes": list(part.encode()), "logprob": log(sure)},
                {"token": other, "bytes": list(other.encode()), "logprob": log(1 - sure)},
            ]
        tokens.append(listed[0] | {"top_logprobs": listed})
    return tokens


def _parts(text: str) -> Sequence[str]:

    return re.findall(r" ?(?:true|false)|[^ tf]+|[ tf]", text)


def is_probe(body: dict[str, Any]) -> bool:
    """Whether a request only finds out what the endpoint can do."""
    return '{"works": true}' in str(body["messages"][0]["content"])


@dataclass
class ModelServer:
    """Answers each request with what ``reply`` makes of its body and its number, from 0; remembers all requests."""

    reply: Script
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    headers: list[list[str]] = field(default_factory=list)
    most_at_once: int = 0
    _at_once: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The requests that asked about a query."""
        return [body for body in self.requests if not is_probe(body)]

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each answer waits for the client's delayed acknowledgement

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._lock:
                    number = len(server.requests)
                    server.requests.append(body | {"path": self.path})
                    server.authorizations.append(self.headers["Authorization"] or self.headers["api-key"])
                    server.headers.append([f"{name}: {value}" for name, value in self.headers.items()])
                    server._at_once += 1
                    server.most_at_once = max(server.most_at_once, server._at_once)
                try:
                    reply = server.reply(body, number)
                finally:
                    with server._lock:
                        server._at_once -= 1
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", reply.content_type)
                self.send_header("Content-Length", str(len(reply.body) + (10 if reply.cut_short else 0)))
                self.end_headers()
                self.wfile.write(reply.body)
                self.close_connection = reply.cut_short

            def log_message(self, format: str, *arguments: Any) -> None:
                """Tests read `requests` instead."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def endpoint(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"
