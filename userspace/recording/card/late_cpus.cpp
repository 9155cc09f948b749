// SPDX-License-Identifier: MIT
#include "late_cpus.h"

#include <cerrno>
#include <utility>

#include <bpf/libbpf.h>

#include "monitor/card.h" // ahead of the skeleton, which has its structs
#include "monitor/matcher.h"

#include "base/error.h"
#include "card.skel.h"
#include "kernel_features.h"

namespace monitor::card {

void LateCpus::Deleter::operator()(ring_buffer *ring) const
{
	ring_buffer__free(ring);
}

void LateCpus::configure(::card *skeleton, bool wanted)
{
	bpf_program__set_autoload(skeleton->progs.cpuhp_enter, wanted && kernel_has_tracepoint("cpuhp_enter"));
}

void LateCpus::watch(::card *skeleton)
{
	if (!bpf_program__autoload(skeleton->progs.cpuhp_enter))
		return;
	const auto take = [](void *found, void *cpu, std::size_t) {
		static_cast<std::vector<unsigned> *>(found)->push_back(*static_cast<const __u32 *>(cpu));
		return 0;
	};
	link_ = Link(bpf_program__attach(skeleton->progs.cpuhp_enter));
	ring_.reset(ring_buffer__new(bpf_map__fd(skeleton->maps.new_cpus), take, &found_, nullptr));
	if (!link_ || !ring_)
		throw Error(errno, "cannot watch for CPUs that come online");
}

int LateCpus::fd() const
{
	return ring_ ? ring_buffer__epoll_fd(ring_.get()) : -1;
}

std::vector<unsigned> LateCpus::take()
{
	if (ring_)
		ring_buffer__consume(ring_.get());
	return std::exchange(found_, {});
}

} // namespace monitor::card
