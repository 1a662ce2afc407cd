"""A local HTTP server for trainers that know a URL only. A form is a list of routes:

    ROUTES = [("POST", r"/verify", verify)]    # verify(judge, request) returns the JSON of the answer

A function that raises Refused or ValueError refuses the request (422); Fault asks the trainer to come again (503)."""
import base64
import contextlib
import dataclasses
import http.server
import io
import ipaddress
import json
import re
import resource
import socket
import threading
import time
import urllib.parse

from ._core import Fault, Judge, Refused

MAX_BODY = 64 << 20
MAX_BODIES = 1 << 30     # bytes of the bodies of all requests that are not answered yet, and of what a form keeps of them
MAX_KEPT = MAX_BODIES // 2  # nothing more is kept while all take so much
MAX_LEVELS, MAX_VALUES = 64, 1_000_000  # of the JSON of a body
VALUE_BYTES, OBJECT_BYTES = 40, 240  # that Python takes for a value, and for an object, beside their texts
MAX_HEADER = 64 << 10
MAX_CONNECTIONS = 1024   # of friends
MAX_STRANGERS = 1024     # connections before the header of a request that may be answered; a new one takes the place of the oldest
# Times of the wall clock: no byte that drips renews them.
STRANGER_S = 10          # for the header
REQUEST_S = 60           # for the body
IDLE_S = 60              # for the header of a friend's next request


NO_SIGNS = bytes(set(range(256)) - set(b'"[]{},'))
TEXTS = re.compile(b'"[^"]*"')


class Answer(Exception):
    """An answer with a status of its own."""

    def __init__(self, status, body):
        super().__init__(status)
        self.status, self.body = status, body


