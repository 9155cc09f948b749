#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of events are encoded as the vendors document them, for CPUs that this machine need not be (libpfm4's
LIBPFM_FORCE_PMU), and every event of every shipped group resolves on the CPUs that the group names. Needs no privilege.

pmu_names.py MONITOR PROGRAMS WORK SOURCE_DIRECTORY
"""
import json
import os
import pathlib
import platform
import re
import sys

import e2e

GROUPS = pathlib.Path(sys.argv[4]) / "share" / "groups"
X86 = platform.machine() == "x86_64"

# Intel's manual (vol. 3, performance monitoring events) and AMD's processor programming references: event number in bits
# 0 to 7, unit mask in 8 to 15, counter mask in 24 to 31, AMD's bits 8 to 11 of the number in 32 to 35.
INTEL = {"LONGEST_LAT_CACHE:MISS": 0x412e, "INST_RETIRED:ANY_P": 0x00c0, "BR_INST_RETIRED:ALL_BRANCHES": 0x00c4,
         "BR_MISP_RETIRED:ALL_BRANCHES": 0x00c5, "CPU_CLK_UNHALTED:THREAD_P": 0x003c, "MEM_LOAD_RETIRED:L1_HIT": 0x01d1,
         "MEM_LOAD_RETIRED:L1_MISS": 0x08d1, "MEM_LOAD_RETIRED:L3_MISS": 0x20d1, "MEM_INST_RETIRED:ALL_LOADS": 0x81d0,
         "MEM_INST_RETIRED:STLB_MISS_LOADS": 0x11d0}
ZEN = {"RETIRED_INSTRUCTIONS": 0xc0, "RETIRED_BRANCH_INSTRUCTIONS": 0xc2, "CYCLES_NOT_IN_HALT": 0x76,
       "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED": 0xc3, "LS_DISPATCH:LD_DISPATCH": 0x0129,
       "L1_DTLB_MISS:TLB_RELOAD_4K_L2_MISS": 0x1045}
ARM = {"INST_RETIRED": 0x08, "CPU_CYCLES": 0x11, "L1D_CACHE": 0x04, "L1D_CACHE_REFILL": 0x03, "BR_RETIRED": 0x21,
       "BR_MIS_PRED_RETIRED": 0x22, "LL_CACHE_RD": 0x36, "LL_CACHE_MISS_RD": 0x37, "DTLB_WALK": 0x34, "L1D_TLB": 0x25}
DOCUMENTED = {
    "skl": INTEL | {"LONGEST_LAT_CACHE:REFERENCE": 0x4f2e, "DTLB_LOAD_MISSES:WALK_ACTIVE": 0x1001008},
    "icl": INTEL | {"LONGEST_LAT_CACHE:REFERENCES": 0x4f2e, "DTLB_LOAD_MISSES:WALK_ACTIVE": 0x1001008},
    "spr": INTEL | {"LONGEST_LAT_CACHE:REFERENCE": 0x4f2e, "DTLB_LOAD_MISSES:WALK_ACTIVE": 0x1001012},
    "amd64_fam17h_zen1": ZEN | {"DATA_CACHE_ACCESSES": 0x40},
    "amd64_fam17h_zen2": ZEN | {"DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM": 0x0843},
    "amd64_fam19h_zen3": ZEN | {"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL": 0x0843,
                                "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_RMT": 0x4044},
    "amd64_fam19h_zen4": ZEN | {"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR": 0x0843,
                                "RETIRED_FUSED_INSTRUCTIONS": 0x1000000d0},
    "arm_n1": ARM, "arm_n2": ARM, "arm_v1": ARM,
}
# What the sections of the groups call these CPUs.
SHORT = {"zen1": "amd64_fam17h_zen1", "zen2": "amd64_fam17h_zen2", "zen3": "amd64_fam19h_zen3",
         "zen4": "amd64_fam19h_zen4", "n1": "arm_n1", "n2": "arm_n2", "v1": "arm_v1"}


# No groups but the shipped ones and those of this test.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("LIBPFM_FORCE_PMU", "SUDO_UID")}
ENVIRONMENT["XDG_CONFIG_HOME"] = str(e2e.work)


def events(*options, family=None):
	more = {"LIBPFM_FORCE_PMU": family} if family else {}
	return e2e.run(e2e.monitor, "events", *options, env=ENVIRONMENT | more).stdout


def is_here(family):
	"""libpfm4 has the CPUs of the architecture that it was built for."""
	return family.startswith("arm") != X86


def encodings():
	tried = 0
	for family, names in DOCUMENTED.items():
		if not is_here(family):
			continue
		for name, code in names.items():
			rows = json.loads(events("--pmu", name, "--json", family=family))
			found = {row["name"]: row for row in rows}
			if e2e.expect(name in found, f"{family}: no {name} among {list(found)[:5]}"):
				e2e.equal(f"{family}: {name}", hex(found[name]["config"]), hex(code))
				tried += 1
	e2e.expect(tried >= 20, f"only {tried} encodings were compared")
	print(f"{tried} encodings; not of this architecture: {[name for name in DOCUMENTED if not is_here(name)]}")


def generic_names():
	"""perf's names, by the numbers of <linux/perf_event.h>."""
	known = {"cycles": (0, 0), "instructions": (0, 1), "branch-misses": (0, 5), "LLC-load-misses": (3, 0x10002),
	         "L1-dcache-loads": (3, 0), "dTLB-load-misses": (3, 0x10003), "page-faults": (1, 2), "cpu-clock": (1, 0)}
	for family in (None, "skl"):
		rows = {row["name"]: row for row in json.loads(events("--pmu", "--json", family=family))}
		for name, (kind, code) in known.items():
			e2e.equal(f"{name}, {family}", (rows[name]["type"], rows[name]["config"]), (kind, code))
		e2e.equal("cpu-clock is missing", rows["cpu-clock"]["missing"], "")
	for name, code in (("r4f2e", 0x4f2e), ("rC0:u", 0xc0)):
		row = json.loads(events("--pmu", name, "--json"))[0]
		e2e.equal(name, (row["name"], row["type"], row["config"]), (name, 4, code))


