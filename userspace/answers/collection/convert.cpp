// SPDX-License-Identifier: MIT
#include "convert.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/fd.h"
#include "clock_text.h"
#include "event_bits.h"
#include "packet_writer.h"
#include "reading/ctf/interpret.h"
#include "reading/ctf/record_layout.h"
#include "reading/events/merge.h"
#include "tsdl_text.h"

namespace monitor::collection {
namespace {

bool has_cpu_numbers(const trace::RecordLayout &layout)
{
	return layout.segment.cpu >= 0 ||
	       std::any_of(layout.forms.begin(), layout.forms.end(), [](const auto &form) { return form.has_cpu; });
}

TsdlText::Env env_of(const trace::Trace &trace, const std::string &machine)
{
	TsdlText::Env env = trace.description().env;
	const std::string *name = trace.description().find_env("tracer_name");
	env.insert(env.end(), {{"tdl", name ? *name : ""}, {"input", trace.directory()}, {"hostname", machine}});
	return env;
}

class Converter {
public:
	Converter(trace::Trace &trace, const std::string &directory, const std::string &machine)
	    : trace_(trace), has_cpu_(has_cpu_numbers(*trace.description().layout->records)), uuid_(random_uuid()),
	      text_(trace.description().clock, uuid_, env_of(trace, machine), has_cpu_),
	      packets_(directory + "/stream", uuid_, has_cpu_, trace.first_time())
	{
		// Classes with all their fields come first, so that they keep their numbers.
		for (const auto &cls : trace.description().classes())
			text_.add_event(next_id_++, *cls, {});
	}

	// Returns the description.
	std::string run()
	{
		trace::merge(
		    trace_, {}, [this](const trace::Event &event) { add(event); },
		    [this](const trace::StreamInfo &, std::uint64_t from, std::uint64_t to, std::uint64_t discarded) {
			    packets_.add_gap({from, to, discarded});
		    });
		packets_.finish(trace_.end_time());
		return text_.text();
	}

private:
	static constexpr std::size_t max_shape_bytes = 1u << 20;

	void add(const trace::Event &event)
	{
		encode(event, false);
		std::uint32_t id = event.cls->index;
		if (bits_.present().find('0') != std::string::npos && !find_shape(*event.cls, id)) {
			encode(event, true);
			id = id_of(*event.cls, {true, ""});
		}
		packets_.add(id, event.time, event.cpu(), bits_.bytes(), bits_.unused_bits());
	}

	void encode(const trace::Event &event, bool is_open)
	{
		if (!bits_.encode(event, is_open))
			throw Error(
			    "{} has a record of more than {} MiB; leave it out, or describe its contents as hidden",
			    trace_.directory(), EventBits::max_bytes >> 20);
	}

	// False: there are too many shapes.
	bool find_shape(const trace::EventClass &cls, std::uint32_t &id)
	{
		const auto found = ids_.find(shape_key(cls, {false, bits_.present()}));
		if (found == ids_.end() && shape_bytes_ > max_shape_bytes)
			return false;
		id = found != ids_.end() ? found->second : id_of(cls, {false, bits_.present()});
		return true;
	}

	std::uint32_t id_of(const trace::EventClass &cls, const Shape &shape)
	{
		const auto [found, is_new] = ids_.emplace(shape_key(cls, shape), next_id_);
		if (is_new) {
			const std::size_t before = text_.size_bytes();
			text_.add_event(next_id_++, cls, shape);
			shape_bytes_ += text_.size_bytes() - before + found->first.size();
		}
		return found->second;
	}

	static std::string shape_key(const trace::EventClass &cls, const Shape &shape)
	{
		return std::to_string(cls.index) + (shape.is_open ? " open" : ' ' + shape.present);
	}

	trace::Trace &trace_;
	bool has_cpu_;
	Uuid uuid_;
	TsdlText text_;
	PacketWriter packets_;
	EventBits bits_;
	std::unordered_map<std::string, std::uint32_t> ids_; // of open shapes, and of those with a missing field
	std::uint32_t next_id_ = 0;
	std::size_t shape_bytes_ = 0;
};

} // namespace

void convert(trace::Trace &trace, const std::string &directory, const std::string &machine, std::int64_t shift_ns)
{
	const std::string metadata = Converter(trace, directory, machine).run();
	std::string why;
	if (!trace::read_description(metadata, why))
		throw Error(trace.directory() + " cannot be described in CTF: " + why);
	replace_file(directory + "/metadata", shifted_clocks(metadata, shift_ns), 0644);
}

} // namespace monitor::collection
