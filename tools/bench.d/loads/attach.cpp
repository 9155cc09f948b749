// SPDX-License-Identifier: MIT
// Attaches probes for the benches `kernel` and `endtoend`, and holds them until its input ends. Run by peers.py.
//
//   attach KIND EVENTS OBJECT   KIND: empty, minimal (of OBJECT), ours, rejected (the project's card), module (the same
//                               with the kernel module), perf (the kernel's perf events, as `perf record` opens them)
//                               EVENTS: syscall (sys_enter, sys_exit), sched (sched_switch, sched_waking), or default
//                               (all tracepoints of a default recording; not with perf)
//
// Prints "ready" once attached, and at the end one line of JSON: how many probes there were, the sizes of those of the
// pairs, what the card saw and refused, and how many probes of these events another recording had loaded meanwhile:
// then the round is disturbed. The card has the default ring size and a reader that frees every closed block, as the
// drain thread does.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/error.h"
#include "recording/card/bpf_card.h"
#include "recording/card/classes.h"
#include "recording/card/kernel_features.h"
#include "recording/card/module_card.h"
#include "recording/card/preflight_checks.h"
#include "recording/rings/clock.h"

namespace {

constexpr std::uint64_t ring_bytes = 8 << 20;
constexpr unsigned first_slope_ms = 20;
constexpr unsigned look_us = 5000;

using Names = std::vector<std::string>;

void hold()
{
	std::puts("ready");
	std::fflush(stdout);
	char byte;
	while (::read(STDIN_FILENO, &byte, 1) > 0)
		;
}

struct Program {
	std::string name;
	unsigned instructions = 0, jited_bytes = 0;
	unsigned long long misses = 0;
};

// Of the programs of this machine that were loaded after `last_before`, those with one of the names' beginnings.
std::vector<Program> programs_since(unsigned last_before, const Names &names)
{
	std::vector<Program> found;
	for (__u32 id = last_before; bpf_prog_get_next_id(id, &id) == 0;) {
		monitor::Fd fd(bpf_prog_get_fd_by_id(id));
		bpf_prog_info info{};
		__u32 size = sizeof info;
		if (!fd || bpf_obj_get_info_by_fd(fd.get(), &info, &size) != 0)
			continue;
		for (const std::string &name : names)
			if (name.substr(0, sizeof info.name - 1) == info.name)
				found.push_back(
				    {name, info.xlated_prog_len / 8, info.jited_prog_len, info.recursion_misses});
	}
	return found;
}

// The kernel frees programs some time after their end: those of the recording before are not to count as another one.
void wait_for_quiet(const Names &events)
{
	for (int tries = 0; tries < 100 && !programs_since(0, events).empty(); ++tries)
		::usleep(20'000);
}

unsigned last_program()
{
	__u32 id = 0;
	while (bpf_prog_get_next_id(id, &id) == 0)
		;
	return id;
}

void print(std::size_t probes, const std::vector<Program> &programs, std::size_t others, unsigned long long seen = 0,
	   unsigned long long refused = 0)
{
	std::printf("{\"probes\": %zu, \"seen\": %llu, \"refused\": %llu, \"others\": %zu, \"programs\": [", probes,
		    seen, refused, others);
	for (std::size_t i = 0; i < programs.size(); ++i)
		std::printf("%s{\"name\": \"%s\", \"instructions\": %u, \"jited_bytes\": %u, \"misses\": %llu}",
			    i ? ", " : "", programs[i].name.c_str(), programs[i].instructions, programs[i].jited_bytes,
			    programs[i].misses);
	std::puts("]}");
}

// Those of this kind, at these events or at all that this kernel has.
std::vector<bpf_program *> chosen_programs(bpf_object *object, const std::string &kind, const Names &events, bool all)
{
	std::vector<bpf_program *> chosen;
	bpf_program *program;
	bpf_object__for_each_program(program, object)
	{
		const std::string name = bpf_program__name(program);
		if (!name.starts_with(kind + "_"))
			continue;
		const std::string event = name.substr(kind.size() + 1);
		if (all ? monitor::card::kernel_has_tracepoint(event)
			: std::ranges::find(events, event) != events.end())
			chosen.push_back(program);
	}
	return chosen;
}

void run_peer(const std::string &kind, const Names &events, bool all, const char *object_path)
{
	Names names;
	for (const std::string &event : events)
		names.push_back(kind + "_" + event);
	bpf_object *object = bpf_object__open_file(object_path, nullptr);
	if (!object)
		throw monitor::Error(errno, object_path);
	const std::vector<bpf_program *> chosen = chosen_programs(object, kind, events, all);
	for (bpf_program *program : chosen)
		bpf_program__set_autoload(program, true);
	const unsigned before = last_program();
	if (bpf_object__load(object) != 0)
		throw monitor::Error(errno, "the kernel refused the floor programs");
	std::vector<bpf_link *> links;
	for (bpf_program *program : chosen) {
		links.push_back(bpf_program__attach(program));
		if (!links.back())
			throw monitor::Error(errno, std::string("cannot attach ") + bpf_program__name(program));
	}
	const auto programs = programs_since(before, names);
	const std::size_t others = programs_since(0, events).size();
	hold();
	print(links.size(), programs, std::max(others, programs_since(0, events).size()));
	for (bpf_link *link : links)
		bpf_link__destroy(link);
	bpf_object__close(object);
}

// Frees what the probes wrote. The only reader.
void free_blocks(const monitor::card::BpfCard &card)
{
	for (unsigned cpu = 0; cpu < card.cpus(); ++cpu)
		for (unsigned level = 0; level < card.rings(); ++level)
			__atomic_store_n(&card.area(cpu).reader.read[level],
					 __atomic_load_n(&card.area(cpu).level[level].ring.closed, __ATOMIC_ACQUIRE),
					 __ATOMIC_RELEASE);
}

Names default_families()
{
	Names names;
	for (const monitor::card::Family &family : monitor::card::families())
		if (family.by_default)
			names.push_back(family.name);
	return names;
}

void run_card(const std::string &kind, const std::string &family, const Names &events, bool all)
{
	const bool rejecting = kind == "rejected";
	monitor::card::CardOptions options;
	options.families = all ? default_families() : Names{family};
	options.module = kind == "module";
	if (const std::string why = options.module ? monitor::card::why_no_module() : ""; !why.empty())
		throw monitor::Error(why);
	options.filtering = rejecting;
	options.cpus = static_cast<unsigned>(::get_nprocs_conf());
	options.blocks_per_cpu = ring_bytes / EDC_BLOCK_SIZE;
	const unsigned before = last_program();
	monitor::card::BpfCard card(options);
	monitor::record::ClockSteering steering(card.clock(), monitor::card::has_invariant_tsc());
	steering.start(monitor::record::read_sync(monitor::card::has_invariant_tsc()), first_slope_ms);
	if (rejecting) {
		card.trace_process(::getpid()); // somebody else than the load
	}
	if (all)
		card.attach(false);
	else
		card.attach_only(false, events);
	std::jthread reader([&](const std::stop_token &stop) {
		for (; !stop.stop_requested(); ::usleep(look_us))
			free_blocks(card);
	});
	const auto programs = programs_since(before, events);
	const std::size_t probes = card.attached().size();
	hold();
	const std::size_t others = programs_since(0, events).size() - programs.size();
	card.detach();
	unsigned long long seen = 0, refused = 0;
	for (unsigned cpu = 0; cpu < card.cpus(); ++cpu)
		for (const edc_level &level : card.area(cpu).level)
			for (unsigned slot = 0; slot < EDC_CARD_CLASSES; ++slot) {
				seen += level.seen[slot];
				refused += level.discarded[slot];
			}
	print(probes, programs, others, seen, refused);
}

// One tracepoint's event on one CPU, with the fields that perf-record(1) asks for of each sample.
struct PerfEvent {
	monitor::Fd fd;
	perf_event_mmap_page *ring = nullptr;

	PerfEvent(const std::string &group, const std::string &name, unsigned cpu, const PerfEvent *share)
	{
		perf_event_attr attributes{};
		attributes.size = sizeof attributes;
		attributes.type = PERF_TYPE_TRACEPOINT;
		attributes.config =
		    std::stoull(monitor::read_text("/sys/kernel/tracing/events/" + group + "/" + name + "/id"));
		attributes.sample_period = 1;
		attributes.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;
		fd = monitor::Fd(static_cast<int>(
		    ::syscall(SYS_perf_event_open, &attributes, -1, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC)));
		if (!fd)
			throw monitor::Error(errno, "perf_event_open of " + name);
		if (share) {
			::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, share->fd.get());
			return;
		}
		const std::size_t page = 4096;
		void *memory = ::mmap(nullptr, page + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
		if (memory == MAP_FAILED)
			throw monitor::Error(errno, "the ring of " + name);
		ring = static_cast<perf_event_mmap_page *>(memory);
	}
	void free_records() const
	{
		if (ring)
			__atomic_store_n(&ring->data_tail, __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE),
					 __ATOMIC_RELEASE);
	}
};

void run_perf(const std::string &pair, const Names &names)
{
	std::vector<PerfEvent> events;
	events.reserve(names.size() * static_cast<unsigned>(::get_nprocs()));
	for (unsigned cpu = 0; cpu < static_cast<unsigned>(::get_nprocs()); ++cpu) {
		const std::size_t first = events.size();
		for (const std::string &name : names)
			events.emplace_back(pair == "syscall" ? "raw_syscalls" : "sched", name, cpu,
					    events.size() == first ? nullptr : &events[first]);
	}
	std::jthread reader([&](const std::stop_token &stop) {
		for (; !stop.stop_requested(); ::usleep(look_us))
			for (const PerfEvent &event : events)
				event.free_records();
	});
	hold();
	print(events.size(), {}, 0);
}

} // namespace

int main(int count, char **argument)
{
	if (count != 4)
		return std::fputs("attach: KIND EVENTS OBJECT, see the head of attach.cpp\n", stderr), 2;
	const std::string kind = argument[1], set = argument[2];
	const bool all = set == "default";
	Names events; // of the pairs: their programs are shown, and nobody else may have any
	if (all || set == "syscall")
		events = {"sys_enter", "sys_exit"};
	if (all || set == "sched")
		events.insert(events.end(), {"sched_switch", "sched_waking"});
	try {
		wait_for_quiet(events);
		if (kind == "perf")
			run_perf(set, events);
		else if (kind == "ours" || kind == "rejected" || kind == "module")
			run_card(kind, set, events, all);
		else
			run_peer(kind, events, all, argument[3]);
	} catch (const std::exception &error) {
		return std::fprintf(stderr, "attach: %s\n", error.what()), 1;
	}
}
