# SPDX-License-Identifier: MIT
"""A terminal of tmux, which is what many terminals are behind: what its pane shows, keys, a new size, how it is left."""
import os
import re
import shutil
import subprocess
import time

import e2e


class Tmux:
	"""A shell in a server of its own."""

	def __init__(self, rows, columns):
		self.socket = f"{e2e.work}/tmux"
		self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows, "env PS1='ready> ' LC_ALL=C.UTF-8 sh")
		self.tmux("set-option", "-g", "window-size", "manual")

	def tmux(self, *arguments):
		environment = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
		done = subprocess.run(["tmux", "-S", self.socket, *map(str, arguments)], capture_output=True, text=True, timeout=20, env=environment)
		if done.returncode:
			raise RuntimeError(f"tmux {arguments}: {done.stderr}")
		return done.stdout

	def text(self):
		return self.tmux("capture-pane", "-p")

	def shows(self, pattern, timeout=20):
		deadline = time.monotonic() + timeout
		while time.monotonic() < deadline:
			if re.search(pattern, self.text(), re.M):
				return True
			time.sleep(0.05)
		return e2e.expect(False, f"tmux never shows {pattern}:\n{self.text()}")

	def press(self, *keys):
		self.tmux("send-keys", *keys)

	def set_size(self, rows, columns):
		self.tmux("resize-window", "-x", columns, "-y", rows)

	def state(self):
		"""Whether the other screen is shown, and the cursor; and where the cursor's keys are the application's."""
		return self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{keypad_cursor_flag} #{keypad_flag}").strip()

	def end(self):
		self.tmux("kill-server")


def has_tmux():
	if not shutil.which("tmux"):
		e2e.leave_out("the terminal of tmux", "tmux is not installed")
		return False
	return True
