"""A headless Chromium, driven through chromedriver with the standard library only."""
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

CHROMIUM_OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic", "--disable-sync",
                    "--disable-background-networking", "--disable-component-update"]


def missing():
    """The name of a program that is not installed; None if all are."""
    names = {"chromium": ["chromium", "chromium-browser", "google-chrome"], "chromedriver": ["chromedriver"]}
    return next((name for name, programs in names.items() if not any(map(shutil.which, programs))), None)


class Browser:
    def __init__(self, width=1280, dark=False):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{free.getsockname()[1]}"
        self.profile = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen(["chromedriver", "--port=" + self.address.rsplit(":", 1)[1]],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = ""
        self._wait_for_driver()
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        options = {"args": CHROMIUM_OPTIONS + [scheme, f"--window-size={width},1000", "--user-data-dir=" + self.profile.name]}
        wanted = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}
        self.session = "/session/" + self.call("POST", "/session", {"capabilities": wanted})["sessionId"]

    def _wait_for_driver(self):
        for _ in range(150):
            try:
                return self.call("GET", "/status")
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.profile.cleanup()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:1000]) from error

    def run(self, script, *arguments):
        """The value of a JavaScript function body."""
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def open(self, url):
        self.call("POST", self.session + "/url", {"url": url})

    def find(self, css):
        found = self.call("POST", self.session + "/element", {"using": "css selector", "value": css})
        return f"{self.session}/element/{next(iter(found.values()))}"

    def click(self, css):
        self.call("POST", self.find(css) + "/click", {})

    def type(self, css, text):
        element = self.find(css)
        self.call("POST", element + "/clear", {})
        self.call("POST", element + "/value", {"text": text})

    def logged(self, kind="browser"):
        return self.call("POST", self.session + "/se/log", {"type": kind})

    def printed(self):
        """The size of the page as PDF, in base64."""
        return len(self.call("POST", self.session + "/print", {}))

    def emulate_width(self, width):
        """The page in a window of so many pixels, which may be a phone's; None: as the browser is."""
        command = "Emulation.setDeviceMetricsOverride" if width else "Emulation.clearDeviceMetricsOverride"
        params = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": True} if width else {}
        self.call("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": params})

    def emulate_print(self, on):
        """Whether the page has the style of paper."""
        command = {"cmd": "Emulation.setEmulatedMedia", "params": {"media": "print" if on else ""}}
        self.call("POST", self.session + "/goog/cdp/execute", command)

    def screenshot(self):
        """A PNG of the window, in base64."""
        return self.call("GET", self.session + "/screenshot")
