"""A WebSocket client for tests."""
import base64
import json
import os
import socket
import struct
import urllib.parse


class Client:
    """The client's side of a WebSocket, as the library `websockets` writes frames: masked."""

    def __init__(self, url, path="/ws"):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=20)
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass

    def frame(self, kind, data, final=True):
        mask = os.urandom(4)
        length = bytes([0x80 | len(data)]) if len(data) < 126 else (bytes([0xfe]) + struct.pack(">H", len(data)) if len(data) < 65536
                                                                     else bytes([0xff]) + struct.pack(">Q", len(data)))
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.socket.sendall(bytes([(0x80 if final else 0) | kind]) + length + mask + masked)

    def read(self):
        """(kind, data)."""
        first, length = self.file.read(2)
        if length > 125:
            length = int.from_bytes(self.file.read(2 if length == 126 else 8), "big")
        return first & 0x0f, self.file.read(length)

    def send_and_receive(self, kind, data=None):
        self.frame(1, json.dumps({"type": kind, **({} if data is None else {"data": data})}).encode())
        return json.loads(self.read()[1])

    def close(self):
        self.file.close()
        self.socket.close()
