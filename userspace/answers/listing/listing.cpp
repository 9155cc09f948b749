// SPDX-License-Identifier: MIT
#include "listing.h"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "base/date_text.h"
#include "base/error.h"
#include "base/text.h"
#include "reading/events/time_text.h"

namespace monitor::trace {
namespace {

constexpr std::size_t buffer_bytes = 1u << 18;
// Everything in a line except the event's name and fields; includes the thread's name.
constexpr std::size_t max_head_bytes = 1024;
constexpr std::size_t max_name_bytes = sizeof(Threads::Info::text) * max_escaped_chars + 4;
constexpr std::size_t thread_width = 20;

// Pads `from` to `out` to at least `width` characters, with spaces on the right.
char *pad_right(char *from, char *out, std::size_t width)
{
	while (static_cast<std::size_t>(out - from) < width)
		*out++ = ' ';
	return out;
}

char *put_right(char *out, std::string_view text, std::size_t width)
{
	for (std::size_t i = text.size(); i < width; ++i)
		*out++ = ' ';
	return put(out, text);
}

} // namespace

Listing::Listing(const Trace &trace, ListingOptions options, int fd)
    : options_(std::move(options)), threads_(trace), plans_(trace.description().classes().size()), order_(trace),
      clock_(trace.description().clock), begin_time_(trace.begin_time()), fd_(fd)
{
	if (options_.clock)
		day_format_ = time_of_day_format(trace);
	for (const std::string &name : options_.events)
		if (trace.description().find(name).empty())
			throw Error("the trace has no event class " + readable(name) +
				    "; `monitor info` lists those it has, `monitor events` those of each family");
	if (trace.machines().size() > 1)
		format_machines(trace.machines());
	std::size_t line_bytes = 0;
	for (const auto &cls : trace.description().classes()) {
		plans_[cls->index] = compile(*cls);
		line_bytes = std::max(line_bytes, plans_[cls->index].line_bytes);
	}
	buffer_.resize(buffer_bytes + line_bytes);
}

std::size_t Listing::machine_bytes() const
{
	std::size_t most = 0;
	for (const ShortText &machine : machines_)
		most = std::max(most, machine.room());
	return most;
}

void Listing::format_machines(const std::vector<std::string> &names)
{
	std::size_t width = 0;
	for (const std::string &name : names)
		width = std::max(width, readable(name).size());
	for (const std::string &name : names) {
		std::string text = readable(name);
		text.resize(width, ' ');
		machines_.emplace_back(options_.json ? ",\"host\":" + json_text(name) : text + ' ');
	}
}

Listing::Plan Listing::compile(const EventClass &cls) const
{
	Plan plan;
	plan.name = ShortText(options_.json ? json_text(cls.name) : readable(cls.name));
	plan.wanted = options_.events.empty() ||
		      std::find(options_.events.begin(), options_.events.end(), cls.name) != options_.events.end();
	plan.line_bytes = max_head_bytes + plan.name.room() + machine_bytes();
	if (cls.size_bytes == 0) {
		compile_generic_ctf(cls, plan);
		return plan;
	}
	for (const Field &field : cls.fields) {
		plan.steps.push_back(compile(field, cls, plan.line_bytes));
		if (options_.json && plan.steps.size() == 1)
			plan.steps.back().before.erase(0, 1);
	}
	return plan;
}

void Listing::compile_generic_ctf(const EventClass &cls, Plan &plan) const
{
	for (const FieldClass *scope : cls.scopes)
		if (scope == &cls.payload)
			plan.payload.emplace_back(*scope, options_.json);
		else if (scope)
			plan.contexts.emplace_back(*scope, options_.json);
}

Listing::Step Listing::compile(const Field &field, const EventClass &cls, std::size_t &line_bytes) const
{
	Step step;
	step.before = options_.json ? "," + json_text(field.name) + ":" : " " + readable(field.name) + "=";
	step.value = FieldRef(cls, field);
	step.is_signed = field.kind == FieldKind::signed_integer;
	std::size_t value_bytes = max_number_chars + 2;
	if (field.kind == FieldKind::text) {
		step.form = Form::text;
		value_bytes = field.size_bits / 8 * max_escaped_chars + 2;
	} else if (names_a_thread(field.name)) {
		step.form = Form::pid;
		value_bytes += max_name_bytes;
	} else if (field.base == 16) {
		step.form = Form::hex;
	} else if (is_device(cls, field.name)) {
		step.form = Form::device;
	}
	if (field.labels) {
		step.has_labels = step.plain_labels = true;
		for (const auto &label : field.labels->labels()) {
			step.plain_labels = step.plain_labels && is_plain(label.text);
			value_bytes = std::max(value_bytes, label.text.size() * max_escaped_chars + 2);
		}
	}
	line_bytes += step.before.size() + value_bytes;
	return step;
}

void Listing::put_line(const Event &event, std::int64_t running)
{
	Plan &plan = plans_[event.cls->index];
	if (!event.is_token()) {
		generic_line_.clear();
		put_generic_ctf(event, plan);
		buffer_.resize(std::max(buffer_.size(), used_ + plan.line_bytes + generic_line_.size()));
	}
	char *const line = buffer_.data() + used_;
	char *out =
	    options_.json ? put_json_head(line, event, plan, running) : put_text_head(line, event, plan, running);
	if (event.is_token()) {
		if (options_.json)
			out = put(out, ",\"fields\":{");
		for (const Step &step : plan.steps)
			out = put_value(put(out, step.before), event, step);
		out = put(out, options_.json ? "}}\n" : "\n");
	} else {
		out = put(out, generic_line_.view());
	}
	used_ += static_cast<std::size_t>(out - line);
	printed_any_ = true;
	if (used_ >= buffer_bytes)
		flush();
}

void Listing::put_generic_ctf(const Event &event, Plan &plan)
{
	std::uint64_t at_bits = event.at_bits;
	const char *separator = options_.json ? ",\"context\":{" : " ";
	for (ContextText &context : plan.contexts) {
		generic_line_.put(std::exchange(separator, options_.json ? "," : " "));
		context.put(event.view(), at_bits, generic_line_);
	}
	if (options_.json)
		generic_line_.put(plan.contexts.empty() ? ",\"fields\":{" : "},\"fields\":{");
	else if (!plan.payload.empty())
		generic_line_.put(" ");
	for (const FieldText &payload : plan.payload)
		payload.put(event.view(), at_bits, generic_line_);
	generic_line_.put(options_.json ? "}}\n" : "\n");
}

// Returns whether the time is before the start.
bool Listing::split_time(std::uint64_t time, std::uint64_t &seconds, std::uint32_t &nanoseconds)
{
	if (time < begin_time_) {
		const auto ns = static_cast<std::uint64_t>(-clock_.since_ns(begin_time_, time));
		seconds = ns / second_ns;
		nanoseconds = static_cast<std::uint32_t>(ns % second_ns);
		return true;
	}
	const std::uint64_t ticks = time - begin_time_;
	if (ticks < second_ticks_ || ticks - second_ticks_ >= clock_.frequency_hz) {
		second_ = ticks / clock_.frequency_hz;
		second_ticks_ = second_ * clock_.frequency_hz;
	}
	seconds = second_;
	const std::uint64_t rest = ticks - second_ticks_;
	const bool fits = rest < (std::uint64_t(1) << 34); // the product into 64 bits: faster
	nanoseconds = static_cast<std::uint32_t>(fits ? rest * second_ns / clock_.frequency_hz : clock_.to_ns(rest));
	return false;
}

char *Listing::put_seconds(char *out, std::uint64_t time)
{
	std::uint64_t seconds;
	std::uint32_t nanoseconds;
	char number[max_number_chars + 1] = "-";
	char *const digits = number + split_time(time, seconds, nanoseconds);
	const auto size = static_cast<std::size_t>(put_unsigned(digits, seconds) - number);
	out = put_right(out, {number, size}, 4);
	*out++ = '.';
	return put_nanoseconds(out, nanoseconds);
}

char *Listing::put_since_begin(char *out, std::uint64_t time)
{
	std::uint64_t seconds;
	std::uint32_t nanoseconds;
	if (split_time(time, seconds, nanoseconds))
		*out++ = '-';
	return seconds ? put_nanoseconds(put_unsigned(out, seconds), nanoseconds) : put_unsigned(out, nanoseconds);
}

char *Listing::put_time_of_day(char *out, std::uint64_t time)
{
	const std::int64_t ns = clock_.wall_ns(time), below = (ns % second_ns + second_ns) % second_ns;
	if (const std::int64_t second = (ns - below) / second_ns; second != shown_second_ || shown_.empty()) {
		shown_second_ = second;
		shown_ = local_date(second, day_format_);
	}
	out = put(out, shown_);
	*out++ = '.';
	return put_nanoseconds(out, static_cast<std::uint32_t>(below));
}

char *Listing::put_name(char *out, const Threads::Info &name) const
{
	return name.plain ? put(out, name.view()) : put_quoted(out, name.view());
}

char *Listing::put_text_head(char *out, const Event &event, const Plan &plan, std::int64_t running)
{
	char number[max_number_chars];
	if (!event.stream->has_times)
		out = put_right(out, "-", 14);
	else
		out = options_.clock ? put_time_of_day(out, event.time) : put_seconds(out, event.time);
	*out++ = machines_.empty() || order_.follows(event) ? ' ' : '~';
	if (!machines_.empty())
		out = machines_[event.stream->machine].put(out);
	const bool is_recorder = event.stream->is_recorder();
	char *const end = event.has_cpu() ? put_unsigned(number, event.cpu()) : put(number, "-");
	out = put_right(out, {number, static_cast<std::size_t>(end - number)}, 3);
	*out++ = ' ';
	char *const thread = out;
	const Threads::Info *name = threads_.name(running, event.stream->machine);
	if (is_recorder)
		*out++ = '-';
	else
		out = name ? put_name(out, *name) : put(out, "?");
	if (running != Threads::unknown) {
		*out++ = '-';
		out = put_signed(out, running);
	}
	out = pad_right(thread, out, thread_width);
	*out++ = ' ';
	return plan.name.put(out);
}

char *Listing::put_json_head(char *out, const Event &event, const Plan &plan, std::int64_t running)
{
	const bool has_times = event.stream->has_times;
	out = put(out, "{\"time_ns\":");
	out = has_times ? put_since_begin(out, event.time) : put(out, "null");
	out = put(out, ",\"ticks\":");
	out = has_times ? put_unsigned(out, event.time) : put(out, "null");
	if (options_.clock) {
		out = put(out, ",\"wall_ns\":");
		out = has_times ? put_signed(out, clock_.wall_ns(event.time)) : put(out, "null");
	}
	if (!machines_.empty())
		out = put(machines_[event.stream->machine].put(out),
			  order_.follows(event) ? "" : ",\"order_unknown\":true");
	out = put(out, ",\"cpu\":");
	out = event.has_cpu() ? put_unsigned(out, event.cpu()) : put(out, "null");
	out = put_unsigned(put(out, ",\"level\":"), event.level());
	out = put(out, event.mode() == EDC_MODE_KERNEL ? ",\"mode\":\"kernel\"" : ",\"mode\":\"user\"");
	out = plan.name.put(put(out, ",\"event\":"));
	out = put(out, ",\"pid\":");
	out = running == Threads::unknown ? put(out, "null") : put_signed(out, running);
	out = put(out, ",\"comm\":");
	const Threads::Info *name = threads_.name(running, event.stream->machine);
	return name ? put_json(out, name->view()) : put(out, "null");
}

char *Listing::put_value(char *out, const Event &event, const Step &step) const
{
	if (step.form == Form::text) {
		const auto text = step.value.get<std::string_view>(event);
		if (options_.json)
			return put_json(out, text);
		return is_plain(text) ? put(out, text) : put_quoted(out, text);
	}
	if (step.has_labels) {
		if (const std::string *label = step.value.label(event)) {
			if (options_.json)
				return put_json(out, *label);
			return step.plain_labels ? put(out, *label) : put(out, readable(*label));
		}
	}
	if (step.form == Form::device && !options_.json)
		return put(out, device_text(step.value.get(event)));
	if (step.form == Form::hex && !options_.json)
		return put_hex(out, step.value.get(event));
	out = step.is_signed ? put_signed(out, step.value.get<std::int64_t>(event))
			     : put_unsigned(out, step.value.get(event));
	if (step.form != Form::pid || options_.json)
		return out;
	if (const Threads::Info *name = threads_.name(step.value.get<std::int64_t>(event), event.stream->machine)) {
		*out++ = '(';
		out = put_name(out, *name);
		*out++ = ')';
	}
	return out;
}

void Listing::flush()
{
	for (std::size_t at = 0; at < used_ && !reader_is_gone_;) {
		const ssize_t n = ::write(fd_, buffer_.data() + at, used_ - at);
		if (n >= 0)
			at += static_cast<std::size_t>(n);
		else if (errno == EPIPE)
			reader_is_gone_ = true;
		else if (errno != EINTR)
			throw Error(errno, "cannot write the listing");
	}
	used_ = 0;
}

} // namespace monitor::trace
