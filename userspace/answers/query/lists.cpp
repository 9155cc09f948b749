// SPDX-License-Identifier: MIT
// The tables that describe a trace: classes, streams, info.
#include "database.h"
#include "module.h"

namespace monitor::query {
namespace {

constexpr std::uint64_t count_column = 5; // of the table `classes`

const char *domain_name(trace::Domain domain)
{
	return domain == trace::Domain::kernel ? "kernel" : domain == trace::Domain::user ? "user" : "recording";
}

Value size(std::uint64_t number)
{
	return static_cast<std::int64_t>(number);
}

} // namespace

void Database::add_lists()
{
	const auto add = [&](const char *name, const char *columns, auto rows) {
		tables_.emplace_back(name);
		const MemoryTableSpec table = {columns, rows};
		Module<MemoryTable>::add(handle(), name, [table] { return std::make_unique<MemoryTable>(table); });
	};
	add("classes", "name TEXT, id INTEGER, domain TEXT, fields TEXT, \"table\" TEXT, count INTEGER",
	    [this](std::uint64_t used) { return class_rows(used); });
	add("streams",
	    "name TEXT, cpu INTEGER, level INTEGER, packets INTEGER, size_bytes INTEGER, begin_ns INTEGER, end_ns "
	    "INTEGER",
	    [this](std::uint64_t) { return stream_rows(); });
	add("info", "key TEXT, value", [this](std::uint64_t) { return info_rows(); });
}

// Counting reads the whole trace, so it is only done if the column is used.
std::shared_ptr<const Rows> Database::class_rows(std::uint64_t columns_used)
{
	auto rows = std::make_shared<Rows>();
	const std::vector<std::uint64_t> *counts = columns_used >> count_column & 1 ? &folded_.counts() : nullptr;
	for (const auto &cls : context_.trace.description().classes()) {
		std::string fields;
		for (const trace::Field &field : cls->fields)
			fields += (fields.empty() ? "" : ", ") + field.name;
		rows->push_back({cls->name, size(cls->id), std::string(domain_name(cls->domain)), fields,
				 class_table_[cls->index], counts ? size((*counts)[cls->index]) : Value()});
	}
	return rows;
}

std::shared_ptr<const Rows> Database::stream_rows() const
{
	auto rows = std::make_shared<Rows>();
	for (const auto &stream : context_.trace.streams()) {
		const trace::StreamInfo &info = stream->info();
		const bool is_known = !stream->is_foreign();
		const bool has_times = is_known && stream->has_packet_times();
		const auto if_known = [](bool known, std::int64_t value) { return known ? Value(value) : Value(); };
		rows->push_back({info.name, if_known(is_known && info.has_cpu(), info.cpu),
				 if_known(is_known, info.level), size(stream->packets()),
				 size(stream->offset(stream->packets())),
				 if_known(has_times, context_.time_ns(stream->begin_time())),
				 if_known(has_times, context_.time_ns(stream->end_time()))});
	}
	return rows;
}

std::shared_ptr<const Rows> Database::info_rows() const
{
	auto rows = std::make_shared<Rows>();
	const trace::Trace &trace = context_.trace;
	const analyze::RecordingInfo &info = context_.info;
	const auto add = [&](const char *key, Value value) { rows->push_back({std::string(key), std::move(value)}); };
	add("directory", text_or_null(trace.directory()));
	add("begin_wall_ns", trace.description().clock.wall_ns(trace.begin_time()));
	add("begin_ticks", size(trace.begin_time()));
	add("duration_ns", context_.time_ns(trace.end_time()));
	add("clock_hz", size(trace.description().clock.frequency_hz));
	add("size_bytes", size(trace.size_bytes()));
	add("streams", size(trace.streams().size()));
	add("classes", size(trace.description().classes().size()));
	add("command", text_or_null(info.command_line()));
	add("host", text_or_null(info.host));
	add("kernel", text_or_null(info.kernel));
	add("user", text_or_null(info.user));
	add("date", text_or_null(info.date));
	add("note", text_or_null(info.note));
	add("complete", info.present ? Value(std::int64_t(info.complete())) : Value());
	add("lost", info.present && info.complete() ? size(info.lost()) : Value());
	return rows;
}

} // namespace monitor::query
