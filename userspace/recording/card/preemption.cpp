// SPDX-License-Identifier: MIT
#include "preemption.h"

#include <memory>

#include <bpf/libbpf.h>
#include <time.h>

#include "preemption.skel.h"

namespace monitor::card {
namespace {

struct Destroyer {
	void operator()(::preemption *object) const { preemption__destroy(object); }
};

} // namespace

std::optional<bool> probes_can_be_preempted()
{
	const libbpf_print_fn_t print = libbpf_set_print(nullptr); // silent: failure is no error here
	const std::unique_ptr<::preemption, Destroyer> object(preemption__open_and_load());
	const bool attached = object && preemption__attach(object.get()) == 0;
	libbpf_set_print(print);
	if (!attached)
		return std::nullopt;
	const int &at_call = object->data->count_at_call, &at_switch = object->data->count_at_switch;
	for (timespec moment{0, 1'000'000}; moment.tv_nsec < 1'000'000'000; moment.tv_nsec *= 2) {
		// A system call and a switch, unless the time is over before the thread sleeps.
		::clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr);
		if (at_call >= 0 && at_switch >= 0)
			return at_call == 0 && at_switch > 0;
	}
	return std::nullopt;
}

} // namespace monitor::card
