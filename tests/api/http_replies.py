"""Parses replies from raw sockets: status, error code, headers, bodies on kept connections."""
import json

GOOD = {"text": "Hello.", "source": "en", "target": "de"}


def status_of(data):
    assert data.startswith(b"HTTP/1.1 "), data[:200]
    return int(data.split(b" ", 2)[1])


def code_of(data):
    return json.loads(data.split(b"\r\n\r\n", 1)[1])["error"]["code"]


def header_of(data, name):
    for line in data.split(b"\r\n\r\n", 1)[0].decode().split("\r\n")[1:]:
        key, value = line.split(":", 1)
        if key.lower() == name.lower():
            return value.strip()
    return None


def read_reply(s, rest=b""):
    """Reads one reply from a keep-alive connection. Returns (reply, bytes after it)."""
    data = rest
    while b"\r\n\r\n" not in data:
        more = s.recv(65536)
        assert more, data
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    n = int(header_of(head + b"\r\n\r\n", "Content-Length"))
    while len(body) < n:
        more = s.recv(65536)
        assert more, data
        body += more
    return head + b"\r\n\r\n" + body[:n], body[n:]
