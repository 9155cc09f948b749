# SPDX-License-Identifier: MIT
"""Debian's Chromium without a window, driven by its DevTools protocol: opens pages, presses keys, moves the mouse, and
collects what a page complains about. One process for all pages of a test: each Browser is a tab of it."""
import atexit
import base64
import functools
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.path.append("/usr/lib/python3/dist-packages")  # of the system, if this is another Python

KEYS = {"Escape": ("Escape", 27), "Enter": ("Enter", 13)}


def why_none():
	if not shutil.which("chromium"):
		return "chromium is not installed"
	try:
		import websocket  # noqa: F401
	except ImportError:
		return "python3-websocket is not installed"
	return ""


# In a page before its own scripts: time passes for its animations when the test says so, frame by frame as ever.
HELD_CLOCK = """(() => {
	const frame = requestAnimationFrame.bind(globalThis);
	globalThis.heldClock = {ms: 1000};
	performance.now = () => heldClock.ms;
	globalThis.requestAnimationFrame = act => frame(() => act(heldClock.ms));
})()"""


@functools.cache
def chromium():
	"""Starts it; the port of its DevTools."""
	home = tempfile.mkdtemp(prefix="browser")
	process = subprocess.Popen(
	    ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-proxy-server", "--no-first-run", "--disable-background-networking",
	     "--disable-dev-shm-usage", "--remote-debugging-port=0", "--remote-allow-origins=*", f"--user-data-dir={home}", "about:blank"],
	    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

	def end():
		process.terminate()
		try:
			process.wait(20)
		except subprocess.TimeoutExpired:
			process.kill()
			process.wait()
		shutil.rmtree(home, ignore_errors=True)

	atexit.register(end)
	port_file = pathlib.Path(home) / "DevToolsActivePort"
	deadline = time.monotonic() + 60
	while not (port_file.exists() and port_file.read_text().count("\n")):
		if process.poll() is not None or time.monotonic() > deadline:
			raise TimeoutError("chromium does not begin")
		time.sleep(0.02)
	return port_file.read_text().splitlines()[0]


def request_of(url):
	"""What a page asks for, with the page's own number, and the number of the request (0: it has none)."""
	parts = urllib.parse.urlsplit(url)
	query = urllib.parse.parse_qs(parts.query)
	return f"{parts.path} {query.get('page')}", int(query.get("request", ["0"])[0])


class Browser:
	def __init__(self, width=1280, height=900, dark=False, held_clock=False):
		import websocket
		request = urllib.request.Request(f"http://127.0.0.1:{chromium()}/json/new?about:blank", method="PUT")
		with urllib.request.urlopen(request) as answer:
			page = json.load(answer)
		self.socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=60)
		self.number = 0
		self.complaints = []  # exceptions, errors of the console, what the content security policy refused
		self.newest = {}  # by path and page, the number of the last request (source.js)
		for domain in ("Page", "Runtime", "Log", "Network"):
			self.call(f"{domain}.enable")
		self.call("Page.bringToFront")
		self.size(width, height)
		self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
		if held_clock:
			self.call("Page.addScriptToEvaluateOnNewDocument", source=HELD_CLOCK)

	def call(self, method, **parameters):
		self.number += 1
		self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
		while True:
			message = json.loads(self.socket.recv())
			if message.get("id") == self.number:
				if "error" in message:
					raise RuntimeError(f"{method}: {message['error']}")
				return message["result"]
			self.note(message)

	def note(self, message):
		parameters = message.get("params", {})
		if message["method"] == "Network.requestWillBeSent":
			path, number = request_of(parameters["request"]["url"])
			self.newest[path] = max(number, self.newest.get(path, number))
		elif message["method"] == "Runtime.exceptionThrown":
			self.complaints.append(json.dumps(parameters["exceptionDetails"])[:500])
		elif message["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
			self.complaints.append(json.dumps(parameters["args"])[:500])
		elif message["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
			url = parameters["entry"].get("url", "")
			path, number = request_of(url)
			is_refused = "status of 400" in parameters["entry"]["text"] and number < self.newest.get(path, number)  # as it was asked for again
			# The icon it may ask for before it has read that the page has none.
			if not is_refused and not url.endswith("/favicon.ico"):
				self.complaints.append(f"{parameters['entry']['text']} {url}".rstrip())

	def size(self, width, height, mobile=False):
		self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

	def open(self, address):
		self.call("Page.navigate", url=address)

	def run(self, expression):
		"""The value of an expression in the page, of a promise its result."""
		result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
		if "exceptionDetails" in result:
			raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
		return result["result"].get("value")

	def is_true(self, expression):
		"""False also while the page is exchanged for another one."""
		try:
			return self.run(expression)
		except RuntimeError as error:
			if "navigated" in str(error):
				return False
			raise

	def wait(self, expression, seconds=30):
		deadline = time.monotonic() + seconds
		while not self.is_true(expression):
			if time.monotonic() > deadline:
				raise TimeoutError(f"{expression} does not become true; complaints: {self.complaints}")
			time.sleep(0.02)

	def pass_time(self, ms):
		"""Of a held clock; then a frame is drawn."""
		self.run(f"(async () => {{ heldClock.ms += {ms}; await new Promise(requestAnimationFrame); }})()")

	def key(self, key):
		name, code = KEYS.get(key, (key, ord(key.upper()) if len(key) == 1 else 0))
		text = {"text": key} if len(key) == 1 else {}
		self.call("Input.dispatchKeyEvent", type="keyDown", key=name, windowsVirtualKeyCode=code, **text)
		self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

	def type(self, text):
		for character in text:
			self.key(character)

	def mouse(self, kind, x, y, **more):
		self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

	def click(self, x, y):
		self.mouse("mousePressed", x, y, button="left", clickCount=1)
		self.mouse("mouseReleased", x, y, button="left", clickCount=1)

	def drag(self, start, end, shift=False):
		modifiers = 8 if shift else 0
		self.mouse("mousePressed", *start, button="left", clickCount=1, modifiers=modifiers)
		for part in range(1, 6):
			self.mouse("mouseMoved", start[0] + (end[0] - start[0]) * part / 5, start[1] + (end[1] - start[1]) * part / 5, button="left",
			           buttons=1, modifiers=modifiers)
		self.mouse("mouseReleased", *end, button="left", clickCount=1, modifiers=modifiers)

	def place(self, selector):
		"""The middle of an element, and its size."""
		box = self.run(f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; }})()")
		return box[0] + box[2] / 2, box[1] + box[3] / 2, box[2], box[3]

	def screenshot(self, path, whole=False):
		picture = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
		pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))

	def close(self):
		self.call("Page.close")
		self.socket.close()
