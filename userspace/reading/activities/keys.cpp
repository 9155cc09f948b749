// SPDX-License-Identifier: MIT
#include "keys.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/suggestions.h"
#include "base/text.h"

namespace monitor::activities {
namespace {

using filter::Type;

template <class T> void append_bytes(std::string &bytes, const T &value)
{
	bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

Error unknown_name(const std::string &name, const trace::Description &description, const char *option,
		   Keys::Takes takes)
{
	std::vector<std::string> known = {"thread", "process"};
	for (const std::string_view each : filter::common_properties())
		known.emplace_back(each);
	for (const auto &cls : description.classes())
		for (const trace::Field &field : cls->fields)
			known.push_back(field.name);
	constexpr std::size_t max_candidates = 10'000;
	known.resize(std::min(known.size(), max_candidates));
	for (const auto &cls : description.classes())
		if (filter::resolve(filter::name_expression(name), *cls).type != Type::none)
			return Error(fmt::format("{}: {} is {}", option, readable(name),
						 takes == Keys::Takes::numbers
						     ? "not a number; name one"
						     : "neither an integer nor a text; name one of these"));
	const std::string similar = suggestions(name, known);
	return Error(fmt::format("{}: no event of this trace has a field {}.{}", option, readable(name),
				 similar.empty() ? filter::key_hint({name}) : similar));
}

// The types that a name has on one side of a pair.
struct KeyTypes {
	bool number = false, text = false;
};

KeyTypes types_of(const KeySide &side, std::size_t index, const trace::Description &description)
{
	KeyTypes types;
	for (const auto &cls : description.classes()) {
		if (!side.pattern->can_match(*cls) || !side.keys->are_in(*cls))
			continue;
		types.number = types.number || side.keys->type(index, *cls) == Type::number;
		types.text = types.text || side.keys->type(index, *cls) == Type::text;
	}
	return types;
}

} // namespace

void ThreadTable::learn(const trace::Threads &threads)
{
	threads.visit_names([&](std::uint32_t machine, std::int64_t tid, std::string_view name) {
		names_[{machine, tid}] = name;
	});
}

void ThreadTable::merge(const ThreadTable &later)
{
	for (const auto &[id, name] : later.names_)
		names_[id] = name;
	for (const auto &[id, process] : later.process_)
		process_[id] = process;
}

std::string ThreadTable::thread(std::uint32_t machine, std::int64_t tid) const
{
	const auto found = names_.find({machine, tid});
	const std::string name = found == names_.end() ? "?" : found->second.empty() ? "\"\"" : found->second;
	return this->machine(machine) + name + '-' + std::to_string(tid);
}

std::string ThreadTable::machine(std::uint32_t number) const
{
	return are_of_several() && number < machines_.size() ? machines_[number] + ':' : "";
}

std::int64_t ThreadTable::process(std::uint32_t machine, std::int64_t tid) const
{
	const auto found = process_.find({machine, tid});
	return found == process_.end() ? tid : found->second;
}

std::string Cell::shown(const ThreadTable &threads) const
{
	if (!text.empty() || kind == Kind::text)
		return text;
	switch (kind) {
	case Kind::signed_number:
		return (is_of_machine ? threads.machine(machine) : "") +
		       std::to_string(static_cast<std::int64_t>(bits));
	case Kind::unsigned_number:
		return (is_of_machine ? threads.machine(machine) : "") + std::to_string(bits);
	case Kind::thread:
	case Kind::process:
		return threads.thread(machine, static_cast<std::int64_t>(bits));
	default:
		return "";
	}
}

void Cell::append(std::string &bytes) const
{
	append_bytes(bytes, kind);
	append_bytes(bytes, bits);
	append_bytes(bytes, is_of_machine ? machine : 0);
	append_bytes(bytes, text.size());
	bytes += text;
}

Keys::Keys(std::vector<std::string> names, const trace::Description &description, std::uint64_t begin_time,
	   const char *option, Takes takes, filter::Evaluator evaluator)
    : names_(std::move(names)), clock_(&description.clock), begin_time_(begin_time),
      classes_(description.classes().size())
{
	for (const std::string &name : names_) {
		const bool is_fdl = takes == Takes::as_filters;
		const bool is_thread = name == "thread" && !is_fdl, is_process = name == "process" && !is_fdl;
		const filter::Expression expression = filter::name_expression(is_thread || is_process ? "tid" : name);
		bool is_known = false;
		needs_threads_ = needs_threads_ || trace::names_a_thread(expression.text);
		of_machine_.push_back(trace::names_a_thread(expression.text) || expression.text == "cpu" ||
				      expression.text == "dev");
		for (const auto &cls : description.classes()) {
			Part part;
			part.resolved = filter::resolve(
			    expression, *cls, {}, evaluator == filter::Evaluator::reader ? &description : nullptr);
			needs_threads_ = needs_threads_ || part.resolved.source.is_derived();
			if (part.resolved.source.from == filter::ValueSource::From::time)
				part.resolved.source.is_signed = true; // bits() is in ns since the start
			const bool is_number = part.resolved.type == Type::number;
			part.thread_kind = is_process                                            ? Cell::Kind::process
					   : is_number && trace::names_a_thread(expression.text) ? Cell::Kind::thread
												 : Cell::Kind::none;
			part.is_device = is_number && trace::is_device(*cls, expression.text);
			const bool is_text = part.resolved.type == Type::text && takes != Takes::numbers;
			const bool is_real = part.resolved.type == Type::real && takes == Takes::numbers;
			is_known = is_known || is_number || is_text || is_real;
			is_real_ = is_real_ || is_real;
			classes_[cls->index].push_back(part);
		}
		if (!is_known)
			throw unknown_name(name, description, option, takes);
	}
}

bool Keys::has_processes() const
{
	return std::ranges::find(names_, "process") != names_.end();
}

bool Keys::derives(const trace::EventClass &cls) const
{
	return !classes_.empty() && std::ranges::any_of(classes_[cls.index], [](const Part &part) {
		return part.resolved.source.is_derived();
	});
}

bool Keys::are_in(const trace::EventClass &cls) const
{
	const std::vector<Part> &parts = classes_[cls.index];
	return std::ranges::all_of(parts, [](const Part &part) {
		return part.resolved.type == Type::number || part.resolved.type == Type::text;
	});
}

bool Keys::bits(const Part &part, const trace::Event &event, const filter::Running &running, std::uint64_t &value) const
{
	if (part.resolved.type != Type::number || !part.resolved.source.bits(event, running, value))
		return false;
	if (part.resolved.source.from == filter::ValueSource::From::time)
		value = static_cast<std::uint64_t>(clock_->since_ns(begin_time_, value));
	if (threads_ && part.thread_kind == Cell::Kind::process)
		value = static_cast<std::uint64_t>(
		    threads_->process(event.stream->machine, static_cast<std::int64_t>(value)));
	return true;
}

bool Keys::append(const trace::Event &event, const filter::Running &running, std::string &bytes) const
{
	bool is_whole = true;
	const std::vector<Part> &parts = classes_[event.cls->index];
	for (std::size_t i = 0; i < parts.size(); ++i) {
		std::uint64_t number = 0;
		std::string_view text;
		if (bits(parts[i], event, running, number)) {
			bytes += 'n';
			append_bytes(bytes, number);
		} else if (parts[i].resolved.type == Type::text &&
			   parts[i].resolved.source.text(event, running, text)) {
			bytes += 't';
			append_bytes(bytes, text.size());
			bytes += text;
		} else {
			bytes += '-';
			is_whole = false;
		}
		if (of_machine_[i])
			append_bytes(bytes, event.stream->machine);
	}
	return is_whole;
}

void Keys::append(std::uint64_t number, std::uint32_t machine, std::string &bytes) const
{
	bytes += 'n';
	append_bytes(bytes, number);
	if (of_machine_.front())
		append_bytes(bytes, machine);
}

// False: too large, or NaN.
static bool to_millionths(double real, std::int64_t &value)
{
	constexpr double too_large = 9e18 / Keys::real_parts;
	if (!(std::abs(real) < too_large))
		return false;
	value = std::llround(real * Keys::real_parts);
	return true;
}

bool Keys::number(const trace::Event &event, const filter::Running &running, std::int64_t &value) const
{
	const Part &part = classes_[event.cls->index].front();
	const filter::ValueSource &source = part.resolved.source;
	if (part.resolved.type == Type::real && source.field.is_in(event))
		return to_millionths(source.field.get<double>(event), value);
	std::uint64_t found = 0;
	if (!bits(part, event, running, found))
		return false;
	constexpr auto max_value = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
	value = static_cast<std::int64_t>(source.is_signed ? found : std::min(found, max_value));
	return !is_real_ || to_millionths(static_cast<double>(value), value);
}

std::optional<std::int64_t> Keys::thread(const trace::Event &event, const filter::Running &running) const
{
	const std::vector<Part> &parts = classes_[event.cls->index];
	const auto found =
	    std::ranges::find_if(parts, [](const Part &part) { return part.thread_kind != Cell::Kind::none; });
	std::uint64_t tid = 0;
	if (found == parts.end() || !found->resolved.source.bits(event, running, tid))
		return {};
	return static_cast<std::int64_t>(tid);
}

Cell Keys::cell(std::size_t index, const trace::Event &event, const filter::Running &running) const
{
	const Part &part = classes_[event.cls->index][index];
	Cell cell;
	cell.is_of_machine = of_machine_[index];
	cell.machine = event.stream->machine;
	std::string_view text;
	if (bits(part, event, running, cell.bits)) {
		cell.kind = part.thread_kind != Cell::Kind::none ? part.thread_kind
			    : part.resolved.source.is_signed     ? Cell::Kind::signed_number
								 : Cell::Kind::unsigned_number;
	} else if (part.resolved.type == Type::text && part.resolved.source.text(event, running, text)) {
		cell.kind = Cell::Kind::text;
		cell.text = text;
	}
	return cell;
}

std::vector<Cell> Keys::cells(const trace::Event &event, const filter::Running &running) const
{
	std::vector<Cell> cells;
	for (const Part &part : classes_[event.cls->index]) {
		Cell &cell = cells.emplace_back(this->cell(cells.size(), event, running));
		if (cell.is_number() && part.is_device)
			cell.text = trace::device_text(cell.bits);
		if (cell.is_number() && part.resolved.labels && part.resolved.source.is_labelled(event, running))
			if (const std::string *label = part.resolved.labels->find(cell.bits))
				cell.text = *label;
	}
	return cells;
}

void expect_comparable(std::span<const KeySide> sides, const trace::Description &description, const std::string &where)
{
	for (const KeySide &side : sides) {
		const auto can_match = [&](const auto &cls) { return side.pattern->can_match(*cls); };
		const auto has_key = [&](const auto &cls) { return can_match(cls) && side.keys->are_in(*cls); };
		if (std::ranges::any_of(description.classes(), can_match) &&
		    std::ranges::none_of(description.classes(), has_key))
			throw Error("{}: no event that {} has {}.{}", where, side.what,
				    readable(fmt::format("{}", fmt::join(side.keys->names(), ", "))),
				    filter::key_hint(side.keys->names()));
	}
	for (std::size_t index = 0; index < sides.front().keys->names().size(); ++index) {
		const KeySide *number = nullptr, *text = nullptr; // the first sides that are only numbers, only texts
		for (const KeySide &side : sides) {
			const KeyTypes types = types_of(side, index, description);
			if (types.number != types.text)
				(types.number ? number : text) = &side;
		}
		if (number && text)
			throw Error("{}: {} is a number, {} a text: they are never equal.{}", where,
				    readable(number->keys->names()[index]), readable(text->keys->names()[index]),
				    filter::key_hint({number->keys->names()[index], text->keys->names()[index]}));
	}
}

void share_machines(std::span<Keys> keys)
{
	for (const Keys &any : keys)
		for (std::size_t index = 0; index < any.names().size(); ++index)
			for (Keys &each : keys)
				if (!each.empty() && any.is_of_machine(index))
					each.set_of_machine(index);
}

} // namespace monitor::activities
