#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stands before nginx as two hosts, a hub and a content server, and breaks what it is told to break.

The hub's side answers `resolve` with a redirect to the content server, signed and with an end; the content server's side
refuses what is not signed or has expired. Everything else is nginx's answer, passed through.

    fault_proxy.py --nginx PORT --content ADDRESS

prints "hub PORT content PORT control PORT" and serves until its standard input ends. The control port takes and gives JSON:

    POST /faults    [{"side": "content", "path": "weights", "times": 2, "cut": 100000}, ...]   replaces the rules
    POST /settings  {"lifetime": 1.5}    seconds that a signature holds
    GET  /requests  what was asked and what was sent, oldest first
    POST /forget    empties that list

A rule holds for requests of its side whose path contains its `path`, `skip` of them first let through, `times` of them (none
given: all). What it does is one of
    cut: N            the connection breaks after N bytes of the body
    stall: N          nothing more comes after N bytes
    status: S         answers S, with `headers`; where there is a `token`, to those only who do not bring it
    redirect: URL     answers 302
    whole: true       ignores the Range header: 200 with everything
    shift: N          a range N bytes later than asked for, honestly labelled
    corrupt: true     one byte is another
    slow: B           B bytes a second
"""

import argparse
import hashlib
import http.client
import http.server
import json
import sys
import threading
import time
import urllib.parse

SECRET = "the content server's own"
PIECE = 16384


class State:
    def __init__(self, nginx):
        self.nginx = nginx
        self.lock = threading.Lock()
        self.rules = []
        self.requests = []
        self.lifetime = 3600.0
        self.content = None  # "http://host:port"

    def rule(self, side, path):
        with self.lock:
            for rule in self.rules:
                if rule["side"] != side or rule.get("path", "") not in path:
                    continue
                if rule.get("skip", 0) > 0:
                    rule["skip"] -= 1
                    continue
                if rule.get("times", 1) <= 0:
                    continue
                if "times" in rule:
                    rule["times"] -= 1
                return rule
        return {}


def signature(path, expires):
    return hashlib.sha256(f"{SECRET} {path} {expires}".encode()).hexdigest()[:16]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = None
    side = ""

    def log_message(self, *_):
        pass

    def do_GET(self):
        # As a proxy is asked: the whole address.
        proxied = self.path.startswith("http://")
        if proxied:
            _, _, host, rest = self.path.split("/", 3)
            self.path = "/" + rest
            self.side = "content" if self.state.content.endswith(host) else "hub"
        rule = self.state.rule(self.side, self.path)
        entry = {"side": self.side, "proxied": proxied, "path": self.path, "host": self.headers.get("Host", ""), "status": 0, "sent": 0,
                 "range": self.headers.get("Range", ""), "authorization": self.headers.get("Authorization", ""),
                 "cookie": self.headers.get("Cookie", "")}
        with self.state.lock:
            self.state.requests.append(entry)
        try:
            self.answer(rule, entry)
        except OSError:  # the client went away
            self.close_connection = True

    def answer(self, rule, entry):
        if "status" in rule and not ("token" in rule and entry["authorization"] == "Bearer " + rule["token"]):
            return self.short(entry, rule["status"], rule.get("headers", {}))
        if "redirect" in rule:
            return self.short(entry, 302, {"Location": rule["redirect"]})
        path, _, query = self.path.partition("?")
        if self.side == "hub" and "/resolve/" in path:
            return self.resolve(entry, path)
        if self.side == "content" and not self.is_signed(path, query):
            return self.short(entry, 403, {"Content-Type": "application/xml"})
        return self.forward(rule, entry)

    def short(self, entry, status, headers):
        entry["status"] = status
        body = b"" if status == 302 else b"<html>not what was asked for</html>"
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def resolve(self, entry, path):
        expires = repr(time.time() + self.state.lifetime)
        target = "/blobs/" + path.split("/resolve/", 1)[1]
        query = urllib.parse.urlencode({"expires": expires, "signature": signature(target, expires)})
        self.short(entry, 302, {"Location": f"{self.state.content}{target}?{query}"})

    def is_signed(self, path, query):
        given = urllib.parse.parse_qs(query)
        expires = given.get("expires", ["0"])[0]
        return given.get("signature") == [signature(path, expires)] and float(expires) > time.time()

    def forward(self, rule, entry):
        headers = {"Host": self.side}
        if "Range" in self.headers and not rule.get("whole"):
            headers["Range"] = self.shifted(self.headers["Range"], rule.get("shift", 0))
        upstream = http.client.HTTPConnection("127.0.0.1", self.state.nginx)
        upstream.request("GET", self.path, headers=headers)
        answer = upstream.getresponse()
        entry["status"] = answer.status
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "date", "server"):
                self.send_header(name, value)
        self.end_headers()
        self.send_body(rule, entry, answer)
        upstream.close()

    @staticmethod
    def shifted(value, shift):
        first, _, last = value.removeprefix("bytes=").partition("-")
        return f"bytes={int(first) + shift}-{int(last) + shift}" if shift else value

    def send_body(self, rule, entry, answer):
        limit = rule.get("cut", rule.get("stall"))
        started = time.monotonic()
        largest = min(PIECE, max(1, rule["slow"] // 20)) if "slow" in rule else PIECE
        while piece := answer.read(largest if limit is None else min(largest, max(1, limit - entry["sent"]))):
            if limit is not None and entry["sent"] >= limit:
                if "stall" in rule:
                    time.sleep(20)
                self.connection.shutdown(2)
                self.close_connection = True
                return
            if rule.get("corrupt") and entry["sent"] == 0:
                piece = bytes([piece[0] ^ 1]) + piece[1:]
            self.wfile.write(piece)
            entry["sent"] += len(piece)
            if "slow" in rule:
                time.sleep(max(0.0, entry["sent"] / rule["slow"] - (time.monotonic() - started)))


class Control(http.server.BaseHTTPRequestHandler):
    state = None

    def log_message(self, *_):
        pass

    def reply(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        with self.state.lock:
            self.reply(self.state.requests)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.state.lock:
            if self.path == "/faults":
                self.state.rules = json.loads(body)
            elif self.path == "/settings":
                self.state.lifetime = json.loads(body)["lifetime"]
            elif self.path == "/forget":
                self.state.requests.clear()
        self.reply({})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


def serve(handler, address="127.0.0.1"):
    server = Server((address, 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nginx", type=int, required=True)
    parser.add_argument("--content", default="127.0.0.2", help="address of the second host")
    arguments = parser.parse_args()
    state = State(arguments.nginx)
    sides = {side: type(side, (Handler,), {"state": state, "side": side}) for side in ("hub", "content")}
    hub = serve(sides["hub"])
    content = serve(sides["content"], arguments.content)
    state.content = f"http://{arguments.content}:{content}"
    control = serve(type("control", (Control,), {"state": state}))
    print(f"hub {hub} content {content} control {control}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
