"""How scripts that send requests of their own prove who they are. Python standard library only.

CATALOG_TOKEN is sent as it is; CATALOG_CREDENTIAL (`id:secret`) is exchanged at CATALOG_OAUTH2_URI, again before the token ends.
"""
import json, os, time, urllib.parse, urllib.request

RENEW_BEFORE_SECONDS = 10
_held = {}


def oauth2_uri(uri):
    return os.environ.get("CATALOG_OAUTH2_URI") or f"{uri.rstrip('/')}/v1/oauth/tokens"


def client_properties(uri):
    """What PyIceberg needs in its catalog properties."""
    if os.environ.get("CATALOG_CREDENTIAL"):
        return {"credential": os.environ["CATALOG_CREDENTIAL"], "oauth2-server-uri": oauth2_uri(uri)}
    return {"token": os.environ["CATALOG_TOKEN"]} if os.environ.get("CATALOG_TOKEN") else {}


def bearer(uri):
    """The token for requests to the catalog at `uri`; None where none is needed."""
    credential = os.environ.get("CATALOG_CREDENTIAL")
    if not credential:
        return os.environ.get("CATALOG_TOKEN")
    if _held.get("until", 0) < time.monotonic() + RENEW_BEFORE_SECONDS:
        name, secret = credential.split(":", 1)
        form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": name, "client_secret": secret, "scope": "catalog"})
        with urllib.request.urlopen(oauth2_uri(uri), form.encode(), timeout=30) as answer:
            got = json.load(answer)
        _held.update(token=got["access_token"], until=time.monotonic() + got.get("expires_in", 3600))
    return _held["token"]


def headers(uri):
    token = bearer(uri)
    return {"Authorization": f"Bearer {token}"} if token else {}