@dataclasses.dataclass
class Request:
    body: object      # the JSON; None without a body
    parts: tuple      # what the groups of the route matched
    query: dict       # options of the URL that are none of the judge's
    handler: object   # of the connection


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, routes, judge, bind=("127.0.0.1", 0), own_options=()):
        self.routes = [(method, re.compile(path), function) for method, path, function in routes]
        self.judge, self.own_options = judge, own_options
        self.is_local = ipaddress.ip_address(bind[0]).is_loopback
        self.lock, self.strangers, self.friends, self.ends, self.bodies, self.looked = threading.Lock(), {}, set(), {}, 0, 0
        self.address_family = socket.AF_INET6 if ":" in bind[0] else socket.AF_INET
        super().__init__(bind, Handler)

    @property
    def url(self):
        host, port = self.server_address[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def process_request(self, request, client_address):
        with self.lock:
            if len(self.strangers) >= MAX_STRANGERS:
                oldest = next(iter(self.strangers))
                del self.strangers[oldest]
                _hang_up(oldest)
            self.strangers[request] = None
        self.give(request, STRANGER_S)
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.forget(request)

    def give(self, connection, seconds):
        """The connection has so long from now on; None: it waits for us."""
        with self.lock:
            self.ends.pop(connection, None)
            if seconds is not None:
                self.ends[connection] = time.monotonic() + seconds

    def admit(self, connection):
        with self.lock:
            if connection not in self.friends and len(self.friends) >= MAX_CONNECTIONS:
                raise Fault("there are too many connections")
            self.strangers.pop(connection, None)
            self.friends.add(connection)

    def forget(self, connection):
        with self.lock:
            self.strangers.pop(connection, None)
            self.friends.discard(connection)
            self.ends.pop(connection, None)

    def hold(self, size, most=None):
        """Counts a body, or what is kept of it; a negative size: that is over. False: there is no room for it."""
        with self.lock:
            has_room = size < 0 or self.bodies + size <= (MAX_BODIES if most is None else most)
            self.bodies += size if has_room else 0
            return has_room

    def service_actions(self):
        now = time.monotonic()
        if now - self.looked < 0.25:
            return
        self.looked = now
        with self.lock:
            late = [connection for connection, end in self.ends.items() if end < now]
        for connection in late:
            _hang_up(connection)
            self.forget(connection)

    def handle_error(self, request, client_address):
        pass  # the trainer has gone


class Input(io.BufferedReader):
    """What a connection sends. A header is short."""
    left = MAX_HEADER

    def readline(self, size=-1):
        line = super().readline(size)
        self.left -= len(line)
        if self.left < 0:
            raise ConnectionError("the header is too long")
        return line


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    disable_nagle_algorithm = True  # an answer is two writes

    def setup(self):
        super().setup()
        self.rfile = Input(self.rfile.detach())

    def answer(self):
        self.held, self.is_friend = 0, False
        try:
            self.answer_request()
        finally:
            self.server.hold(-self.held)
        self.rfile.left = MAX_HEADER
        self.server.give(self.connection, IDLE_S)

    def answer_request(self):
        try:
            status, body = 200, self.call()
        except Answer as other:
            status, body = other.status, other.body
        except Fault as fault:
            status, body = 503, {"error": str(fault), "remedy": "send the same request again"}
        except (Refused, ValueError, TypeError, KeyError, AttributeError) as error:
            why = str(error) if isinstance(error, ValueError) else f"the request has another form: {error!r}"
            status, body = 422, {"error": why}
        self.close_connection |= not self.is_friend
        if body is not None:
            self.reply(status, body)
        if not self.is_friend:
            self.discard(1 << 20)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def reply(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if status == 503:
            self.send_header("Retry-After", "1")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)

    def call(self):
        url = urllib.parse.urlsplit(self.path)
        self.require_friend()
        self.server.admit(self.connection)
        self.is_friend = True
        self.server.give(self.connection, REQUEST_S)
        body = self.read_body()
        self.server.give(self.connection, None)
        methods = set()
        for method, path, function in self.server.routes:
            match = path.fullmatch(url.path)
            if match and method == self.command:
                judge, rest = self.judge_for(url.query)
                parts = tuple(urllib.parse.unquote(part) for part in match.groups() if part is not None)
                return function(judge, Request(body, parts, rest, self))
            methods |= {method} if match else set()
        raise Answer(405 if methods else 404, {"error": f"there is no {self.command} {url.path[:200]}"})

    def judge_for(self, query):
        given = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        rest = {name: given.pop(name) for name in self.server.own_options if name in given}
        if {"server", "token"} & set(given):
            raise Refused("server and token are no options of a URL")
        if self.headers.get("Authorization"):
            given["token"] = _token_in(self.headers["Authorization"])
        return self.server.judge.given(**given), rest

    def require_friend(self):
        """The judge's token is lent to programs of this machine only: not to its browsers, and not to other machines."""
        host = urllib.parse.urlsplit("//" + self.headers.get("Host", "")).hostname or ""
        if self.headers.get("Origin") or (self.server.is_local and not _is_local_name(host)):
            raise Answer(403, {"error": "this server answers programs that name it by a loopback address"})
        if not self.server.is_local and not _token_in(self.headers.get("Authorization") or ""):
            raise Answer(401, {"error": "send your token of the judge: Authorization: Bearer TOKEN, or http://any:TOKEN@HOST"})

    def read_body(self):
        length = self.length()
        if self.headers.get("Transfer-Encoding") or length is None or length > MAX_BODY:
            self.close_connection = True
            self.discard(1 << 30)
            raise Answer(413, {"error": f"a body has a Content-Length of at most {MAX_BODY}"})
        if not self.server.hold(length):
            self.close_connection = True
            self.discard(MAX_BODY)
            raise Fault("too many bodies have no answer yet")
        self.held = length
        if length == 0:
            return None
        body = self.rfile.read(length)
        size = checked_size(body)
        if not self.server.hold(size):
            raise Fault("too many bodies have no answer yet")
        self.held += size
        try:
            return json.loads(body.decode("utf-8-sig", "surrogatepass"))  # in another encoding it was not checked
        except (ValueError, RecursionError) as error:
            raise Answer(422, {"error": f"the body is no JSON: {error}"}) from error

    def length(self):
        """The Content-Length; None: it is no number."""
        length = self.headers.get("Content-Length", "0")
        return int(length) if re.fullmatch("[0-9]{1,18}", length) else None

    def discard(self, most):
        """Reads the body, and keeps nothing: a client that still sends would see a broken connection instead of the answer."""
        length = min(self.length() or 0, most)
        while length > 0 and (got := len(self.rfile.read(min(length, 64 << 10)))):
            length -= got

    def log_message(self, *_):
        pass


def _hang_up(connection):
    with contextlib.suppress(OSError):  # it has gone
        connection.shutdown(socket.SHUT_RDWR)


def _is_local_name(host):
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _token_in(authorization):
    kind, _, value = authorization.partition(" ")
    if kind.lower() != "basic":
        return value.strip()
    try:
        return base64.b64decode(value).decode(errors="replace").partition(":")[2].strip()
    except ValueError:
        return ""


def checked_size(body, most=MAX_VALUES):
    """About how many bytes Python takes for the JSON beside its texts. Looks at the bytes alone: nothing is allocated for what is
    refused."""
    signs = body.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, NO_SIGNS)
    brackets, values, objects, in_text = [], 0, 0, False
    if signs.count(b'"') > 4 * most + 2:  # each value is a text and has a name
        raise Answer(422, {"error": f"the JSON has more than {most} values"})
    for begin in range(0, len(signs), 1 << 20):
        part = TEXTS.sub(b"", (b'"' if in_text else b"") + signs[begin:begin + (1 << 20)])
        part, quote, _ = part.partition(b'"')
        in_text = bool(quote)
        objects += part.count(b"{")
        values += sum(part.count(sign) for sign in (b"[", b"{", b","))
        if values > most:
            raise Answer(422, {"error": f"the JSON has more than {most} values"})
        brackets.append(part.translate(bytes.maketrans(b"{}", b"[]"), b","))
    _require_flat(b"".join(brackets))
    return values * VALUE_BYTES + objects * (OBJECT_BYTES - VALUE_BYTES)


def _require_flat(brackets):
    """Takes the innermost level away, again and again."""
    for _ in range(MAX_LEVELS):
        if len(brackets) > 2 * MAX_VALUES:
            break
        brackets = brackets.replace(b"[]", b"")
    if brackets:
        raise Answer(422, {"error": f"the JSON has more than {MAX_LEVELS} levels, or a bracket too many"})


def object_of(request):
    """The body, which must be an object."""
    if not isinstance(request.body, dict):
        raise Refused("the body is no object")
    return request.body


def text_of(body, name):
    if not isinstance(body.get(name), str):
        raise Refused(f"{name} is no text")
    return body[name]


def list_of(body, name, most=1024):
    if not isinstance(body.get(name), list) or len(body[name]) > most:
        raise Refused(f"{name} is no list of at most {most}")
    return body[name]


def make_room():
    """Descriptors for all connections, and for those to the judge, as far as the system lets us."""
    wanted, (now, most) = MAX_STRANGERS + 2 * MAX_CONNECTIONS + 64, resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY:
        wanted = min(wanted, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def server_for(form, judge=None, bind=("127.0.0.1", 0), **options):
    """A server for the form, a module of this package. serve_forever() runs it."""
    judge = judge or Judge(getattr(form, "HTTP_DEFAULTS", None), **options)
    return Server(form.ROUTES, judge, bind, getattr(form, "URL_OPTIONS", ()))
