"""A stand-in for the services that models come from: an HTTPS server on a free port of this machine with a certificate of a
throw-away authority, the addresses and indexes of each service, toy models, and faults that a test asks for."""
import gzip
import hashlib
import http.server
import io
import json
import os
import ssl
import struct
import subprocess
import threading
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data", "convert")


def read(*path):
    with open(os.path.join(DATA, *path), "rb") as f:
        return f.read()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def zstd(data, repeat=0):
    """A zstd frame of stored blocks; `repeat`: instead that many blocks of 128 KiB, each one repeated byte (a bomb)."""
    most = 128 << 10
    blocks = [(0, data[i:i + most], len(data[i:i + most])) for i in range(0, len(data), most)] or [(0, b"", 0)]
    size = len(data)
    if repeat:
        blocks, size = [(1, b"\0", most)] * repeat, repeat * most
    # a window of 128 KiB for a bomb, so that no decoder refuses it for its memory
    out = struct.pack("<IBBI", 0xFD2FB528, 0x80, 0x38, size) if repeat else struct.pack("<IBI", 0xFD2FB528, 0xA0, size)
    for i, (kind, body, n) in enumerate(blocks):
        out += struct.pack("<I", (i == len(blocks) - 1) | kind << 1 | n << 3)[:3] + body
    return out


def zip_of(entries, deflate=False):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED) as z:
        for name, data in entries.items():
            z.writestr(name, data)
    return out.getvalue()


def argos_package():
    model = {"translate-en_de/model/" + n: read("ctranslate2_prenorm", "int8", n)
             for n in ("model.bin", "config.json", "shared_vocabulary.json")}
    return zip_of({"translate-en_de/metadata.json": json.dumps(
        {"package_version": "1.9", "argos_version": "1.9.0", "from_code": "en", "from_name": "English", "to_code": "de",
         "to_name": "German", "type": "translate"}).encode(),
        "translate-en_de/sentencepiece.model": read("pymarian", "attention.spm"),
        "translate-en_de/README.md": b"made by a test", **model})


def authority(folder):
    """(file of the authority, certificate, key) for localhost."""
    def openssl(*args):
        subprocess.run(["openssl", *args], check=True, capture_output=True, cwd=folder)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj", "/CN=throw-away")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    with open(os.path.join(folder, "names"), "w") as f:
        f.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "server.pem",
            "-days", "2", "-extfile", "names")
    return tuple(os.path.join(folder, n) for n in ("ca.pem", "server.pem", "server.key"))


