#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of sockets that a user without privileges takes, so that root's flight recorder does not start, is not found, is
waited for in vain, or is answered for by somebody else. An attack by the names of abstract sockets.
"""
import ctypes
import os
import socket
import subprocess
import time

import e2e

CLONE_NEWNET = 0x40000000
LITTLE = ("--flight", "8M", "-e", "sched")
SQUAT = """if True:
	import os, resource, socket, sys, time
	limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
	resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
	def named(number):
		s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		s.bind(f"\\0monitor-flight-{number}")
		return s
	what, first, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
	kept = []
	for pid in range(first, first + number):
		try:
			kept.append(named(os.getpid() if what == "answers" else pid))
		except OSError:
			continue
		if what != "taken":
			kept[-1].listen(0 if what == "full" else 5)
		if what == "full":
			kept.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
			kept[-1].connect(f"\\0monitor-flight-{pid}")
	print(len(kept), flush=True)
	while what == "answers":
		caller, _ = kept[0].accept()
		kept.append(caller)
		try:
			caller.recv(65536)
			caller.send(b'{"directory": "/tmp/forged/001", "text": "forged"}')
		except OSError:
			pass  # it has gone
	time.sleep(1000)
"""


class Squatter:
	def __init__(self, what, first=0, number=1):
		self.process = subprocess.Popen(["/usr/bin/python3", "-c", SQUAT, what, str(first), str(number)], stdout=subprocess.PIPE, text=True,
		                                user=65534, group=65534, extra_groups=[])
		e2e.expect(int(self.process.stdout.readline()) >= number / 2, f"{what}: the names cannot be taken")

	def __enter__(self):
		return self

	def __exit__(self, *unused):
		self.process.kill()
		self.process.wait()


def flight(name):
	recorder = e2e.Recorder(name, *LITTLE)
	deadline = time.monotonic() + 30
	while not (recorder.directory / ".monitor/flight.json").exists() and time.monotonic() < deadline and recorder.process.poll() is None:
		time.sleep(0.01)
	return recorder


def taken_ahead():
	newest = subprocess.Popen(["true"])
	newest.wait()
	with Squatter("taken", newest.pid + 1, 1500):
		recorder = flight("taken")
		e2e.run(e2e.monitor, "snapshot", recorder.directory)
		recorder.end()


def one_more():
	"""Without a name it is the only recorder that is asked, whoever else answers."""
	recorder = flight("one_more")
	with Squatter("answers"):
		done = e2e.run(e2e.monitor, "snapshot")
		e2e.expect("forged" not in done.stdout and (recorder.directory / "001").exists(), done.stdout)
	recorder.end()


def full():
	recorder = flight("full")
	with Squatter("full", 4_000_000, 4):
		begin = time.monotonic()
		e2e.run(e2e.monitor, "snapshot", recorder.directory)
		e2e.expect(time.monotonic() - begin < 10, f"the snapshot took {time.monotonic() - begin:.1f} s")
	recorder.end()


def nobody():
	with Squatter("answers"):
		done = e2e.run(e2e.monitor, "snapshot", exit_code=1)
		e2e.expect("no flight recorder runs here" in done.stderr, done.stdout + done.stderr)


def of_before():
	"""One whose name has no random end."""
	with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
		listener.bind(f"\0monitor-flight-{os.getpid()}")
		listener.listen(5)
		asking = subprocess.Popen([e2e.monitor, "snapshot", str(os.getpid())], stdout=subprocess.PIPE, text=True)
		caller = listener.accept()[0]
		caller.recv(65536)
		caller.send(b'{"text": "an old one"}')
		e2e.equal("its answer", asking.communicate(timeout=10)[0], "an old one\n")


def for_sudo():
	"""The recorder of a user who called sudo is found by its directory, which is that user's."""
	place = e2e.work / "users"
	place.mkdir(mode=0o777)
	os.chmod(place, 0o777)
	if e2e.others_may_enter("a directory of a user who called sudo", place):
		os.environ.update(SUDO_UID="65534", SUDO_GID="65534")
		recorder = flight("users/flight")
		del os.environ["SUDO_UID"], os.environ["SUDO_GID"]
		e2e.equal("the directory's owner", recorder.directory.stat().st_uid, 65534)
		e2e.run(e2e.monitor, "snapshot", recorder.directory)
		recorder.end()


if __name__ == "__main__":
	e2e.need_recording()
	if ctypes.CDLL(None).unshare(CLONE_NEWNET) != 0:  # names of its own: other recorders of the machine are not found
		e2e.skip("it needs a network namespace of its own")
	e2e.main(taken_ahead, one_more, full, nobody, of_before, for_sudo)
