// SPDX-License-Identifier: MIT
#include "program_ring.h"

#include <cerrno>
#include <string>
#include <utility>

#include <bpf/libbpf.h>

#include "base/error.h"
#include "monitor/card.h"

namespace monitor::card {

template <class Entry> void ProgramRing<Entry>::watch(const bpf_program *program, const bpf_map *map, const char *what)
{
	if (!bpf_program__autoload(program))
		return;
	const auto take = [](void *found, void *entry, std::size_t) {
		static_cast<std::vector<Entry> *>(found)->push_back(*static_cast<const Entry *>(entry));
		return 0;
	};
	link_ = Link(bpf_program__attach(program));
	ring_.reset(ring_buffer__new(bpf_map__fd(map), take, &found_, nullptr));
	if (!link_ || !ring_)
		throw Error(errno, std::string("cannot watch for ") + what);
}

template <class Entry> int ProgramRing<Entry>::fd() const
{
	return ring_ ? ring_buffer__epoll_fd(ring_.get()) : -1;
}

template <class Entry> std::vector<Entry> ProgramRing<Entry>::take()
{
	if (ring_)
		ring_buffer__consume(ring_.get());
	return std::exchange(found_, {});
}

template class ProgramRing<__u32>;
template class ProgramRing<edc_new_cgroup>;

} // namespace monitor::card