class StandIn:
    """files: path -> bytes. redirects: path -> address. faults: path -> dict, see Handler. log: (path, Range header or None)."""

    def __init__(self, certificate, key):
        self.files, self.redirects, self.faults, self.log, self.headers = {}, {}, {}, [], {}
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                owner.answer(self)

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

            def finish_request(self, request, address):
                try:
                    request = owner.context.wrap_socket(request, server_side=True)
                except (ssl.SSLError, OSError):
                    return
                super().finish_request(request, address)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"https://localhost:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request):
        path, asked = request.path, request.headers.get("Range")
        self.log.append((path, asked))
        fault = self.faults.get(path, {})
        if fault.get("times", 1) <= 0:
            fault = {}
        elif "times" in fault:
            fault["times"] -= 1
        if path in self.redirects:
            return self.head(request, 302, b"", {"Location": self.redirects[path]})
        if path not in self.files:
            return self.head(request, 404, b"no such file")
        data, extra = self.files[path], dict(self.headers.get(path, {}))
        if "status" in fault:
            return self.head(request, fault["status"], b"refused")
        if fault.get("416") and asked:
            return self.head(request, 416, b"", {"Content-Range": f"bytes */{len(data)}"})
        status, begin = 200, 0
        fresh = request.headers.get("If-Range") in (None, extra.get("ETag"))
        if asked and fresh and not fault.get("no_range"):
            begin = int(asked[len("bytes="):].rstrip("-"))
            if begin >= len(data):
                return self.head(request, 416, b"", {"Content-Range": f"bytes */{len(data)}"})
            status, extra["Content-Range"] = 206, f"bytes {begin}-{len(data) - 1}/{len(data)}"
        body = data[begin:]
        request.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **extra}.items():
            request.send_header(name, value)
        request.end_headers()
        if "drip" in fault:
            for i in range(len(body)):
                request.wfile.write(body[i:i + 1])
                request.wfile.flush()
                time.sleep(fault["drip"])
        if "cut" in fault:
            body = body[:fault["cut"]]
            request.close_connection = True
        request.wfile.write(body)

    @staticmethod
    def head(request, status, body, extra=()):
        request.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **dict(extra)}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    # The services.

    def json(self, path, value):
        self.files[path] = json.dumps(value).encode()

    def serve_firefox(self):
        """Remote Settings: the root that names the attachments' address, and records."""
        records = []
        for kind, name in (("lex", "lex.50.50.ende.s2t.bin"), ("vocab", "vocab.ende.spm"),
                           ("model", "model.ende.intgemm.alphas.bin")):
            data = read("bergamot", name)
            packed = zstd(data)
            where = f"main-workspace/translations-models-v2/{sha256(packed)[:8]}.zst"
            records.append({"name": name, "version": "3.0", "fileType": kind, "architecture": "tiny", "sourceLanguage": "en",
                            "targetLanguage": "de", "filter_expression": "", "id": name, "schema": 1, "last_modified": 2,
                            "attachment": {"hash": sha256(packed), "size": len(packed), "filename": name + ".zst",
                                           "location": where, "mimetype": "application/zstd"},
                            "decompressedHash": sha256(data), "decompressedSize": len(data)})
            self.files["/cdn/" + where] = packed
        self.json("/v1/", {"capabilities": {"attachments": {"base_url": self.url + "/cdn/"}}})
        self.index = "/v1/buckets/main/collections/translations-models-v2/records"
        self.json(self.index, {"data": records})
        return records

    def serve_registry(self):
        files = {}
        for key, name in (("model", "model.ende.intgemm.alphas.bin"), ("lexicalShortlist", "lex.50.50.ende.s2t.bin"),
                          ("vocab", "vocab.ende.spm")):
            data = read("bergamot", name)
            self.files[f"/bucket/models/en-de/{name}.gz"] = gzip.compress(data)
            files[key] = {"path": f"models/en-de/{name}.gz"}
            if key == "model":
                files[key].update(uncompressedSize=len(data), uncompressedHash=sha256(data))
        self.json("/db/models.json", {"generated": "2026-01-01T00:00:00Z", "baseUrl": self.url + "/bucket", "models": {
            "en-de": [{"architecture": "tiny", "releaseStatus": "Release", "sourceLanguage": "en", "targetLanguage": "de",
                       "files": files, "modelStatistics": {"parameters": 1}}]}})

    def serve_argos(self, package=None):
        self.files["/v1/translate-en_de-1_9.argosmodel"] = argos_package() if package is None else package
        self.headers["/v1/translate-en_de-1_9.argosmodel"] = {"ETag": '"one"'}
        self.json("/argospm-index/main/index.json", [
            {"package_version": v, "argos_version": "1.9.0", "from_code": "en", "from_name": "English", "to_code": to,
             "to_name": name, "code": f"translate-en_{to}", "links": ["ipfs://x", self.url + f"/v1/translate-en_{to}-{n}.argosmodel"]}
            for v, to, name, n in (("1.0", "de", "German", "1_0"), ("1.9", "de", "German", "1_9"),
                                   ("1.9", "zt", "Chinese (traditional)", "1_9"))])

    def serve_repository(self, repository, folder, licence="apache-2.0", leave=(), replaced=None):
        """A repository of the hub: its answer with blobs, and its files at resolve/COMMIT, large ones by a redirect to
        another address. `replaced`: other contents of files, by name."""
        replaced = replaced or {}
        commit, siblings = sha256(repository.encode() + b"".join(replaced.values()))[:40], []
        for name in sorted(os.listdir(os.path.join(DATA, folder))):
            data = replaced.get(name) or read(folder, name)
            entry = {"rfilename": name, "size": len(data),
                     "blobId": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()}
            path = f"/{repository}/resolve/{commit}/{name}"
            if name in leave:
                continue
            if len(data) > 20000:
                entry["lfs"] = {"sha256": sha256(data), "size": len(data), "pointerSize": 134}
                self.redirects[path] = self.url + "/lfs/" + sha256(data)
                self.files["/lfs/" + sha256(data)] = data
            else:
                self.files[path] = data
            siblings.append(entry)
        siblings.append({"rfilename": "README.md", "size": 5, "blobId": "0" * 40})
        answer = {"id": repository, "sha": commit, "cardData": {"license": licence}, "tags": ["license:" + licence],
                  "siblings": siblings}
        self.json(f"/api/models/{repository}?blobs=true", answer)
        self.json(f"/api/models/{repository}/revision/v1?blobs=true", answer)
        return answer
