// SPDX-License-Identifier: MIT
#include "pfm.h"

#include <perfmon/pfmlib_perf_event.h>

namespace monitor::pmu {
namespace {

bool is_ready()
{
	static const bool ready = pfm_initialize() == PFM_SUCCESS;
	return ready;
}

template <class Info> Info empty()
{
	Info info{};
	info.size = sizeof info;
	return info;
}

template <class F> void for_each_pmu_here(F call)
{
	for (int pmu = PFM_PMU_NONE + 1; is_ready() && pmu < PFM_PMU_MAX; ++pmu) {
		auto info = empty<pfm_pmu_info_t>();
		if (pfm_get_pmu_info(static_cast<pfm_pmu_t>(pmu), &info) == PFM_SUCCESS && info.is_present)
			call(info);
	}
}

void add_unit_masks(std::vector<PfmEvent> &all, const pfm_event_info_t &event, const pfm_pmu_info_t &pmu)
{
	const std::size_t before = all.size();
	for (int i = 0; i < event.nattrs; ++i) {
		auto mask = empty<pfm_event_attr_info_t>();
		if (pfm_get_event_attr_info(event.idx, i, PFM_OS_PERF_EVENT_EXT, &mask) == PFM_SUCCESS &&
		    mask.type == PFM_ATTR_UMASK)
			all.push_back({std::string(event.name) + ":" + mask.name, pmu.name,
				       std::string(event.desc) + ": " + mask.desc});
	}
	if (all.size() == before)
		all.push_back({event.name, pmu.name, event.desc});
}

// What an event's name determines. The other fields that libpfm4 can set (periods, pinning) are not part of the name.
perf_event_attr named_part(const perf_event_attr &encoded)
{
	perf_event_attr attributes{};
	attributes.type = encoded.type;
	attributes.config = encoded.config;
	attributes.config1 = encoded.config1;
	attributes.config2 = encoded.config2;
	attributes.exclude_user = encoded.exclude_user;
	attributes.exclude_kernel = encoded.exclude_kernel;
	// The hypervisor is excluded only if the name selects modes; libpfm4 excludes it by default.
	attributes.exclude_hv = encoded.exclude_user || encoded.exclude_kernel ? encoded.exclude_hv : 0;
	return attributes;
}

} // namespace

std::vector<std::string> pfm_families()
{
	std::vector<std::string> names;
	for_each_pmu_here([&](const pfm_pmu_info_t &pmu) {
		if (pmu.type == PFM_PMU_TYPE_CORE)
			names.emplace_back(pmu.name);
	});
	return names;
}

PfmAnswer pfm_encode(const std::string &name)
{
	PfmAnswer answer;
	auto argument = empty<pfm_perf_encode_arg_t>();
	perf_event_attr encoded{};
	argument.attr = &encoded;
	const int result =
	    is_ready() ? pfm_get_os_event_encoding(name.c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &argument)
		       : PFM_ERR_NOINIT;
	answer.is_known = result == PFM_SUCCESS;
	// Every other error concerns what follows the event's name.
	answer.is_event = result != PFM_ERR_NOTFOUND && result != PFM_ERR_NOINIT && result != PFM_ERR_INVAL;
	if (answer.is_known)
		answer.attributes = named_part(encoded);
	return answer;
}

std::vector<PfmEvent> pfm_events()
{
	std::vector<PfmEvent> all;
	for_each_pmu_here([&](const pfm_pmu_info_t &pmu) {
		if (pmu.type != PFM_PMU_TYPE_CORE && pmu.type != PFM_PMU_TYPE_UNCORE)
			return;
		for (int index = pmu.first_event; index != -1; index = pfm_get_event_next(index)) {
			auto event = empty<pfm_event_info_t>();
			if (pfm_get_event_info(index, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS)
				add_unit_masks(all, event, pmu);
		}
	});
	return all;
}

} // namespace monitor::pmu
