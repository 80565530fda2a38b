"""A proxy that loses answers: it forwards a request, throws the answer away, sends the same bytes again and passes on the second answer.

Which requests it does that to depends on the key: with `keys="added"` every request that changes something carries an
Idempotency-Key (the client's, or one of the proxy's) and is repeated; with `keys="removed"` none carries one, and only
commits that add a snapshot are repeated, since nothing tells the repeat of another request from a new one.
"""
import http.client, json, re, secrets, threading, time, uuid
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOP = {"connection", "keep-alive", "host", "content-length", "transfer-encoding", "expect"}


@dataclass
class Exchange:
    """A repeated request and the answers to it: (status, body)."""

    method: str
    path: str
    headers: dict
    body: bytes
    first: tuple
    second: tuple

    def label(self):
        actions = re.findall(rb'"action": ?"([a-z-]+)"', self.body)
        return f"{self.method} {self.path.split('?')[0]} {b' '.join(actions).decode()}".strip()

    def adds_snapshot(self):
        return b'"add-snapshot"' in self.body


def uuid7():
    value = (int(time.time() * 1000) << 80) | secrets.randbits(80)
    return str(uuid.UUID(int=(value & ~(0xF << 76) & ~(0x3 << 62)) | (0x7 << 76) | (0x2 << 62)))


def metadata_location(answer):
    try:
        return json.loads(answer[1]).get("metadata-location")
    except (ValueError, AttributeError):
        return None


class ReplayProxy:
    """Listens on a free loopback port; `exchanges` holds what was repeated, in order."""

    def __init__(self, target_port, keys):
        self.target_port, self.keys, self.exchanges, self.client_keys, self.lock = target_port, keys, [], 0, threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.uri = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def send(self, method, path, headers, body):
        """(status, body, headers) of one forwarded request on a connection of its own."""
        upstream = http.client.HTTPConnection("127.0.0.1", self.target_port, timeout=60)
        upstream.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers.items():
            upstream.putheader(name, value)
        if body or method in ("POST", "PUT"):
            upstream.putheader("Content-Length", str(len(body)))
        upstream.endheaders(body or None)
        answer = upstream.getresponse()
        content = answer.read()
        upstream.close()
        return answer.status, content, answer.getheaders()

    def is_repeated(self, method, path, body):
        if method not in ("POST", "DELETE") or path.split("?")[0].endswith(("/metrics", "/plan", "/tasks")):
            return False
        return self.keys == "added" or b'"add-snapshot"' in body

    def relay(self, method, path, sent, body):
        headers = {k: v for k, v in sent.items() if k.lower() not in HOP | {"accept-encoding"}}
        own = next((k for k in headers if k.lower() == "idempotency-key"), None)
        if own:
            with self.lock:
                self.client_keys += 1
            if self.keys == "removed":
                del headers[own]
        if not self.is_repeated(method, path, body):
            return self.send(method, path, headers, body)
        if self.keys == "added" and not own:
            headers["Idempotency-Key"] = uuid7()
        lost = self.send(method, path, headers, body)
        answer = self.send(method, path, headers, body)
        with self.lock:
            self.exchanges.append(Exchange(method, path, headers, body, lost[:2], answer[:2]))
        return answer

    def again(self, exchange):
        return self.send(exchange.method, exchange.path, exchange.headers, exchange.body)[:2]

    def handler(proxy):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def read_body(self):
                if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                parts = []
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                while self.rfile.readline().strip():
                    pass
                return b"".join(parts)

            def forward(self):
                status, content, headers = proxy.relay(self.command, self.path, self.headers, self.read_body())
                self.send_response_only(status)
                for name, value in headers:
                    if name.lower() not in HOP:
                        self.send_header(name, value)
                if status not in (204, 304):
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_POST = do_DELETE = do_HEAD = do_PUT = forward

        return Handler
