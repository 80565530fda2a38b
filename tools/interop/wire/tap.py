#!/usr/bin/env python3
"""A small HTTP proxy between a client and a REST catalog: it writes down what passes, and can lie on purpose.

    tap.py --listen 19211 --target http://127.0.0.1:8181 [--log wire.jsonl] [--break KIND[,KIND...]]

One JSON line per exchange: method, path, query, chosen headers, body (short), status, answer size.
The --break kinds turn a sound server into a broken one, to prove that a test suite can go red:

    no-requirements   drops `requirements` from every table commit (lost updates become possible)
    swallow-drop      answers DELETE of a table with 204 and does not forward it
    stale-load        answers every later load of a table with the first body ever seen for it
    500-for-409       turns every conflict into an internal error
    no-props          removes `properties` from namespace answers
    one-page          keeps the first entry of every listing only
    flip-null         turns `required: false` into true in loaded schemas
    lost-response     forwards each table commit, then answers 503 instead of the true answer

--hide TEXT takes endpoints containing TEXT out of the config answer. --mkdir-staged is a help, not a lie: after a staged create it makes the table's local data/ and metadata/ folders,
which DuckDB expects to exist and does not make itself on commit.
"""
import argparse, http.client, json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

args = argparse.ArgumentParser()
args.add_argument("--listen", type=int, required=True)
args.add_argument("--target", required=True)
args.add_argument("--log")
args.add_argument("--hide", action="append", default=[], help="leave endpoints that contain this text out of the config answer (repeatable)")
args.add_argument("--mkdir-staged", action="store_true")
args.add_argument("--break", dest="kinds", default="")
args = args.parse_args()
target, kinds = urlsplit(args.target), set(filter(None, args.kinds.split(",")))
log, lock, first_load = open(args.log, "a", buffering=1) if args.log else None, threading.Lock(), {}
NOTED = ("user-agent", "x-client-version", "x-iceberg-access-delegation", "if-none-match", "idempotency-key",
         "content-type", "content-encoding", "accept", "accept-encoding", "authorization", "x-iceberg-snapshot-id")


class Tap(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, headers, body):
        self.send_response(status)
        for k, v in headers:
            if k.lower() not in ("transfer-encoding", "content-length", "connection", "keep-alive", "content-encoding"):
                self.send_header(k, v)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def relay(self):
        started, path = time.time(), urlsplit(self.path)
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        last = path.path.rstrip("/").split("/")
        is_table = len(last) >= 2 and last[-2] == "tables"
        commit = self.command == "POST" and (is_table or path.path.endswith("/transactions/commit"))
        out = sent
        if commit and "no-requirements" in kinds:
            doc = json.loads(sent)
            for change in doc.get("table-changes", [doc]):
                change["requirements"] = [r for r in change.get("requirements", []) if r["type"] == "assert-create"]
            out = json.dumps(doc).encode()
        if self.command == "DELETE" and is_table and "swallow-drop" in kinds:
            status, headers, body = 204, [], b""
        else:
            up = http.client.HTTPConnection(target.hostname, target.port or 80, timeout=120)
            ahead = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "accept-encoding", "content-length")}
            up.request(self.command, target.path.rstrip("/") + self.path, out or None, {**ahead, "Content-Length": str(len(out))} if out or self.command == "POST" else ahead)
            got = up.getresponse()
            status, headers, body = got.status, got.getheaders(), got.read()
            up.close()
        if args.mkdir_staged and status == 200 and self.command == "POST" and last[-1] == "tables" and b'"stage-create":true' in sent.replace(b" ", b""):
            where = urlsplit(json.loads(body)["metadata"]["location"]).path
            for part in ("data", "metadata"):
                os.makedirs(f"{where}/{part}", exist_ok=True)
        if commit and status < 300 and "lost-response" in kinds:
            status, body = 503, b'{"error":{"message":"tap: answer lost","type":"ServiceUnavailableException","code":503}}'
        if status == 409 and "500-for-409" in kinds:
            status, body = 500, body.replace(b'"code":409', b'"code":500')
        if status == 200 and self.command == "GET" and body[:1] == b"{":
            doc = json.loads(body)
            if is_table and "stale-load" in kinds:
                doc = first_load.setdefault(path.path, doc)
            if "no-props" in kinds and "/namespaces/" in path.path:
                doc.pop("properties", None)
            if "one-page" in kinds:
                for key in ("namespaces", "identifiers"):
                    if key in doc:
                        doc[key] = doc[key][:1]
            if is_table and "flip-null" in kinds:
                for schema in doc["metadata"]["schemas"]:
                    for field in schema["fields"]:
                        field["required"] = True
            if args.hide and path.path.endswith("/v1/config"):
                doc["endpoints"] = [e for e in doc.get("endpoints", []) if not any(text in e for text in args.hide)]
            if kinds or args.hide:
                body = json.dumps(doc).encode()
        self.answer(status, headers, body)
        if log:
            line = {"at": round(started, 3), "ms": round((time.time() - started) * 1000, 1), "method": self.command, "path": path.path, "query": path.query,
                    "headers": {k.lower(): v for k, v in self.headers.items() if k.lower() in NOTED},
                    "body": sent.decode("utf-8", "replace")[:20000], "status": status, "bytes": len(body),
                    "error": body[:400].decode("utf-8", "replace") if status >= 400 else None}
            with lock:
                log.write(json.dumps(line) + "\n")

    do_GET = do_POST = do_DELETE = do_HEAD = do_PUT = do_PATCH = relay


ThreadingHTTPServer.request_queue_size = 256
print(f"tap on 127.0.0.1:{args.listen} -> {args.target}; broken: {sorted(kinds) or 'nothing'}", file=sys.stderr)
ThreadingHTTPServer(("127.0.0.1", args.listen), Tap).serve_forever()
