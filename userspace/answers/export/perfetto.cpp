// SPDX-License-Identifier: MIT
#include "perfetto.h"

#include <fmt/format.h>

#include "perfetto_ftrace.h"
#include "perfetto_packets.h"
#include "perfetto_tracks.h"
#include "reading/activities/tracker.h"
#include "reading/events/merge.h"

namespace monitor::exporting {
namespace {

using perfetto::PacketStream;
using perfetto::pbf_writer;
using perfetto::utf8;

// Perfetto names system calls by the machine type, and interprets thread states by the kernel's version.
void write_system(PacketStream &packets, const analyze::RecordingInfo &info)
{
	packets.packet(perfetto::Sequence::ftrace, [&](pbf_writer &body) {
		pbf_writer system(body, perfetto::packet_system);
		{
			pbf_writer utsname(system, 1);
			utsname.add_string(1, "Linux");
			utsname.add_string(3, utf8(info.kernel.empty() ? "unknown" : info.kernel));
			utsname.add_string(4, utf8(info.machine.empty() ? "unknown" : info.machine));
		}
		system.add_string(4, "monitor");
		if (info.cpus)
			system.add_uint32(8, static_cast<std::uint32_t>(info.cpus));
	});
	packets.packet(perfetto::Sequence::ftrace, [&](pbf_writer &body) {
		pbf_writer config(body, perfetto::packet_config);
		config.add_string(22, utf8(info.title()));
	});
}

} // namespace

Converted write_perfetto(trace::Trace &trace, const analyze::RecordingInfo &info, const PerfettoOptions &options,
			 Output &output)
{
	const trace::Clock &clock = trace.description().clock;
	const analyze::FoldInput input = analyze::input_of(trace, info);
	analyze::ThreadFold fold(input, info, options.scope);
	activities::Tracker tracker(input, fold, {});
	PacketStream packets(output, clock);
	perfetto::Tracks tracks(packets, trace.description(), info, fold, tracker, options.flows);
	perfetto::FtraceBundles bundles(packets, options.flows ? &tracks : nullptr);
	KernelFeed feed(trace, fold, bundles);
	tracker.add(tracks);
	fold.add(tracker);
	fold.add(static_cast<analyze::Observer &>(tracks));

	write_system(packets, info);
	const std::uint64_t begin = trace.first_time();
	bundles.clocks(begin, std::nullopt, static_cast<std::uint64_t>(clock.wall_ns(begin)));
	const bool is_complete = info.complete() || !info.present;
	// After the first clock snapshot, which makes its clock the trace's.
	tracks.mark_ends(fold.window_begin(), fold.window_end(), is_complete);
	trace::merge(
	    trace, {}, [&](const trace::Event &event) { feed.event(event); },
	    [&](const trace::StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t lost) {
		    feed.gap(stream, from, to, lost);
	    });
	feed.finish(is_complete);
	fold.finish();
	tracker.finish();
	bundles.finish();
	output.finish();
	Converted converted = {feed.events() + tracks.events(), feed.outside(), output.size_bytes(), feed.left_out(),
			       feed.losses()};
	if (const std::uint64_t unpaired = tracker.unpaired().begins + tracker.unpaired().ends)
		converted.left_out["starts or ends of activities without the other"] = unpaired;
	if (feed.readings() > tracks.readings())
		converted.left_out["readings of counters without a value"] = feed.readings() - tracks.readings();
	const std::uint64_t of_programs =
	    tracks.events() - tracks.readings() + tracker.unpaired().begins + tracker.unpaired().ends;
	if (feed.events_of_programs() > of_programs)
		converted.left_out["other events of programs"] = feed.events_of_programs() - of_programs;
	return converted;
}

} // namespace monitor::exporting
