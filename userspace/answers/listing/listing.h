// SPDX-License-Identifier: MIT
// The readable listing: one line per event, as text or as JSON.
//
// Called once per event of merge(); writes to a file descriptor. How a class is printed is compiled once (Plan), so
// that an event costs a copy per name and a conversion per value, without streams and format strings. One thread.
// Invariant: a line is written whole or not at all, and names from the trace are escaped (base/text.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reading/ctf/clock.h"
#include "reading/ctf/context_text.h"
#include "reading/events/event.h"
#include "reading/events/event_order.h"
#include "reading/events/field_ref.h"
#include "reading/events/threads.h"
#include "reading/events/trace.h"

namespace monitor::trace {

struct ListingOptions {
	bool json = false;
	bool clock = false;              // times of day; in JSON in addition to the times since the start
	std::vector<std::string> events; // empty: all
};

class Listing {
public:
	// Throws Error if `options` names an event that the trace does not have. `fd` remains the caller's.
	Listing(const Trace &trace, ListingOptions options, int fd);

	// Stops printing events of this class.
	void leave_out(const EventClass &cls) { plans_[cls.index].wanted = false; }
	// Updates threads and times by an event that is not printed.
	void pass(const Event &event)
	{
		threads_.before(event);
		threads_.after(event);
	}
	// Prints an event if the options select it and condition(event, running thread, threads) returns true. False:
	// the output's reader is gone.
	template <class Also> bool print(const Event &event, Also &&condition)
	{
		const std::int64_t running = threads_.before(event);
		if (plans_[event.cls->index].wanted && condition(event, running, std::as_const(threads_)))
			put_line(event, running);
		threads_.after(event);
		return !reader_is_gone_;
	}
	bool print(const Event &event)
	{
		return print(event, [](const Event &, std::int64_t, const Threads &) { return true; });
	}
	void gap(const StreamInfo &stream) { threads_.gap(stream); }
	// Returns the buffered lines, which will not be written.
	std::string take_lines() { return {buffer_.data(), std::exchange(used_, 0)}; }
	// Writes the buffered lines. Throws Error on failure, except if the output's reader is gone.
	void flush();
	bool printed_any() const { return printed_any_; }

private:
	enum class Form : std::uint8_t { decimal, hex, text, pid, device };
	struct Step {
		std::string before; // separator and name
		FieldRef value;
		Form form = Form::decimal;
		bool is_signed = false;
		bool has_labels = false;
		bool plain_labels = false; // can be printed without quotes
	};
	struct Plan {
		std::vector<Step> steps;
		ShortText name;                    // as printed
		std::size_t line_bytes = 0;        // maximum; without generic CTF fields
		std::vector<ContextText> contexts; // of a generic CTF class
		std::vector<FieldText> payload;    // one, or none if it is empty
		bool wanted = true;
	};

	Plan compile(const EventClass &cls) const;
	void compile_generic_ctf(const EventClass &cls, Plan &plan) const;
	Step compile(const Field &field, const EventClass &cls, std::size_t &line_bytes) const;
	std::size_t machine_bytes() const;
	void format_machines(const std::vector<std::string> &names);
	void put_line(const Event &event, std::int64_t running);
	void put_generic_ctf(const Event &event, Plan &plan);

	bool split_time(std::uint64_t time, std::uint64_t &seconds, std::uint32_t &nanoseconds);
	char *put_seconds(char *out, std::uint64_t time);
	char *put_since_begin(char *out, std::uint64_t time);
	char *put_time_of_day(char *out, std::uint64_t time);
	char *put_text_head(char *out, const Event &event, const Plan &plan, std::int64_t running);
	char *put_json_head(char *out, const Event &event, const Plan &plan, std::int64_t running);
	char *put_value(char *out, const Event &event, const Step &step) const;
	char *put_name(char *out, const Threads::Info &name) const;

	ListingOptions options_;
	Threads threads_;
	std::vector<Plan> plans_;         // by class index
	std::vector<ShortText> machines_; // as printed, if there is more than one
	EventOrder order_;                // of the printed events
	const Clock &clock_;
	std::uint64_t begin_time_;
	std::uint64_t second_ticks_ = 0, second_ = 0; // second of the last event
	const char *day_format_ = "";                 // of local_date()
	std::string shown_;                           // shown_second_ as text
	std::int64_t shown_second_ = 0;               // since 1970
	int fd_;
	bool reader_is_gone_ = false;
	bool printed_any_ = false;
	LineBuffer generic_line_; // the fields of one event of generic CTF
	std::vector<char> buffer_;
	std::size_t used_ = 0;
};

} // namespace monitor::trace
