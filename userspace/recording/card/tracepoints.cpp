// SPDX-License-Identifier: MIT
#include "tracepoints.h"

#include <bpf/btf.h>

namespace monitor::card {
namespace {

btf *kernel_btf()
{
	static btf *types = btf__load_vmlinux_btf();
	return types;
}

} // namespace

bool kernel_has_types()
{
	return kernel_btf() != nullptr;
}

bool kernel_has_tracepoint(const std::string &name)
{
	return kernel_btf() &&
	       btf__find_by_name_kind(kernel_btf(), ("btf_trace_" + name).c_str(), BTF_KIND_TYPEDEF) > 0;
}

std::string timer_tracepoint()
{
	return kernel_has_tracepoint("local_timer_entry") ? "local_timer_entry" : "irq_handler_entry";
}

} // namespace monitor::card
