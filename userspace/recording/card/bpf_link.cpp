// SPDX-License-Identifier: MIT
#include "bpf_link.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace monitor::card {
namespace {

constexpr std::size_t log_bytes_kept = 4000;
std::string libbpf_log;

int keep_log(libbpf_print_level level, const char *format, va_list arguments)
{
	static const bool debug = std::getenv("MONITOR_DEBUG");
	if (debug && level == LIBBPF_WARN)
		return std::vfprintf(stderr, format, arguments);
	if (level != LIBBPF_WARN || libbpf_log.size() > log_bytes_kept)
		return 0;
	char line[512];
	std::vsnprintf(line, sizeof line, format, arguments);
	libbpf_log += line;
	return 0;
}

} // namespace

void LinkDeleter::operator()(bpf_link *link) const
{
	bpf_link__destroy(link);
}

void RingBufferDeleter::operator()(ring_buffer *ring) const
{
	ring_buffer__free(ring);
}

Link link_to_event(bpf_program *program, const Fd &event)
{
	Fd fd(::dup(event.get()));
	Link link(bpf_program__attach_perf_event(program, fd.get()));
	if (!link)
		throw Error(
		    errno, fmt::format("cannot attach the probe {} ({})", bpf_program__name(program), first_warning()));
	fd.release(); // now owned by the link
	return link;
}

void collect_warnings()
{
	libbpf_set_print(keep_log);
}

std::string first_warning()
{
	return libbpf_log.substr(0, libbpf_log.find('\n'));
}

} // namespace monitor::card
