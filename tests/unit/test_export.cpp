// SPDX-License-Identifier: MIT
// Converted traces: what a decoder of protocol buffers that is written here finds in them is what the fold has.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string_view>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "answers/export/lttng.h"
#include "answers/export/perfetto.h"
#include "answers/report/profile.h"
#include "history.h"
#include "reading/analyze/thread_fold.h"

namespace test_export {

using namespace monitor;

namespace {

// A field of a message: its number, and an integer or bytes.
struct ProtoField {
	std::uint64_t number = 0, value = 0;
	std::string_view bytes;
};

std::uint64_t take_varint(std::string_view &from)
{
	std::uint64_t value = 0;
	for (unsigned shift = 0;; shift += 7) {
		REQUIRE(!from.empty());
		const auto byte = static_cast<unsigned char>(from.front());
		from.remove_prefix(1);
		value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

std::vector<ProtoField> fields_of(std::string_view message)
{
	std::vector<ProtoField> fields;
	while (!message.empty()) {
		const std::uint64_t key = take_varint(message);
		ProtoField field{key >> 3, 0, {}};
		if ((key & 7) == 0) {
			field.value = take_varint(message);
		} else {
			const std::uint64_t size = (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : take_varint(message);
			REQUIRE(size <= message.size());
			field.bytes = message.substr(0, size);
			message.remove_prefix(size);
		}
		fields.push_back(field);
	}
	return fields;
}

std::uint64_t integer_in(std::string_view message, std::uint64_t number)
{
	for (const ProtoField &field : fields_of(message))
		if (field.number == number)
			return field.value;
	return 0;
}

std::string_view bytes_in(std::string_view message, std::uint64_t number)
{
	for (const ProtoField &field : fields_of(message))
		if (field.number == number)
			return field.bytes;
	return {};
}

std::vector<std::uint64_t> packed(std::string_view bytes)
{
	std::vector<std::uint64_t> values;
	while (!bytes.empty())
		values.push_back(take_varint(bytes));
	return values;
}

struct Switched {
	std::uint64_t time, next;
};

// Of one CPU.
struct Decoded {
	std::vector<Switched> switches;
	std::uint64_t calls = 0, ended_calls = 0, lossy_bundles = 0, lost = 0, begin = 0, end = 0;
};

// At equal times what is compact comes first, as Perfetto takes it.
void decode_bundle(std::string_view bundle, Decoded &into)
{
	into.lossy_bundles += integer_in(bundle, 3);
	const std::string_view compact = bytes_in(bundle, 4);
	const std::vector<std::uint64_t> times = packed(bytes_in(compact, 1)), next = packed(bytes_in(compact, 3));
	REQUIRE(times.size() == next.size());
	std::uint64_t time = 0;
	for (std::size_t i = 0; i < times.size(); ++i)
		into.switches.push_back({time += times[i], next[i]});
	for (const ProtoField &field : fields_of(bundle)) {
		if (field.number != 2)
			continue;
		if (const std::string_view plain = bytes_in(field.bytes, 4); !plain.empty())
			into.switches.push_back({integer_in(field.bytes, 1), integer_in(plain, 6)});
		into.calls += !bytes_in(field.bytes, 329).empty();
		into.ended_calls += !bytes_in(field.bytes, 330).empty();
	}
}

Decoded decode(const std::string &file)
{
	Decoded decoded;
	for (const ProtoField &packet : fields_of(file)) {
		REQUIRE(packet.number == 1);
		if (const std::string_view bundle = bytes_in(packet.bytes, 1); !bundle.empty())
			decode_bundle(bundle, decoded);
		if (const std::string_view event = bytes_in(packet.bytes, 11);
		    bytes_in(event, 23).starts_with("start of"))
			decoded.begin = integer_in(packet.bytes, 8);
		else if (bytes_in(event, 23).ends_with("of the recording"))
			decoded.end = integer_in(packet.bytes, 8);
		if (const std::string_view stats = bytes_in(packet.bytes, 34); integer_in(stats, 1) == 2)
			decoded.lost = integer_in(bytes_in(stats, 2), 3);
	}
	std::ranges::stable_sort(decoded.switches, {}, &Switched::time);
	return decoded;
}

// Of one CPU whose tokens do not contradict each other; after a loss another thread may run.
history::History consistent_history(std::mt19937 &random, std::uint64_t &time)
{
	const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
	history::History history;
	std::uint64_t discarded = 0;
	std::int32_t runs = 0;
	history.cpu(0);
	for (int i = 0; i < 150; ++i) {
		time += 1 + below(40);
		const auto next = static_cast<std::int32_t>(below(4));
		switch (below(6)) {
		case 0:
			if (next != runs)
				history.switches(0, time, runs, below(2), next);
			runs = next;
			break;
		case 1:
			history.wakes(0, time, static_cast<std::int32_t>(1 + below(4)));
			break;
		case 2:
			if (below(3) == 0) {
				discarded += 5;
				runs = next;
			}
			history.cpu(0).open(time, discarded).tid = static_cast<std::uint32_t>(runs);
			history.posts(0, time, EDC_ID_SOFTIRQ_ENTRY, 1);
			break;
		default:
			const unsigned ids[] = {EDC_ID_SYS_ENTER, EDC_ID_SYS_EXIT, EDC_ID_MINOR_FAULT};
			history.posts(0, time, ids[below(3)], below(3));
		}
	}
	return history;
}

// What can be in a converted trace.
std::uint64_t events_in(trace::Trace &trace)
{
	std::uint64_t events = 0;
	trace::merge(trace, {},
		     [&](const trace::Event &event) { events += !event.is_control() && !event.stream->is_recorder(); });
	return events;
}

std::uint64_t accounted_for(const exporting::Converted &converted)
{
	std::uint64_t sum = converted.events + converted.outside;
	for (const auto &[name, count] : converted.left_out)
		sum += count;
	return sum;
}

// Events with their times and numbers.
std::vector<std::string> shown_events(trace::Trace &trace)
{
	std::vector<std::string> events;
	trace::merge(trace, {}, [&](const trace::Event &event) {
		if (event.cls->name == "sched_switch") // there are more where a thread became known without one
			return;
		std::string text = std::to_string(event.time) + " " + event.cls->name;
		for (const trace::Field &field : event.cls->fields)
			text += " " + std::to_string(trace::FieldRef(*event.cls, field).get<std::int64_t>(event));
		events.push_back(std::move(text));
	});
	return events;
}

class Directory {
public:
	Directory() : path_(std::filesystem::temp_directory_path() / ("test_export" + std::to_string(::getpid())))
	{
		std::filesystem::create_directories(path_);
	}
	~Directory() { std::filesystem::remove_all(path_); }
	Directory(const Directory &) = delete;

	std::string file(const std::string &name) const { return (path_ / name).string(); }
	std::string read(const std::string &name) const
	{
		std::ifstream from(file(name), std::ios::binary);
		return {std::istreambuf_iterator<char>(from), {}};
	}

private:
	std::filesystem::path path_;
};

} // namespace

TEST_CASE("export: times on the CPU in Perfetto's switches are those of the fold")
{
	const Directory directory;
	std::mt19937 random(5);
	std::uint64_t compared = 0, lossy = 0;
	for (int round = 0; round < 300; ++round) {
		std::uint64_t time = 0;
		history::History history = consistent_history(random, time);
		trace::Trace trace = samples::trace(history.all(), history::events);
		const analyze::RecordingInfo info = history::make_info(5, time + 10, round % 3 != 0, false);
		analyze::Scope scope;
		if (round % 4 == 0)
			scope.range = {time / 4, time / 2};
		analyze::ThreadFold fold(trace, info, scope);
		analyze::feed(trace, fold);
		exporting::Output output(directory.file("trace"));
		trace::Trace again = samples::trace(history.all(), history::events);
		const exporting::Converted converted = exporting::write_perfetto(again, info, {scope, true}, output);
		const Decoded decoded = decode(directory.read("trace"));
		CHECK(converted.size_bytes == directory.read("trace").size());
		CHECK(accounted_for(converted) == events_in(again));
		CHECK(decoded.begin == fold.window_begin());
		CHECK(decoded.end == fold.window_end());
		std::map<std::uint64_t, std::uint64_t> sums;
		for (std::size_t i = 0; i < decoded.switches.size(); ++i) {
			const std::uint64_t until =
			    i + 1 < decoded.switches.size() ? decoded.switches[i + 1].time : decoded.end;
			sums[decoded.switches[i].next] += until - decoded.switches[i].time;
		}
		for (const analyze::Thread &thread : fold.threads()) {
			INFO("thread " << thread.tid << " in round " << round);
			if (thread.tid != 0)
				CHECK(sums[static_cast<std::uint64_t>(thread.tid)] == thread.usage.cpu());
			++compared;
		}
		CHECK(sums[0] == fold.idle_ticks(fold.cpus()[0]));
		if (round % 4 != 0)
			CHECK(decoded.lost == converted.losses.lost);
		lossy += decoded.lossy_bundles;
	}
	CHECK(compared > 1000);
	CHECK(lossy > 50);
}

TEST_CASE("export: a trace of LTTng has the events, times and losses of the original")
{
	const Directory directory;
	std::mt19937 random(9);
	for (int round = 0; round < 20; ++round) {
		std::uint64_t time = 0;
		history::History history = history::random_history(random, time, 2);
		trace::Trace trace = samples::trace(history.all(), history::events);
		const analyze::RecordingInfo info = history::make_info(0, time + 10, true, false);
		const std::string to = directory.file("lttng" + std::to_string(round));
		const exporting::Converted converted = exporting::write_lttng(trace, info, {}, to);
		trace::Trace read = trace::Trace::open(to);
		trace::Losses losses;
		std::uint64_t switches = 0, original = 0, last = 0;
		trace::merge(
		    read, {},
		    [&](const trace::Event &event) {
			    switches += event.cls->name == "sched_switch";
			    last = event.time;
		    },
		    [&](const trace::StreamInfo &, std::uint64_t, std::uint64_t, std::uint64_t lost) {
			    losses.add(lost);
		    });
		trace::merge(trace, {},
			     [&](const trace::Event &event) { original += event.cls->name == "sched_switch"; });
		CHECK(read.problems().empty());
		CHECK(switches >= original); // and where the thread became known without one
		CHECK(losses.lost == converted.losses.lost);
		CHECK(last <= time);
		CHECK_THROWS(exporting::write_lttng(trace, info, {}, to));
		CHECK(std::filesystem::exists(to + "/kernel/metadata"));
		CHECK(accounted_for(converted) == events_in(trace));
		exporting::write_lttng(read, {}, {}, to + "again");
		trace::Trace again = trace::Trace::open(to + "again");
		CHECK(shown_events(again) == shown_events(read));
		CHECK(again.problems().empty());
	}
}

TEST_CASE("export: a trace of LTTng names interrupts, and has the timer's class also without such an event")
{
	const Directory directory;
	const std::string timer = samples::event_block(EDC_ID_LOCAL_TIMER_ENTRY, "local_timer_entry", "u16_t vector;") +
				  samples::event_block(EDC_ID_LOCAL_TIMER_EXIT, "local_timer_exit", "u16_t vector;");
	for (const bool is_attached : {false, true}) {
		history::History history;
		history.switches(0, 10, 0, history::running, 7);
		history.posts(0, 100, EDC_ID_IRQ_HANDLER_ENTRY, 11);
		history.posts(0, 110, EDC_ID_IRQ_HANDLER_EXIT, 11);
		trace::Trace trace = samples::trace(history.all(), history::events + timer);
		analyze::RecordingInfo info = history::make_info(0, 200, true, false);
		info.interrupt_names = {{"11", "eth0"}};
		if (is_attached)
			info.programs.emplace_back("local_timer_exit");
		const std::string to = directory.file(is_attached ? "attached" : "not_attached");
		exporting::write_lttng(trace, info, {}, to);
		trace::Trace read = trace::Trace::open(to);
		CHECK(analyze::EventKinds(read.description()).has_local_timer() == is_attached);
		std::string name;
		trace::merge(read, {}, [&](const trace::Event &event) {
			if (event.cls->name == "irq_handler_entry")
				name = trace::FieldRef(*event.cls, "name").get<std::string_view>(event);
		});
		CHECK(name == "eth0");
	}
}

TEST_CASE("export: a thread that the kernel hides is unknown in Perfetto, and only until the next is found")
{
	const Directory directory;
	for (const std::uint64_t listed : {5, 300, 700}) {
		history::History history;
		history.lists(listed, 9, history::sleeping, EDC_NO_SYSCALL, EDC_THREAD_HIDDEN);
		history.lists(listed + 1, 7, history::sleeping, EDC_NO_SYSCALL, 0);
		history.switches(0, 100, 0, 0, 7);
		history.wakes(0, 150, 9);
		history.switches(0, 200, 7, history::sleeping, 9);
		history.cpu(0).open(500).tid = 7; // the switch away from 9 is hidden
		history.posts(0, 500, EDC_ID_SYS_ENTER, 1);
		history.switches(0, 600, 7, history::sleeping, 0);
		trace::Trace trace = samples::trace(history.all(), history::events);
		const analyze::RecordingInfo info = history::make_info(5, 1000, true, false);
		exporting::Output output(directory.file("trace"));
		const exporting::Converted converted = exporting::write_perfetto(trace, info, {}, output);
		std::map<std::uint64_t, std::uint64_t> next;
		for (const Switched &each : decode(directory.read("trace")).switches)
			next[each.time] = each.next;
		CAPTURE(listed);
		CHECK(next[100] == 7);
		CHECK(next[200] == std::uint64_t(analyze::largest_tid) + 1); // [unknown]
		CHECK(next[500] == 7);
		CHECK(next[600] == 0);
		CHECK(converted.left_out == exporting::LeftOut{{"sched_waking", 1}}); // nor is it known to wait
	}
}

TEST_CASE("export: what a CPU runs is known without an event of the part")
{
	const Directory directory;
	for (const bool has_later : {false, true}) {
		history::History history;
		history.cpu(1);
		history.switches(0, 100, 0, 0, 7);
		history.switches(1, 110, 0, 0, 8);
		history.posts(0, 500, EDC_ID_SOFTIRQ_ENTRY, 1);
		history.switches(0, 900, 7, history::sleeping, 0);
		if (has_later)
			history.switches(1, 950, 8, history::sleeping, 0);
		trace::Trace trace = samples::trace(history.all(), history::events);
		const analyze::RecordingInfo info = history::make_info(5, 1000, true, false);
		analyze::Scope scope;
		scope.range = {400, 600};
		scope.cpus = {1};
		exporting::Output output(directory.file("trace"));
		exporting::write_perfetto(trace, info, {scope, false}, output);
		INFO("has_later " << has_later);
		const Decoded decoded = decode(directory.read("trace"));
		CHECK(decoded.begin == 400);
		REQUIRE(decoded.switches.size() == 1);
		CHECK(decoded.switches[0].time == 400);
		CHECK(decoded.switches[0].next == 8);
	}
}

TEST_CASE("export: a file keeps its content until it is written")
{
	const Directory directory;
	const std::string path = directory.file("file");
	std::ofstream(path) << "before";
	{
		exporting::Output failed(path);
		failed.append("half");
	}
	CHECK(directory.read("file") == "before");
	exporting::Output one(path);
	one.append("after");
	one.finish();
	CHECK(directory.read("file") == "after");
	CHECK(std::distance(std::filesystem::directory_iterator(directory.file("")), {}) == 1);
}

TEST_CASE("export: names in folded lines cannot be taken for separators")
{
	report::Profile profile;
	profile.name = "cpu";
	profile.frames = {{"a;b\nc\x1b", "", "", false}, {"d 7", "", "", false}};
	profile.stacks = {{{0, 1}, 3}, {{1}, 0}};
	CHECK(report::folded_text(profile) == "a:b c\\x1b;d 7 3\n");
	profile.is_time = true;
	profile.stacks = {{{1}, 1499}, {{0}, 499}};
	CHECK(report::folded_text(profile) == "d 7 1\n");
}

} // namespace test_export
