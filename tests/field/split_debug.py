#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What was inlined is on stacks wherever a program's debug information is, and within nested functions; what is not found is
said, and where it was sought: backward-cpp issue 177, llvm-project issue 62941, DIVA issue 2."""
import os
import pathlib
import re
import shutil

import e2e

SOURCE = pathlib.Path(__file__).with_suffix(".c")
LACKS = "has debug information in"
CHAIN = "main;outer;between (inlined);innermost (inlined)"
FORTRAN = """
program nested
  print *, outer(150000_8), outer(150001_8)
contains
  function outer(n) result(x)
    integer(8), intent(in) :: n
    integer(8) :: x, i
    x = n
    do i = 1, n
      x = x + between(i)
    end do
  end function
  function between(y) result(x)
    integer(8), intent(in) :: y
    integer(8) :: x, i
    x = y
    do i = 1, 1000
      x = x * 6364136223846793005_8 + 1442695040888963407_8
    end do
  end function
end program
"""


def build(name, *options, compiler="gcc", source=SOURCE):
	"""In a folder of its own."""
	e2e.need_program(compiler)
	folder = e2e.work / f"{name}.built"
	folder.mkdir()
	e2e.run(compiler, "-O2", "-g", "-w", *options, source, "-o", name, cwd=folder)
	return folder / name


def record(program):
	return e2e.record(f"{program.name}.trace", "--force", "-p", "cmd", "--stacks=cpu", command=(program, 300_000)).directory


def share(trace, *options, chain=CHAIN):
	"""Of the command's samples: those whose stack has this chain; and what was said."""
	done = e2e.run(e2e.monitor, "report", trace, "stacks", "--command", "--folded", *options)
	stacks = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
	total = sum(int(count) for _, count in stacks)
	e2e.expect(total > 10, f"{trace.name}: {total} samples")
	return sum(int(count) for frames, count in stacks if chain in frames) / max(total, 1), done.stderr


def is_whole(trace, *options, chain=CHAIN):
	found, said = share(trace, *options, chain=chain)
	e2e.expect(found > 0.85 and LACKS not in said, f"{trace.name} {options}: {found:.2f} have {chain}: {said}")


def has_lines(trace, *options):
	found, said = share(trace, "--lines", *options, chain=f"innermost (inlined) ({SOURCE.name}:")
	e2e.expect(found > 0.85 and f"{trace.stem} {LACKS}" not in said, f"{trace.name} {options}: {found:.2f} have the line: {said}")


def lacks(trace, *sought):
	"""The function itself is there, and where the rest was sought is said once."""
	found, said = share(trace)
	e2e.equal(f"{trace.name}: what was inlined", found, 0)
	e2e.expect(share(trace, chain="main;outer")[0] > 0.85, f"{trace.name}: the function is not there, either")
	lines = [line for line in said.splitlines() if LACKS in line]
	e2e.expect(len(lines) == 1 and all(str(path) in lines[0] for path in sought), f"{trace.name}: {sought} is not said: {said}")


def split_units():
	"""Beside the program, or where it was compiled."""
	for name, compiler, *options in (("split5", "gcc"), ("split4", "gcc", "-gdwarf-4"), ("split_clang", "clang", "-gdwarf-5")):
		program = build(name, "-gsplit-dwarf", *options, compiler=compiler)
		rest, = program.parent.glob("*.dwo")
		trace = record(program)
		is_whole(trace)
		has_lines(trace)
		moved = e2e.work / "moved" / name
		moved.parent.mkdir(exist_ok=True)
		shutil.move(program, moved)
		trace = record(moved)
		is_whole(trace)
		rest.rename(e2e.work / rest.name)
		lacks(trace, moved.parent / rest.name, rest)
		os.mkfifo(rest)  # nobody will write to it
		lacks(trace, rest)
		other = build(f"other_{name}", "-gsplit-dwarf", "-Dbetween=other", *options, compiler=compiler)
		rest.unlink()
		shutil.copy(next(other.parent.glob("*.dwo")), rest)  # of another program
		lacks(trace, rest)


def packed_units():
	"""A libdw that does not read them is said."""
	packer = next(filter(shutil.which, ("llvm-dwp", "llvm-dwp-14")), "llvm-dwp")
	e2e.need_program(packer)
	program = build("packed", "-gsplit-dwarf", compiler="clang")
	e2e.run(packer, "-e", program, "-o", f"{program}.dwp")
	next(program.parent.glob("*.dwo")).unlink()
	trace = record(program)
	if "not read by libdw" in share(trace)[1]:
		lacks(trace, f"{program}.dwp")
	else:
		is_whole(trace)
	os.unlink(f"{program}.dwp")
	lacks(trace, f"{program}.dwp")


def debug_link():
	"""Beside the program, in .debug there, or below a directory of debug files; by the build id, or by a checksum."""
	for name, option in (("linked", "--build-id"), ("summed", "--build-id=none")):
		program = build(name, f"-Wl,{option}")
		debug = program.with_suffix(".dbg")
		e2e.run("objcopy", "--only-keep-debug", program, debug)
		e2e.run("strip", "--strip-debug", program)
		e2e.run("objcopy", f"--add-gnu-debuglink={debug}", program)
		trace = record(program)
		is_whole(trace)
		has_lines(trace)
		below = e2e.work / f"debug_{name}"
		at = [program.parent / ".debug" / debug.name, below / str(program.parent)[1:] / debug.name, below / debug.name]
		for before, path in zip((debug, *at), at):
			path.parent.mkdir(parents=True, exist_ok=True)
			shutil.move(before, path)
			is_whole(trace, *(("--debug-dir", below) if below in path.parents else ()))
		lacks(trace, debug, at[0])
		e2e.run("objcopy", "--only-keep-debug", build(f"other_{name}", f"-Wl,{option}"), debug)  # of another program
		lacks(trace, debug)


def common_part():
	"""What two programs' debug information has in common is in a third file."""
	e2e.need_program("dwz")
	program = build("common")
	other = e2e.work / "common2"
	shutil.copy(program, other)
	common = program.parent / "common.dwz"
	e2e.run("dwz", "-m", common, program, other)
	e2e.expect(".gnu_debugaltlink" in e2e.run("readelf", "-SW", program).stdout, "dwz made no common file")
	trace = record(program)
	is_whole(trace)
	has_lines(trace)
	debug = e2e.work / "debug_common"
	build_id = re.search(r"Build ID: (\w+)", e2e.run("readelf", "-n", common).stdout)[1]
	path = debug / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug"
	path.parent.mkdir(parents=True)
	shutil.move(common, path)
	is_whole(trace, "--debug-dir", debug)
	found, said = share(trace)
	e2e.expect(found == 0 and LACKS in said and str(common) in said, f"without the common part {found:.2f} have all names: {said}")


def nested_functions():
	is_whole(record(build("nested", "-DNESTED")), chain=CHAIN.replace("outer", "outer.0"))


def internal_procedures():
	source = e2e.work / "nested.f90"
	source.write_text(FORTRAN)
	trace = record(build("internal", source=source, compiler="gfortran"))
	found, said = share(trace, chain=";between (inlined)")
	e2e.expect(found > 0.85, f"{found:.2f} of the samples have what an internal procedure inlined: {said}")


if __name__ == "__main__":
	e2e.need_recording()
	e2e.main(split_units, packed_units, debug_link, common_part, nested_functions, internal_procedures)
