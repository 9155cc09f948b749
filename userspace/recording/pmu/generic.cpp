// SPDX-License-Identifier: MIT
#include "generic.h"

#include <linux/perf_event.h>
#include <strings.h>

namespace monitor::pmu {
namespace {

const std::vector<GenericEvent> hardware_and_software = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "", "clock cycles of the core, at its current frequency"},
    {"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "", "the same as cycles"},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "", "instructions retired"},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, "",
     "cache accesses, of the last level on most CPUs"},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "",
     "cache misses, of the last level on most CPUs"},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "", "branch instructions retired"},
    {"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "", "the same as branches"},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "", "branch instructions mispredicted"},
    {"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, "", "cycles of the bus clock"},
    {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, "",
     "cycles of a clock of constant frequency while the core runs"},
    {"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "",
     "cycles in which nothing could be issued: no instructions were available"},
    {"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "",
     "cycles in which nothing could be issued: units or memory were busy"},
    {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "ns", "time on the CPU in ns"},
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "ns", "time of the task in ns"},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "", "page faults"},
    {"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "", "the same as page-faults"},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, "", "page faults without input"},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "", "page faults that needed input"},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "", "switches to another thread"},
    {"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "", "the same as context-switches"},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "", "threads that came from another CPU"},
    {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "", "the same as cpu-migrations"},
    {"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, "",
     "unaligned accesses that the kernel carried out"},
    {"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, "",
     "instructions that the kernel emulated"},
};

constexpr unsigned loads = 1, stores = 2, prefetches = 4;

const struct {
	const char *name;
	std::uint64_t id;
	unsigned operations;
	const char *what;
} caches[] = {
    {"L1-dcache", PERF_COUNT_HW_CACHE_L1D, loads | stores | prefetches, "level 1 data cache"},
    {"L1-icache", PERF_COUNT_HW_CACHE_L1I, loads | prefetches, "level 1 instruction cache"},
    {"LLC", PERF_COUNT_HW_CACHE_LL, loads | stores | prefetches, "last level cache"},
    {"dTLB", PERF_COUNT_HW_CACHE_DTLB, loads | stores | prefetches, "data TLB"},
    {"iTLB", PERF_COUNT_HW_CACHE_ITLB, loads, "instruction TLB"},
    {"branch", PERF_COUNT_HW_CACHE_BPU, loads, "branch predictor"},
    {"node", PERF_COUNT_HW_CACHE_NODE, loads | stores | prefetches, "memory of the node"},
};

const struct {
	unsigned bit;
	std::uint64_t id;
	const char *one, *many;
} operations[] = {
    {loads, PERF_COUNT_HW_CACHE_OP_READ, "load", "loads"},
    {stores, PERF_COUNT_HW_CACHE_OP_WRITE, "store", "stores"},
    {prefetches, PERF_COUNT_HW_CACHE_OP_PREFETCH, "prefetch", "prefetches"},
};

std::vector<GenericEvent> make_all()
{
	auto all = hardware_and_software;
	for (const auto &cache : caches)
		for (const auto &operation : operations) {
			if (!(cache.operations & operation.bit))
				continue;
			const std::string name = cache.name, what = cache.what;
			const std::uint64_t config = cache.id | operation.id << 8;
			all.push_back({name + "-" + operation.many, PERF_TYPE_HW_CACHE, config, "",
				       what + ": " + operation.many});
			all.push_back({name + "-" + operation.one + "-misses", PERF_TYPE_HW_CACHE,
				       config | std::uint64_t{PERF_COUNT_HW_CACHE_RESULT_MISS} << 16, "",
				       what + ": " + operation.many + " that missed"});
		}
	return all;
}

} // namespace

const std::vector<GenericEvent> &generic_events()
{
	static const std::vector<GenericEvent> all = make_all();
	return all;
}

const GenericEvent *generic_event(const std::string &name)
{
	for (const GenericEvent &event : generic_events())
		if (::strcasecmp(event.name.c_str(), name.c_str()) == 0)
			return &event;
	return nullptr;
}

} // namespace monitor::pmu
