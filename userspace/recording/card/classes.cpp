// SPDX-License-Identifier: MIT
#include "classes.h"

#include "monitor/card.h"

namespace monitor::card {
namespace {

#define A(kind, name) {#kind, #name, EDC_KIND_BITS_##kind},
#define B(kind, name) {#kind, #name, EDC_KIND_BITS_##kind},
#define F(kind, name) {#kind, #name, EDC_KIND_BITS_##kind},
#define CLASS(id, IDENT, ident, name, family, words, fields) constexpr ClassField fields_##id[] = {EDC_FIELDS(fields)};
EDC_KERNEL_CLASSES(CLASS)
#undef CLASS
#undef A
#undef B
#undef F

constexpr ClassRow rows[] = {
#define CLASS(id, IDENT, ident, name, family, words, fields) {id, #name, #family, words, fields_##id},
    EDC_KERNEL_CLASSES(CLASS)
#undef CLASS
};

constexpr Family all_families[] = {
    {"sched", "who runs, who wakes whom; creation, names and exit of threads", true},
    {"irq", "device interrupts, softirqs, and x86's timer, reschedule and call-function vectors", true},
    {"syscall", "system calls: entry with number and ABI, exit with the result", true},
    {"fault", "page faults: entry with the address, completion minor or major", true},
    {"power", "idle states and frequency changes", true},
    {"block", "block requests submitted, handed to the driver and completed", true},
    {"sample", "what every CPU is doing, all sampled at the same time: --sample-every", false},
    {"stack", "who called whom, in programs and in the kernel: --stacks", false},
    {"function", "calls of functions of programs: --functions", false},
};

// 4 events per request in nginx; other dispensable classes have less than half an event each.
constexpr const char *not_light[] = {"softirq_entry", "softirq_exit", "softirq_raise"};

constexpr EventSet all_sets[] = {
    {"default", "all families that no option of their own records", {}},
    {"light", "default without softirqs: their time is in what they interrupt, and no thread is named as a waker",
     not_light},
};

} // namespace

std::span<const ClassRow> kernel_classes()
{
	return rows;
}

PayloadWords payload_words(const std::vector<unsigned> &counters_in_set)
{
	PayloadWords all;
	all.fill(unknown_words);
#define CLASS(id, IDENT, ident, name, family, words, fields) all[id] = words;
	EDC_CONTROL_CLASSES(CLASS)
	EDC_KERNEL_CLASSES(CLASS)
#undef CLASS
	for (std::size_t set = 0; set < counters_in_set.size(); ++set) {
		const auto words = static_cast<std::uint8_t>(counters_in_set[set]);
		all[EDC_ID_COUNTERS + set] = words;
		all[EDC_ID_COUNTERS_SCALED + set] = words + 2;
	}
	if (!counters_in_set.empty())
		all[EDC_ID_COUNTERS_RESET] = 0;
	return all;
}

std::string family_of(std::string_view name)
{
	for (const ClassRow &row : rows)
		if (row.name == name)
			return row.family;
	return "";
}

std::span<const Family> families()
{
	return all_families;
}

std::span<const EventSet> event_sets()
{
	return all_sets;
}

} // namespace monitor::card
