"""Watches what a catalog answers to clients that use `requests` (PyIceberg does)."""
import json, threading

import requests

REQUEST_SECONDS_MAX = 90


class Answers:
    """Records every answer of one catalog while it is open, and gives every request a time limit."""

    def __init__(self, uri):
        self.uri, self.kept, self.lock, self.original = uri, [], threading.Lock(), requests.Session.send

    def __enter__(self):
        def send(session, request, **more):
            if not request.url.startswith(self.uri):
                return self.original(session, request, **more)
            entry = {"method": request.method, "url": request.url, "status": None, "body": ""}
            with self.lock:
                self.kept.append(entry)
            answer = self.original(session, request, **{**more, "timeout": REQUEST_SECONDS_MAX})
            entry.update(status=answer.status_code, body=answer.text if answer.status_code >= 400 else "")
            return answer
        requests.Session.send = send
        return self

    def __exit__(self, *_):
        requests.Session.send = self.original

    def forget(self):
        with self.lock:
            self.kept = []

    def statuses(self):
        return [entry["status"] for entry in self.kept]

    def outside_envelope(self):
        """Errors that do not have the protocol's shape: {"error": {"message", "type", "code"}}, the code equal to the status."""
        return [entry for entry in self.kept if entry["status"] and entry["status"] >= 400 and entry["method"] != "HEAD" and not is_envelope(entry)]


def is_envelope(entry):
    try:
        error = json.loads(entry["body"])["error"]
        return error["code"] == entry["status"] and isinstance(error["message"], str) and isinstance(error["type"], str)
    except (ValueError, KeyError, TypeError):
        return False
