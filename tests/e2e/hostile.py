#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients without any right beside a recording of the whole machine (`record --user` of root): what they do costs
themselves. The attacks are those of tests/hostile/attacks.py; tests/hostile/run lets them run together and longer."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import e2e

load = os.path.join(e2e.programs, "user_load")
attacks = pathlib.Path(sys.argv[4]) / "tests/hostile/attacks.py"
ANYBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
MAX_DESCRIPTION = 16 << 20  # userspace/base/limits.h


class Recording:
	"""The whole machine's, with the events of all programs."""

	def __init__(self, name, *options, **more):
		self.recorder = e2e.Recorder(name, "--user", "-e", "sched", *options, **more)
		self.pid = self.recorder.process.pid
		self.recorder.wait_until_recording()

	def attack(self, name, seconds):
		try:
			done = e2e.run(*ANYBODY, sys.executable, "-B", public, name, seconds)
		except subprocess.TimeoutExpired:
			self.recorder.process.kill()
			raise
		e2e.expect(name in done.stdout, f"the attack did not come to its end: {done.stdout}{done.stderr}")
		return done.stdout

	def honest(self, events=20_000):
		e2e.run(load, "order", events)

	def cpu_s(self):
		fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
		return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

	def end(self, *may_be_red, honest=20_000):
		trace = self.recorder.end()
		red = trace.check() - {"user_unanswered"}  # attackers that take no answer
		e2e.expect(red <= {*may_be_red}, f"red is {[one for one in trace.statements if one['id'] in red]}")
		numbers = [event["fields"]["number"] for event in trace.events("--event", "before,after")]
		e2e.equal("the honest program's events", numbers, [n // 2 for n in range(2 * honest)])
		trace.card = trace.recording()["user_card"]
		return trace


@e2e.longer
def texts():
	"""Classes without end: the description stays one that is read, and is not written for each of them."""
	recording = Recording("texts")
	before = pathlib.Path(f"/proc/{recording.pid}/io").read_text()
	recording.attack("text", 0.1)
	after = pathlib.Path(f"/proc/{recording.pid}/io").read_text()
	recording.honest()
	trace = recording.end("user_refused")
	size = (trace.directory / "metadata").stat().st_size
	e2e.expect(size < MAX_DESCRIPTION, f"a description of {size} bytes")
	e2e.expect(trace.card["classes_refused"] > 0, f"what the recorder says: {trace.card}")
	said = {text["id"]: text["text"] for text in trace.statements}["user_refused"]
	e2e.expect("too many" in said or "longer" in said or "no space" in said, f"why classes were refused: {said}")
	written = [e2e.values(io.replace(": ", "="))["wchar"] for io in (before, after)]
	e2e.expect(written[1] - written[0] < 400 << 20, f"{written[1] - written[0]} bytes were written for classes")
	print(f"texts: a description of {size} bytes, {written[1] - written[0]} bytes written")


def names():
	"""Names that mean something in the description."""
	words = ("align callsite const char clock double enum env event float floating_point header id int integer long short "
	         "signed stream string struct trace typealias typedef unsigned variant void _Bool _x __x u64_t u16_t").split()
	program = (f"import sys; sys.path.insert(0, {str(attacks.parent)!r}); import attacks; "
	           f"print(attacks.ask([(w, 'arg: u16 ' + w) for w in {words}] + "
	           f"[(w, f'u64 {{w}}; flags {{w}}2 {{{{{{w}}=1}}}}; u64 {{w}}3 (B)') for w in {words}])[1])")
	trace = e2e.record("names", "--force", "--user-only", command=(sys.executable, "-B", "-c", program))
	ids = [int(word) for word in trace.output.strip("()\n").split(",")]
	e2e.expect(0 not in ids and len(ids) == 2 * len(words), f"ids: {ids}")
	trace.info()  # it can be read
	known = set(re.findall(r'name = "(\w+)"', (trace.directory / "metadata").read_text()))
	e2e.expect(set(words) <= known, f"classes that cannot be read: {set(words) - known}")
	if shutil.which("babeltrace2"):
		e2e.equal("babeltrace2's complaints", e2e.run("babeltrace2", trace.directory).stderr, "")


def descriptors():
	"""As many rings as are given, from one user: others still have theirs, and the recorder its files."""
	limited = ("prlimit", "--nofile=1024:1024")
	recording = Recording("descriptors", before=limited)
	cpu = recording.cpu_s()
	output = recording.attack("descriptors", 2)
	cpu = recording.cpu_s() - cpu
	areas = [int(line.rsplit(" ", 1)[1]) for line in output.splitlines() if "areas" in line]
	e2e.expect(0 < sum(areas) <= 128, f"one user had {areas} areas")
	recording.honest()
	trace = recording.end("user_refused")
	e2e.expect(trace.card["refused"] > 0, f"what the recorder says: {trace.card}")
	print(f"descriptors: {areas} areas, {trace.card['refused']} refused, {cpu:.2f} s of CPU in 2 s")


def foreign_files():
	"""Programs that run already are looked for in files of others, by another process than the recorder."""
	attacker = subprocess.Popen([*ANYBODY, sys.executable, "-B", public, "notes", "600"], stdout=subprocess.PIPE, text=True)
	try:
		e2e.equal("the attack", attacker.stdout.readline(), "hostile: mapped\n")
		recording = Recording("foreign")
		read = e2e.values(pathlib.Path(f"/proc/{recording.pid}/io").read_text().replace(": ", "="))["rchar"]
		e2e.expect(read < 100 << 20, f"the recorder read {read} bytes before it began")
		recording.honest()
		trace = recording.end("user_refused")
		print(f"foreign files: {read} bytes read, {trace.card['not_searched']} processes not looked through")
	finally:
		attacker.kill()
		attacker.wait()


def claims():
	"""What a process says that it lost is its own affair: the recorder's count, and what is checked, stay."""
	recording = Recording("claims")
	recording.attack("early", 0.3)
	recording.honest()
	trace = recording.end("user_claims")
	said = [text["text"] for text in trace.statements if text["id"] == "user_claims"]
	e2e.expect(any("not believed" in text for text in said), f"what check says of the claims: {said}")
	lying = [claim for claim in trace.card["largest_claims"] if not claim["possible"]]
	e2e.equal("processes that are not believed", len(lying), 1)
	e2e.equal("lost, by the recorder", trace.summary()["lost"], sum(trace.recording()["lost_by_cpu"]))
	e2e.expect(trace.summary()["claimed_lost"] < 1000, f"believed: {trace.summary()}")
	judged = {text["id"] for text in trace.statements}  # beside hidden threads they are one-sided
	e2e.expect("context_switches" in judged or trace.summary()["lost"], f"what is judged with a liar among the clients: {judged}")


if __name__ == "__main__":
	e2e.need_recording()
	if os.uname().machine != "x86_64":
		e2e.skip("the user card is for x86-64")
	if not e2e.others_may_enter("all", tempfile.gettempdir(), sys.executable):
		e2e.skip("other users can reach no file here, so none can attack")
	e2e.need_program("setpriv")
	with tempfile.TemporaryDirectory(prefix="monitor-hostile-") as directory:
		os.chmod(directory, 0o755)
		public = shutil.copy(attacks, directory)
		e2e.main(texts, names, descriptors, foreign_files, claims)
