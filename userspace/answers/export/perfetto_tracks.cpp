// SPDX-License-Identifier: MIT
#include "perfetto_tracks.h"

#include <algorithm>

#include "monitor/ratio.h"

namespace monitor::exporting::perfetto {
namespace {

constexpr unsigned slice_begin = 1, slice_end = 2, instant = 3, counter_value = 4;
// Field numbers of a track event, and of a track's description.
constexpr Tag event_annotation = 4, event_type = 9, event_track = 11, event_category = 22, event_name = 23,
	      event_count = 30, event_real_count = 44, event_flow = 47, event_last_flow = 48;
constexpr Tag track_uuid = 1, track_name = 2, track_thread = 4, track_parent = 5, track_counter = 8;
constexpr Tag annotation_unsigned = 3, annotation_signed = 4, annotation_text = 6, annotation_name = 10;

// The value of a ratio's code. False: there is none, or only a bound is known.
bool decode(std::uint32_t code, unsigned bits, bool is_inverse, double &value)
{
	const edc_ratio ratio = edc_ratio_decode(code, bits);
	const std::uint64_t numerator = is_inverse ? ratio.denominator : ratio.numerator,
			    denominator = is_inverse ? ratio.numerator : ratio.denominator;
	if (ratio.flags & (EDC_RATIO_INVALID | EDC_RATIO_NONE | EDC_RATIO_OVER | EDC_RATIO_BELOW) || denominator == 0)
		return false;
	value = static_cast<double>(numerator) / static_cast<double>(denominator);
	return true;
}

} // namespace

Tracks::Tracks(PacketStream &packets, const trace::Description &description, const analyze::RecordingInfo &info,
	       const analyze::ThreadFold &fold, const activities::Tracker &tracker, bool with_flows)
    : packets_(packets), fold_(fold), tracker_(tracker), with_flows_(with_flows),
      counters_(description.classes().size()), is_shown_(description.classes().size())
{
	if (info.counters)
		find_counters(description, *info.counters);
	find_events(description, info);
}

void Tracks::add_set_counters(const trace::EventClass &cls, const analyze::CountersInfo &info,
			      const analyze::CounterSetInfo &set)
{
	for (std::size_t i = set.first; i < std::min(set.first + set.count, info.counters.size()); ++i)
		if (const analyze::CounterInfo &counter = info.counters[i]; cls.find(counter.field))
			counters_[cls.index].push_back(
			    {i, counter.name, counter.unit, trace::FieldRef(cls, counter.field), 0, false});
}

void Tracks::find_counters(const trace::Description &description, const analyze::CountersInfo &info)
{
	for (const auto &cls : description.classes()) {
		if (cls->domain == trace::Domain::user)
			continue;
		for (const analyze::CounterSetInfo &set : info.sets)
			if (cls->id == set.id || cls->id == set.scaled_id)
				add_set_counters(*cls, info, set);
		for (const analyze::Measurement &measurement : info.measurements)
			if (info.ratio_bits && cls->id == info.ratio_id && measurement.ratio &&
			    *measurement.ratio < info.ratios.size()) {
				const analyze::RatioInfo &ratio = info.ratios[*measurement.ratio];
				counters_[cls->index].push_back({*measurement.ratio, measurement.name, measurement.unit,
								 trace::FieldRef(*cls, ratio.field), info.ratio_bits,
								 ratio.inverse});
			}
	}
}

// Finds classes to show; starts and ends of activities come from the tracker.
void Tracks::find_events(const trace::Description &description, const analyze::RecordingInfo &info)
{
	const std::set<std::string> names(tracker_.names().begin(), tracker_.names().end());
	for (const auto &cls : description.classes()) {
		if (cls->domain != trace::Domain::user || (info.counters && cls->id == info.counters->user_id))
			continue;
		const std::string &name = cls->name;
		const std::size_t suffix = name.ends_with("_begin") ? 6 : name.ends_with("_end") ? 4 : 0;
		is_shown_[cls->index] = suffix == 0 || !names.contains(name.substr(0, name.size() - suffix));
	}
}

std::uint64_t Tracks::track_of(const analyze::Thread &thread)
{
	const auto [found, is_new] = thread_tracks_.try_emplace(&thread, next_track_);
	if (!is_new)
		return found->second;
	packets_.packet(Sequence::tracks, [&](pbf_writer &body) {
		pbf_writer track(body, packet_track);
		track.add_uint64(track_uuid, next_track_);
		pbf_writer kind(track, track_thread);
		kind.add_int32(1, thread.tgid);
		kind.add_int32(2, thread.tid);
	});
	return next_track_++;
}

std::uint64_t Tracks::track_of(const analyze::Cpu &cpu, const Counter &counter)
{
	const auto [found, is_new] = counter_tracks_.try_emplace({counter.number, cpu.number}, next_track_);
	if (!is_new)
		return found->second;
	packets_.packet(Sequence::tracks, [&](pbf_writer &body) {
		pbf_writer track(body, packet_track);
		track.add_uint64(track_uuid, next_track_);
		track.add_string(track_name, utf8(counter.name) + " of CPU " + std::to_string(cpu.number));
		pbf_writer kind(track, track_counter);
		kind.add_string(6, utf8(counter.unit.empty() ? "1" : counter.unit));
	});
	return next_track_++;
}

// A track with its own name, as Perfetto shows tracks of the same parent and name as one.
std::uint64_t Tracks::side_track(const activities::Finished &activity)
{
	std::vector<SideTrack> &tracks = side_tracks_[{&activity.thread, activity.number}];
	const auto unused =
	    std::ranges::find_if(tracks, [&](const SideTrack &at) { return at.until <= activity.begin; });
	if (unused != tracks.end()) {
		unused->until = activity.end;
		return unused->track;
	}
	const std::uint64_t parent = track_of(activity.thread);
	packets_.packet(Sequence::tracks, [&](pbf_writer &body) {
		pbf_writer track(body, packet_track);
		track.add_uint64(track_uuid, next_track_);
		track.add_string(track_name, utf8(tracker_.names()[activity.number]));
		track.add_uint64(track_parent, parent);
	});
	tracks.push_back({next_track_, activity.end});
	return next_track_++;
}

template <class Fill> void Tracks::add(std::uint64_t time, std::uint64_t track, unsigned type, Fill &&fill)
{
	packets_.packet_at(time, Sequence::tracks, [&](pbf_writer &body) {
		pbf_writer event(body, packet_track_event);
		event.add_uint32(event_type, type);
		event.add_uint64(event_track, track);
		fill(event);
	});
}

void Tracks::mark_ends(std::uint64_t begin, std::uint64_t end, bool is_complete)
{
	const std::uint64_t uuid = next_track_++;
	packets_.packet(Sequence::tracks, [&](pbf_writer &body) {
		pbf_writer track(body, packet_track);
		track.add_uint64(track_uuid, uuid);
		track.add_string(track_name, "monitor");
	});
	const auto mark = [&](std::uint64_t time, const char *name) {
		add(time, uuid, instant, [&](pbf_writer &event) { event.add_string(event_name, name); });
	};
	mark(begin, "start of the recording");
	mark(end, is_complete ? "end of the recording" : "killed: end of what is left of the recording");
}

void Tracks::finished(const activities::Finished &activity)
{
	if (activity.source != activities::ActivitySource::program)
		return;
	const std::uint64_t track = activity.overlaps ? side_track(activity) : track_of(activity.thread);
	add(activity.begin, track, slice_begin, [&](pbf_writer &event) {
		event.add_string(event_category, "activity");
		event.add_string(event_name, utf8(tracker_.names()[activity.number]));
		if (!activity.is_certain) {
			pbf_writer annotation(event, event_annotation);
			annotation.add_string(annotation_name, "overlap");
			annotation.add_string(annotation_text, "its end may be another one's that was open, too");
			return;
		}
		if (!activity.argument || !activity.argument->has_value)
			return;
		pbf_writer annotation(event, event_annotation);
		annotation.add_string(annotation_name, "argument");
		if (const std::string text = activity.argument->text(); text.empty())
			annotation.add_uint64(annotation_unsigned, activity.argument->number);
		else
			annotation.add_string(annotation_text, utf8(text));
	});
	add(activity.end, track, slice_end, [](pbf_writer &) {});
	events_ += 2;
}

void Tracks::annotate(pbf_writer &event, const trace::Event &from)
{
	for (const trace::Field &field : from.cls->fields) {
		const trace::FieldRef ref(*from.cls, field);
		pbf_writer annotation(event, event_annotation);
		annotation.add_string(annotation_name, utf8(field.name));
		if (const std::string *label = ref.label(from))
			annotation.add_string(annotation_text, utf8(*label));
		else if (field.kind == trace::FieldKind::text)
			annotation.add_string(annotation_text, utf8(ref.get<std::string_view>(from)));
		else if (field.kind == trace::FieldKind::signed_integer)
			annotation.add_int64(annotation_signed, ref.get<std::int64_t>(from));
		else
			annotation.add_uint64(annotation_unsigned, ref.get(from));
	}
}

void Tracks::user_event(const analyze::Thread &thread, const trace::Event &event)
{
	if (!is_shown_[event.cls->index] || !fold_.is_counting())
		return;
	add(event.time, track_of(thread), instant, [&](pbf_writer &body) {
		body.add_string(event_category, "program");
		body.add_string(event_name, utf8(event.cls->name));
		annotate(body, event);
	});
	++events_;
}

void Tracks::counters(const analyze::Cpu &cpu, const trace::Event &event)
{
	if (!fold_.is_counting())
		return;
	bool is_written = false;
	for (const Counter &counter : counters_[event.cls->index]) {
		double ratio = 0;
		if (counter.ratio_bits &&
		    !decode(counter.field.get<std::uint32_t>(event), counter.ratio_bits, counter.is_inverse, ratio))
			continue;
		is_written = true;
		add(event.time, track_of(cpu, counter), counter_value, [&](pbf_writer &body) {
			if (counter.ratio_bits)
				body.add_double(event_real_count, counter.unit == "%" ? 100 * ratio : ratio);
			else
				body.add_int64(event_count, counter.field.get<std::int64_t>(event));
		});
	}
	events_ += is_written;
	readings_ += is_written;
}

void Tracks::blocked(const analyze::Thread &thread, std::uint64_t, std::uint64_t to, const analyze::Waker &waker)
{
	woken_.erase(thread.tid);
	if (!with_flows_ || waker.interrupt >= 0 || !waker.thread)
		return;
	const std::uint64_t flow = next_flow_++;
	add(to, track_of(*waker.thread), instant, [&](pbf_writer &event) {
		event.add_string(event_category, "wake-up");
		event.add_string(event_name, "wakes " + utf8(thread.name));
		event.add_fixed64(event_flow, flow);
	});
	woken_[thread.tid] = flow;
}

void Tracks::exchanged(const analyze::Thread &one, const analyze::Thread &other)
{
	std::swap(woken_[one.tid], woken_[other.tid]);
}

void Tracks::runs(std::uint64_t time, std::int32_t tid)
{
	const auto found = woken_.find(tid);
	const analyze::Thread *thread = fold_.thread(tid);
	if (found == woken_.end() || found->second == 0 || !thread)
		return;
	add(time, track_of(*thread), instant, [&](pbf_writer &event) {
		event.add_string(event_category, "wake-up");
		event.add_string(event_name, "woken");
		event.add_fixed64(event_last_flow, found->second);
	});
	woken_.erase(found);
}

} // namespace monitor::exporting::perfetto
