#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`monitor model`: of programs whose structure is known it learns that structure, from each what it is made of; a recording of
another structure violates it, and what says too little is refused."""
import json
import pathlib
import shutil
import sys

import e2e

SOURCES = pathlib.Path(sys.argv[4]) / "tests" / "predict"
INCLUDE = f"-I{pathlib.Path(sys.argv[4]) / 'include'}"


def program(name):
	made = e2e.work / name
	if not made.exists():
		e2e.need_program("g++")
		e2e.run("g++", "-std=c++20", "-O1", "-pthread", INCLUDE, SOURCES / f"{name}.cpp", "-o", made)
	return made


def recorded(name, *command, events="sched,irq,syscall"):
	"""The directory, of a run in which nothing was lost."""
	def record():
		e2e.record(name, "--force", "-e", events, command=("chrt", "-r", "1", *command))
		return e2e.work / name

	def lost(directory):
		return "events were lost" if e2e.Trace(directory).summary()["lost"] else ""
	directory = e2e.work / name
	return directory if directory.exists() else e2e.until_undisturbed(record, lost)


def model(*arguments, exit_code=0):
	return e2e.run(e2e.reader, "model", *arguments, exit_code=exit_code)


def learnt(*directories):
	answer = json.loads(model("--json", *directories).stdout)
	return answer, {role["name"]: role for role in answer["roles"]}


def check(file, directory, exit_code=0):
	return json.loads(model(file, "--check", directory, "--json", exit_code=exit_code).stdout)


def violated(answer):
	return [claim["claim"] for claim in answer["claims"] if not claim["holds"]]


def pipeline():
	return recorded("pipeline1", program("pipeline"), 200, 2, 1, 1, 4)


def roles_of_a_pipeline():
	"""A reader puts, two workers take, a writer awaits each item in its order: with the capacity that the program has."""
	answer, roles = learnt(pipeline())
	e2e.equal("roles", sorted(roles), ["reader", "worker", "writer"])
	e2e.equal("the workers", (roles["worker"]["mode"], roles["worker"]["threads"]), ("pool", 2))
	e2e.equal("the writer", (roles["writer"]["mode"], roles["writer"]["in_order"]), ("each", True))
	e2e.expect(any("squeeze follows check of the same item: 200 of 200" in reason for reason in answer["because"]),
	           f"no reason for the arc: {answer['because']}")
	e2e.equal("capacity", roles["worker"].get("capacity"), 4)
	text = model(pipeline()).stdout
	for words in ("put worker", "signal writer", "await squeeze", "role writer 1 in order: loop 200"):
		e2e.expect(words in text, f"`{words}` is missing: {text}")


@e2e.longer
def lock_of_a_program():
	answer, roles = learnt(recorded("locks1", program("locks"), 300))
	e2e.equal("locks", answer["locks"], ["update"])
	e2e.equal("the role", [(role["mode"], role["threads"]) for role in roles.values()], [("split", 2)])
	answer, roles = learnt(recorded("unlocked", program("locks"), 300, 2, 1, 1, 1))
	e2e.equal("locks without a lock", answer["locks"], [])


@e2e.longer
def calls_of_a_server():
	answer, roles = learnt(recorded("server1", program("server"), 2, 200))
	e2e.equal("the server", (roles["handle"]["mode"], roles["handle"]["threads"]), ("pool", 1))
	text = model(e2e.work / "server1").stdout
	e2e.expect("call handle" in text and "reply" in text and "sleep" in text, f"no call, reply or sleep: {text}")


@e2e.longer
def barriers_of_a_grid():
	answer, roles = learnt(recorded("grid1", program("grid"), 200))
	e2e.equal("roles", sorted(roles), ["relax", "relax+norm"])
	text = model(e2e.work / "grid1").stdout
	e2e.equal("barriers in the model", text.count("; barrier relax") + text.count("barrier norm }"), 4)


def file_and_check():
	"""What was learnt is read as the same; its own recording fulfils it, one of another structure does not."""
	file = e2e.work / "pipeline.model"
	printed = model(pipeline(), "-o", file).stdout
	e2e.equal("the file", file.read_text(), printed)
	e2e.equal("the model as it was read", model(file).stdout, printed)
	own = check(file, pipeline())
	e2e.equal("its own recording", (own["violations"], violated(own)), (0, []))
	e2e.expect(len(own["claims"]) >= 4 and not any(times["differs"] for times in own["times"]), f"{own}")
	other = check(file, recorded("unordered", program("pipeline"), 200, 2, 1, 1, 4, 1), exit_code=1)
	e2e.expect("store is in the order of the items" in " ".join(violated(other)), f"another order is no violation: {violated(other)}")
	e2e.expect(not any("squeeze follows" in claim for claim in violated(other)), f"what still holds is violated: {violated(other)}")
	e2e.equal("options to record it again", model(file, "--record-options").stdout, "-e sched,irq,syscall\n")


@e2e.longer
def other_changes():
	"""Without the lock, and with an activity that takes a third of the time."""
	file = e2e.work / "pipeline.model"
	locks = e2e.work / "locks.model"
	model(recorded("locks1", program("locks"), 300), "-o", locks)
	unlocked = check(locks, recorded("unlocked", program("locks"), 300, 2, 1, 1, 1), exit_code=1)
	e2e.expect(any(claim.startswith("update: one thread at a time") for claim in violated(unlocked)), f"no lock is no violation: {unlocked}")
	faster = check(file, recorded("faster", program("pipeline"), 200, 2, 1, 3, 4), exit_code=1)
	differs = [times["activity"] for times in faster["times"] if times["differs"]]
	e2e.expect("squeeze" in differs, f"an activity of a third is none that differs: {faster['times']}")


@e2e.longer
def several_recordings():
	again = recorded("pipeline2", program("pipeline"), 200, 2, 1, 1, 4)
	answer, _ = learnt(pipeline(), again)
	e2e.equal("recordings", answer["recordings"], 2)
	more = model(recorded("locks1", program("locks"), 300), recorded("three", program("locks"), 300, 3), exit_code=3)
	e2e.expect("are not recordings of one program with the same threads: role local+update" in more.stderr, more.stderr)
	more = model(pipeline(), recorded("unordered", program("pipeline"), 200, 2, 1, 1, 4, 1), exit_code=3)
	e2e.expect("has another structure than other recordings: store is in the order of the items" in more.stderr, more.stderr)


@e2e.longer
def recordings_that_say_too_little():
	done = model(recorded("true", "true"), exit_code=3)
	e2e.expect("No activity or wake-up says what these threads wait for" in done.stderr, done.stderr)
	done = model(recorded("calls", program("pipeline"), 50, events="syscall"), exit_code=1)
	e2e.expect("record with -e sched,irq,syscall" in done.stderr, done.stderr)


def refusals():
	"""A sentence and exit code 3 where the recording does not say enough; 1 where the input is wrong."""
	damaged = e2e.work / "damaged"
	shutil.copytree(pipeline(), damaged)
	stream = max(damaged.glob("kernel_cpu*"), key=lambda file: file.stat().st_size)
	content = bytearray(stream.read_bytes())
	del content[4096:8192]  # a packet is missing
	stream.write_bytes(content)
	done = model(damaged, exit_code=3)
	e2e.expect("Events were lost in this recording: its arrivals are not known." in done.stderr, done.stderr)
	file = e2e.work / "wrong.model"
	for text, sentence in (("# monitor model 1\nrole a: { put b }\n", "wrong.model, line 2: there is no role b"),
	                       ("# monitor model 1\nrole a: loop 3 { cpu x }\n", "has no number"),
	                       ("hello\n", "neither the directory of a trace nor a model")):
		file.write_text(text)
		done = model(file, exit_code=1)
		e2e.expect(sentence in done.stderr and done.stderr.count("\n") == 1, f"{text}: {done.stderr}")
	e2e.expect("--check and --record-options need one" in model(pipeline(), "--check", pipeline(), exit_code=1).stderr, "a trace is checked")


e2e.need_recording()
e2e.main(roles_of_a_pipeline, file_and_check, refusals, lock_of_a_program, calls_of_a_server, barriers_of_a_grid, other_changes,
         several_recordings, recordings_that_say_too_little)
