// SPDX-License-Identifier: MIT
// poet_check TRACE: every event as POET gives it, one JSON object per line, if all ways of reading the trace agree.
//
// Called by described.py, which compares the lines with those of `monitor list --json`. The ways: a merged visit, a
// cursor forward and backward, the streams on two threads, and every 97th event by its index and by its time.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <poet/poet.hpp>

namespace {

using nlohmann::json;

json plain(const poet::Value &value)
{
	if (const auto *number = std::get_if<std::uint64_t>(&value))
		return *number;
	if (const auto *number = std::get_if<std::int64_t>(&value))
		return *number;
	if (const auto *text = std::get_if<std::string_view>(&value))
		return std::string(*text);
	const auto *real = std::get_if<double>(&value);
	if (!real)
		return nullptr;
	if (std::isfinite(*real))
		return *real;
	return std::isnan(*real) ? "nan" : *real < 0 ? "-inf" : "inf";
}

json field_of(const poet::Trace &trace, const poet::Event &event, std::size_t number)
{
	const poet::FieldInfo &info = event.event_class().fields[number];
	const poet::Field field = trace.field(info.name);
	if (const std::string_view label = event.label(field); !label.empty())
		return std::string(label);
	if (info.kind != poet::Kind::list)
		return plain(event.value(number));
	json list = json::array();
	for (const poet::Value &value : event.values(field))
		list.push_back(plain(value));
	return list;
}

std::string line_of(const poet::Trace &trace, const poet::Event &event)
{
	json fields = json::object();
	for (std::size_t i = 0; i < event.event_class().fields.size(); ++i) {
		const std::string &name = event.event_class().fields[i].name;
		if (event.has(name))
			fields[name] = field_of(trace, event, i);
	}
	json line = {{"time_ns", trace.clock().since_begin_ns(event.time())},
		     {"ticks", event.time()},
		     {"event", event.name()},
		     {"level", event.level()},
		     {"mode", event.mode() == poet::Mode::user ? "user" : "kernel"},
		     {"fields", fields}};
	line["cpu"] = event.cpu() ? json(*event.cpu()) : json();
	return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<std::string> walk(const poet::Trace &trace, poet::Item (poet::Cursor::*move)())
{
	poet::Cursor cursor(trace);
	cursor.show_gaps(false);
	if (move == static_cast<poet::Item (poet::Cursor::*)()>(&poet::Cursor::previous))
		cursor.to_end();
	std::vector<std::string> lines;
	while ((cursor.*move)() == poet::Item::event)
		lines.push_back(line_of(trace, cursor.event()));
	return lines;
}

std::vector<std::string> by_streams(const poet::Trace &trace)
{
	std::vector<std::vector<std::string>> seen(2);
	poet::visit_streams(trace, {}, 2, [&](unsigned worker, const poet::Event &event) {
		seen[worker].push_back(line_of(trace, event));
	});
	seen[0].insert(seen[0].end(), seen[1].begin(), seen[1].end());
	return seen[0];
}

const char *disagreement(const poet::Trace &trace, std::vector<std::string> lines)
{
	if (walk(trace, &poet::Cursor::next) != lines)
		return "a cursor that goes forward gives other events than a visit";
	auto back = walk(trace, &poet::Cursor::previous);
	std::reverse(back.begin(), back.end());
	if (back != lines)
		return "a cursor that goes backward gives other events than a visit";
	if (trace.event_count() != lines.size())
		return "the index has another number of events than a visit";
	poet::Cursor cursor(trace), other(trace);
	other.show_gaps(false);
	for (std::size_t i = 0; i < lines.size(); i += 97) {
		if (cursor.move_to(i) != poet::Item::event || line_of(trace, cursor.event()) != lines[i])
			return "an event's index leads to another event";
		if (other.seek(cursor.time()) != poet::Item::event || other.position() > i ||
		    other.time() != cursor.time())
			return "an event's time leads to another event";
	}
	std::sort(lines.begin(), lines.end());
	auto apart = by_streams(trace);
	std::sort(apart.begin(), apart.end());
	return apart != lines ? "the streams by themselves give other events than a visit" : nullptr;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	try {
		const poet::Trace trace(argv[1]);
		std::vector<std::string> lines;
		poet::visit(trace, [&](const poet::Event &event) { lines.push_back(line_of(trace, event)); });
		for (const std::string &line : lines)
			std::cout << line << '\n';
		if (const char *sentence = disagreement(trace, lines)) {
			std::cerr << sentence << '\n';
			return 1;
		}
	} catch (const std::exception &error) {
		std::cerr << error.what() << '\n';
		return 1;
	}
	return 0;
}
