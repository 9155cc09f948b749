// SPDX-License-Identifier: MIT
#include "record_order.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "decoder.h"
#include "reading/ctf/record_layout.h"

namespace monitor::trace {
namespace {

constexpr std::size_t max_sorted_bytes = 64u << 20, max_sorted_records = 4u << 20;

struct TimedRecord {
	std::uint64_t ticks;
	const std::byte *begin, *end;
};

// Whether times of records are independent of the records before them.
bool can_be_moved(const RecordLayout &layout)
{
	const auto is_absolute = [](const RecordForm &form) {
		return form.time.how == RecordTime::How::point || form.time.how == RecordTime::How::none;
	};
	return !layout.segment.has_value && std::ranges::all_of(layout.forms, is_absolute);
}

// False: the file is damaged.
template <class Visit> bool each_record(const Stream &file, Visit &&visit)
{
	bool is_whole = file.packets() != 0;
	Decoder decoder(file, *file.description());
	file.will_read_on(0);
	for (std::uint64_t packet = 0; packet < file.packets(); ++packet) {
		PacketHead head;
		if (file.read_head(packet, head) || !decoder.open(head, std::numeric_limits<std::uint64_t>::max())) {
			is_whole = false;
			continue;
		}
		for (bool is_first = true;;) {
			for (; decoder.next(); is_first = false) {
				const Event &event = decoder.event();
				visit(TimedRecord{decoder.own_ticks(), event.packet, event.packet + event.end_bits / 8},
				      is_first);
			}
			if (!decoder.is_damaged())
				break;
			is_whole = false;
			decoder.skip_damage();
		}
	}
	return is_whole;
}

} // namespace

std::string RecordOrder::text() const
{
	return fmt::format("{} of {} records step back in time, the first is record {} (counted from 0): {}", step_back,
			   records, first,
			   sorted.empty() ? "they have the latest time before them, not their own"
					  : "all are read in the order of their times");
}

RecordOrder order_records(const Stream &file)
{
	const RecordLayout &layout = *file.description()->layout->records;
	RecordOrder order;
	if (std::ranges::none_of(layout.forms, [](const RecordForm &form) { return form.time.may_step_back; }))
		return order;
	std::uint64_t latest = 0;
	const std::byte *first = nullptr;
	const bool is_whole = each_record(file, [&](const TimedRecord &record, bool is_first) {
		if (!first)
			first = record.begin;
		if (is_first)
			latest = 0; // a segment has times of its own
		if (record.ticks < latest && order.step_back++ == 0)
			order.first = order.records;
		latest = std::max(latest, record.ticks);
		++order.records;
	});
	const auto size = static_cast<std::size_t>(file.whole_bytes());
	if (!is_whole || !can_be_moved(layout) || order.step_back == 0 || size > max_sorted_bytes ||
	    order.records > max_sorted_records)
		return order;
	std::vector<TimedRecord> all;
	all.reserve(order.records);
	if (!each_record(file, [&](const TimedRecord &record, bool) { all.push_back(record); }) ||
	    all.size() != order.records)
		return order; // the file is being changed
	std::ranges::stable_sort(all, {}, &TimedRecord::ticks);
	order.sorted.reserve(size);
	order.sorted.assign(file.bytes(), first);
	for (const TimedRecord &record : all)
		order.sorted.insert(order.sorted.end(), record.begin, record.end);
	return order;
}

} // namespace monitor::trace
