// SPDX-License-Identifier: MIT
#include "kernel_features.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_set>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>

#include "base/fd.h"
#include "monitor/card.h"

namespace monitor::card {
namespace {

// Null on error, without libbpf's message: callers report it.
btf *load_kernel_btf()
{
	const libbpf_print_fn_t print = libbpf_set_print(nullptr);
	btf *types = btf__load_vmlinux_btf();
	libbpf_set_print(print);
	return types;
}

btf *kernel_btf()
{
	static btf *types = load_kernel_btf();
	return types;
}

int id_of(const std::string &name, unsigned kind)
{
	return kernel_btf() ? btf__find_by_name_kind(kernel_btf(), name.c_str(), kind) : 0;
}

// All tracepoint names at once, because each BTF look-up is a linear search.
std::unordered_set<std::string_view> names_of_tracepoints()
{
	constexpr std::string_view prefix = "btf_trace_";
	std::unordered_set<std::string_view> names;
	for (__u32 id = 1; kernel_btf() && id < btf__type_cnt(kernel_btf()); ++id) {
		const btf_type *type = btf__type_by_id(kernel_btf(), id);
		if (!btf_is_typedef(type))
			continue;
		const std::string_view name = btf__name_by_offset(kernel_btf(), type->name_off);
		if (name.starts_with(prefix))
			names.insert(name.substr(prefix.size()));
	}
	return names;
}

// Bit offset of a struct member, searching anonymous members, too.
std::optional<std::uint32_t> offset_of(int id, std::string_view member)
{
	const btf_type *type = id > 0 ? btf__type_by_id(kernel_btf(), static_cast<__u32>(id)) : nullptr;
	for (__u32 i = 0; type && btf_is_composite(type) && i < btf_vlen(type); ++i) {
		const btf_member &each = btf_members(type)[i];
		const std::uint32_t offset = btf_member_bit_offset(type, i);
		const std::string_view name = btf__name_by_offset(kernel_btf(), each.name_off);
		if (name == member)
			return offset;
		const auto within = name.empty() ? offset_of(static_cast<int>(each.type), member) : std::nullopt;
		if (within)
			return offset + *within;
	}
	return {};
}

// The verifier needs the variable's symbol, but not every kernel has symbols of data (CONFIG_KALLSYMS_ALL).
bool may_name_variable(int id)
{
	const bpf_insn instructions[] = {
	    {BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_BTF_ID, 0, id},
	    {0, 0, 0, 0, 0},
	    {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
	    {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};
	return bool(Fd(bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "symbols", "GPL", instructions,
				     std::size(instructions), nullptr)));
}

} // namespace

bool kernel_has_types()
{
	return kernel_btf() != nullptr;
}

bool kernel_has_tracepoint(const std::string &name)
{
	static const std::unordered_set<std::string_view> tracepoints = names_of_tracepoints();
	return tracepoints.contains(name);
}

std::string tracepoint_of(const std::string &event)
{
	if (kernel_has_tracepoint(event))
		return event;
	const std::string older = "block_bio_queue";
	return event == "block_io_start" && kernel_has_tracepoint(older) ? older : "";
}

std::string timer_tracepoint()
{
	return kernel_has_tracepoint("local_timer_entry") ? "local_timer_entry" : "irq_handler_entry";
}

namespace {

bool find_interrupted_registers()
{
	const int id = id_of("__irq_regs", BTF_KIND_VAR);
	return id > 0 && may_name_variable(id);
}

} // namespace

bool kernel_shows_interrupted_registers()
{
	static const bool shows = find_interrupted_registers(); // asked for by each program that depends on it
	return shows;
}

namespace {

SwitchFlags find_switch_flags()
{
	const int task = id_of("task_struct", BTF_KIND_STRUCT), queue = id_of("cfs_rq", BTF_KIND_STRUCT);
	SwitchFlags flags;
	if (offset_of(task, "in_iowait"))
		flags.known |= EDC_SWITCH_IOWAIT;
	if (offset_of(task, "in_memstall") && Fd(::open("/proc/pressure/memory", O_RDONLY | O_CLOEXEC))) // psi=0
		flags.known |= EDC_SWITCH_MEMSTALL;
	if (offset_of(task, "throttled")) {
		flags.known |= EDC_SWITCH_THROTTLED;
	} else if (const auto count = offset_of(queue, "throttle_count");
		   count && offset_of(id_of("sched_entity", BTF_KIND_STRUCT), "cfs_rq")) {
		flags.known |= EDC_SWITCH_THROTTLED;
		flags.throttle_count = *count / 8;
	}
	return flags;
}

} // namespace

SwitchFlags kernel_switch_flags()
{
	static const SwitchFlags flags = find_switch_flags();
	return flags;
}

bool kernel_has_uprobe_multi()
{
	const int id = id_of("bpf_attach_type", BTF_KIND_ENUM);
	const btf_type *type = id > 0 ? btf__type_by_id(kernel_btf(), static_cast<__u32>(id)) : nullptr;
	for (int i = 0; type && i < btf_vlen(type); ++i)
		if (std::string_view(btf__name_by_offset(kernel_btf(), btf_enum(type)[i].name_off)) ==
		    "BPF_TRACE_UPROBE_MULTI")
			return true;
	return false;
}

bool kernel_takes_irq_time_out()
{
	return id_of("irqtime_account_irq", BTF_KIND_FUNC) > 0; // without the option it is an empty inline function
}

} // namespace monitor::card
