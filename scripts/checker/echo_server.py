#!/usr/bin/env python3
"""An OpenAI-compatible server that answers every chat request with `[]` and appends the bodies to a file.

    scripts/checker/echo_server.py PORT RECEIVED.jsonl
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with LOCK, open(sys.argv[2], "a", encoding="utf-8") as out:
            out.write(json.dumps(body) + "\n")
        reply = {"choices": [{"message": {"role": "assistant", "content": "[]"}, "finish_reason": "stop"}],
                 "usage": {"prompt_tokens": 10, "completion_tokens": 1}}
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