def named_families():
	names = set()
	for path in GROUPS.glob("*.group"):
		for section in re.findall(r"^\[(.*)\]$", path.read_text(encoding="utf-8"), re.M):
			names |= set(section.split()) - {"intel", "amd", "arm", "x86"}
	return sorted(SHORT.get(name, name) for name in names)


def every_event_of_every_group():
	families = [family for family in named_families() if is_here(family)]
	e2e.expect(len(families) >= 3, f"the groups name only {families}")
	for family in families:
		groups = json.loads(events("--groups", "--json", family=family))
		e2e.equal(f"{family}: groups", [group["group"] for group in groups],
		          sorted(path.stem for path in GROUPS.glob("*.group")))
		for group in groups:
			e2e.expect(group["measurements"] and group["description"], f"{group['group']} is empty")
			for measurement in group["measurements"]:
				what = f"{family}: {group['group']}: {measurement['name']}"
				e2e.equal(f"{what}: unknown event", measurement["unknown"], "")
				e2e.expect(measurement["events"], f"{what} has no events")
				for event in measurement["events"]:
					e2e.expect(event["config"] is not None, f"{what}: {event['name']} is not encoded")
	print(f"the groups resolve on {', '.join(families)}")


def sections_are_used():
	"""The same measurement is counted by other events on other CPUs."""
	if not X86:
		return
	code = {}
	for family in ("skl", "amd64_fam19h_zen3"):
		groups = {group["group"]: group for group in json.loads(events("--groups", "--json", family=family))}
		miss = [m for m in groups["cache"]["measurements"] if m["name"] == "LLC miss"][0]
		code[family] = [event["config"] for event in miss["events"]]
	e2e.equal("LLC miss", code, {"skl": [0x412e, 0x4f2e], "amd64_fam19h_zen3": [0x5c43, 0x5e43]})


def without_a_pmu():
	rows = {row["name"]: row for row in json.loads(events("--pmu", "--json"))}
	reason = rows["cycles"]["missing"]
	if not reason.startswith("no PMU"):
		print(f"not tried: this machine has a PMU ({reason or 'cycles can be counted'})")
		return
	e2e.expect(reason in ("no PMU in this VM", "no PMU on this machine"), f"cycles are missing: {reason}")
	e2e.expect(reason in events("--pmu", "cycles"), "the list does not say that there is no PMU")
	text = events("--groups")
	e2e.expect(re.search(rf"IPC .*n/a: {reason}", text), f"--groups does not say why there is no IPC: {text}")
	e2e.expect(re.search(r"^  faults +page-faults / seconds \[/s\]$", text, re.M), f"no faults in --groups: {text}")


def own_groups():
	place = e2e.work / "monitor" / "groups"
	place.mkdir(parents=True)
	(place / "mine.group").write_text("SHORT my own\nfault share = page-faults / context-switches\n")
	text = events("--groups")
	e2e.expect("mine: my own" in text and "fault share" in text, f"the user's own group is not listed: {text}")
	(place / "mine.group").write_text("SHORT my own\nfault share = page-faults /\n")
	done = e2e.run(e2e.monitor, "events", "--groups", exit_code=1, env=ENVIRONMENT)
	e2e.expect("mine.group:2:" in done.stderr, f"a wrong line of a group: {done.stderr}")


if __name__ == "__main__":
	if "reads traces only" in e2e.run(e2e.monitor, "events", exit_code=None).stderr:
		e2e.skip("this build has no record side")
	e2e.main(encodings, generic_names, every_event_of_every_group, sections_are_used, without_a_pmu, own_groups)
