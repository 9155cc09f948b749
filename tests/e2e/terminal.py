# SPDX-License-Identifier: MIT
"""A pseudo terminal with a terminal emulator (pyte): what a screen shows, keys, a new size, the terminal as it was."""
import fcntl
import os
import re
import select
import signal
import struct
import termios
import time

import e2e

try:
	import pyte
except ImportError:
	pyte = None


class Terminal:
	"""A subcommand of monitor in a terminal of this size; shows what is on it."""

	def __init__(self, *arguments, rows=24, columns=80, term="xterm-256color", locale="C.UTF-8"):
		self.screen = pyte.Screen(columns, rows)
		self.stream = pyte.ByteStream(self.screen)
		self.output, self.code = b"", None
		self.master, slave = os.openpty()
		self.set_size(rows, columns)
		self.process = os.fork()
		if self.process == 0:
			os.login_tty(slave)
			os.environ.update(TERM=term, LC_ALL=locale)
			os.execv(e2e.monitor, [e2e.monitor, *map(str, arguments)])
		os.close(slave)
		self.before = termios.tcgetattr(self.master)

	def set_size(self, rows, columns):
		fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
		self.screen.resize(rows, columns)

	def read(self, wait=0.02):
		until = time.monotonic() + 10 * wait
		while time.monotonic() < until and select.select([self.master], [], [], wait)[0]:
			try:
				data = os.read(self.master, 1 << 16)
			except OSError:
				return False
			self.output += data
			self.stream.feed(data)
		return True

	def text(self):
		return "\n".join(row.rstrip() for row in self.screen.display)

	def shows(self, pattern, timeout=10):
		deadline = time.monotonic() + timeout
		while time.monotonic() < deadline:
			self.read()
			if re.search(pattern, self.text(), re.M):
				return True
		return e2e.expect(False, f"the terminal never shows {pattern}:\n{self.text()}")

	def press(self, keys, shows):
		os.write(self.master, keys if isinstance(keys, bytes) else keys.encode())
		return self.shows(shows)

	def wait(self):
		"""Reads until it has ended, as it waits for its output to be read."""
		deadline = time.monotonic() + 10
		while self.code is None and time.monotonic() < deadline:
			self.read()
			pid, status = os.waitpid(self.process, os.WNOHANG)
			self.code = os.waitstatus_to_exitcode(status) if pid else None
		if self.code is None:
			os.kill(self.process, signal.SIGKILL)
			os.waitpid(self.process, 0)
		self.read()
		return self.code

	def end(self, what, exit_code):
		e2e.equal(f"exit code {what}", self.wait(), exit_code)
		e2e.equal(f"settings of the terminal {what}", termios.tcgetattr(self.master), self.before)
		e2e.expect(b"\x1b[?1049l" in self.output, f"{what}: the other screen is not left")
		shown, hidden = self.output.rfind(b"\x1b[?25h"), self.output.rfind(b"\x1b[?25l")
		e2e.expect(shown > hidden, f"{what}: the cursor remains hidden")
		os.close(self.master)


def has_screen():
	if not pyte:
		e2e.leave_out("the terminal", "python3-pyte is not installed")
		return False
	return True
