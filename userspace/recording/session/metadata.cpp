// SPDX-License-Identifier: MIT
#include "metadata.h"

#include <bit>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "base/limits.h"
#include "monitor/card.h"
#include "monitor/function_table.h"
#include "syscall_names.h" // generated: {number, "name"} of this architecture

namespace monitor::record {
namespace {

// Types of the packet header and the fields. Payload integers are aligned to 16 bits, never to 32 or 64: a struct
// aligns to its largest field, and the argument would move to the next word.
constexpr const char *types = R"(
typealias integer { size = 8; align = 8; signed = false; } := uuid_byte;
typealias integer { size = 32; align = 32; signed = false; base = hex; } := header_x32;
typealias integer { size = 32; align = 32; signed = false; } := header_u32;
typealias integer { size = 64; align = 64; signed = false; } := header_u64;
typealias integer { size = 64; align = 64; signed = false; map = clock.NAME.value; } := header_time;
typealias integer { size = 12; align = 1; signed = false; } := token_id;
typealias integer { size = 32; align = 1; signed = false; map = clock.NAME.value; } := token_time;
typealias integer { size = 1; align = 1; signed = false; } := token_mode;

typealias integer { size = 12; align = 16; signed = false; } := u12_t;
typealias integer { size = 16; align = 16; signed = false; } := u16_t;
typealias integer { size = 16; align = 16; signed = false; base = hex; } := x16_t;
typealias integer { size = 16; align = 16; signed = true; } := s16_t;
typealias integer { size = 32; align = 16; signed = false; } := u32_t;
typealias integer { size = 32; align = 16; signed = true; } := s32_t;
typealias integer { size = 64; align = 16; signed = false; } := u64_t;
typealias integer { size = 64; align = 16; signed = false; base = hex; } := x64_t;
typealias integer { size = 64; align = 16; signed = true; } := s64_t;
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text_t;
typealias integer { size = 4; align = 1; signed = false; } := u4_t;

typealias enum : u4_t { "native" = 0, "compat" = 1, "x32" = 2 } := abi_t;
typealias enum : u16_t { "start" = 0, "end" = 1, "exit" = 2 } := when_t;
typealias enum : u4_t { "complete" = 0, "too deep" = 1, "process not known" = 2, "address not mapped" = 3, "no rule" = 4, "unknown rule" = 5, "unreadable" = 6, "32-bit program" = 7, "callers not known yet" = 8 } := stack_ended_t;
typealias enum : u16_t { "added" = 0, "exec" = 1, "copied" = 2 } := mapping_change_t;
typealias enum : u16_t { "idle" = 0, "user" = 1, "kernel" = 2 } := doing_t;
typealias enum : u16_t { "poll" = 0, "clock" = 1, "ring" = 2, "bell" = 3, "period" = 4, "stop" = 5, "start" = 6, "end" = 7 } := pass_reason_t;
typealias enum : u16_t { "R" = 0, "S" = 1, "D" = 2, "T" = 4, "t" = 8, "X" = 16, "Z" = 32, "P" = 64, "I" = 128, "R+" = 256 } := state_t;
typealias enum : u12_t { "R" = 0, "S" = 1, "D" = 2, "T" = 4, "t" = 8, "X" = 16, "Z" = 32, "P" = 64, "I" = 128, "R+" = 256 } := switch_state_t;
typealias enum : u4_t { "-" = 0, "throttled" = 1, "iowait" = 2, "memstall" = 4, "throttled+memstall" = 5, "iowait+memstall" = 6 } := switch_flags_t;
typealias enum : u16_t { "read" = 0, "write" = 1, "flush" = 2, "discard" = 3, "secure_erase" = 5, "write_zeroes" = 9, "driver_in" = 34, "driver_out" = 35 } := block_op_t;
typealias enum : u16_t { "HI" = 0, "TIMER" = 1, "NET_TX" = 2, "NET_RX" = 3, "BLOCK" = 4, "IRQ_POLL" = 5, "TASKLET" = 6, "SCHED" = 7, "HRTIMER" = 8, "RCU" = 9 } := softirq_t;
)";

constexpr const char *layout = R"(
stream {
	packet.context := struct {
		header_time timestamp_begin;
		header_time timestamp_end;
		header_u64 content_size;
		header_u64 packet_size;
		header_u64 packet_seq_num;
		header_u64 events_discarded;
		header_u32 cpu_id;
		header_u32 level;
		header_u32 tid;
		header_u32 process;
	};
	event.header := struct {
		token_id id;
		token_time timestamp;
	} align(64);
	event.context := struct {
		token_mode mode;
	};
};
)";

std::string syscall_enum()
{
	std::string text = "\ntypealias enum : u12_t {";
	const char *separator = "";
	for (const auto &call : syscall_names) {
		text += fmt::format("{}\n\t\"{}\" = {}", separator, call.name, call.number);
		separator = ",";
	}
	return text + "\n} := syscall_t;\n";
}

std::string text_member(std::string_view name, unsigned bytes)
{
	return fmt::format("\t\ttext_t {}[{}];\n", name, bytes);
}

std::string field(std::string_view kind, std::string_view name)
{
	return kind == "comm" ? text_member(name, 16) : fmt::format("\t\t{}_t {};\n", kind, name);
}

// Enumeration of where a stack was taken: at the timer, or at an event class.
std::string taken_at_enum()
{
	std::string text = "\ntypealias enum : u16_t {\n\t\"timer\" = 0";
#define CLASS(id, IDENT, ident, name, family, words, fields) text += fmt::format(",\n\t\"{}\" = {}", #ident, id);
	EDC_KERNEL_CLASSES(CLASS)
#undef CLASS
	return text + "\n} := taken_at_t;\n";
}

// Enumeration of the user's names by number: functions, --count, --time.
std::string enum_of_names(const std::vector<std::string> &names, std::string_view type)
{
	std::string text = "\ntypealias enum : u16_t {";
	for (std::size_t number = 0; number < names.size(); ++number)
		text += fmt::format("\n\t\"{}\" = {},", names[number], number);
	return text + fmt::format("\n\t\"unknown\" = 65535\n}} := {};\n", type);
}

// For statistics: activities, named by their start class without `_begin`.
std::string activity_enum(const std::vector<card::UserClass> &classes, const std::vector<std::string> &functions)
{
	constexpr std::string_view begin = "_begin";
	std::string text = "\ntypealias enum : u16_t {";
	for (const card::UserClass &cls : classes)
		if (std::string_view name = cls.name; name.ends_with(begin) && name.size() > begin.size()) {
			name.remove_suffix(begin.size());
			text += fmt::format("\n\t\"{}\" = {},", name, cls.id);
		}
	for (std::size_t number = 0; number < functions.size(); ++number)
		text += fmt::format("\n\t\"{}\" = {},", functions[number], EDC_ACTIVITY_FUNCTION + number);
	return text + fmt::format("\n\t\"other\" = {},\n\t\"none\" = {}\n}} := activity_t;\n", EDC_ACTIVITY_OTHER,
				  EDC_NO_ACTIVITY);
}

std::string event_class(unsigned id, std::string_view name, std::string_view fields)
{
	return fmt::format("\nevent {{\n\tname = \"{}\";\n\tid = {};\n\tfields := struct {{\n{}\t}};\n}};\n", name, id,
			   fields);
}

// A field of a class that is not in the table; its labels, if any, become a type before the class. Its name may be
// anything: readers strip a leading underscore, which keeps it apart from keywords and types.
std::string labelled_field(unsigned id, const card::UserField &field, bool is_argument, std::string &types_before)
{
	if (field.is_text())
		return text_member("_" + field.name, 8 * field.words());
	if (field.labels.empty())
		return ::monitor::record::field(field.kind == "address" ? "x64" : field.kind, "_" + field.name);
	const std::string type = fmt::format("class_{}_{}", id, field.name);
	types_before += fmt::format("\ntypealias enum : {} {{", is_argument ? "u16_t" : "u64_t");
	const char *separator = " ";
	for (const auto &[label, value] : field.labels) {
		types_before += fmt::format("{}\"{}\" = {}", separator, label, is_argument ? value & 0xffff : value);
		separator = ", ";
	}
	types_before += fmt::format(" }} := {}_t;\n", type);
	return ::monitor::record::field(type, "_" + field.name);
}

// Whether the argument is the number of a patched function (recording/preload/post.c).
bool has_function_number(const card::UserClass &cls)
{
	return cls.argument.name == "function" && cls.argument.kind == "u16" &&
	       (cls.name == EDC_FUNCTION_ENTRY_CLASS || cls.name == EDC_FUNCTION_EXIT_CLASS ||
		cls.name == EDC_FUNCTIONS_PATCHED_CLASS);
}

std::string user_class(const card::UserClass &cls)
{
	std::string types_before;
	std::string fields = has_function_number(cls) ? field("function", "function")
						      : labelled_field(cls.id, cls.argument, true, types_before);
	for (const card::UserField &field : cls.payload)
		fields += labelled_field(cls.id, field, false, types_before);
	return types_before + event_class(cls.id, cls.name, fields);
}

std::string counter_class(const CounterClass &cls)
{
	std::string types_before;
	card::UserField argument{
	    cls.argument.empty() ? "u16" : cls.kind, cls.argument.empty() ? "reserved" : cls.argument, "", {}};
	for (const std::string &label : cls.labels)
		argument.labels.emplace_back(label, argument.labels.size());
	std::string fields = labelled_field(cls.id, argument, true, types_before);
	for (const std::string &name : cls.fields)
		fields += field(cls.kind, name);
	return types_before + event_class(cls.id, cls.name, fields);
}

// CTF 1.8 has no units: they are in the environment, as unit_ID_FIELD.
std::string units(const std::vector<card::UserClass> &classes)
{
	std::string text;
	const auto add = [&](unsigned id, const card::UserField &field) {
		if (!field.unit.empty())
			text += fmt::format("\tunit_{}_{} = \"{}\";\n", id, field.name, field.unit);
	};
	for (const card::UserClass &cls : classes) {
		add(cls.id, cls.argument);
		for (const card::UserField &field : cls.payload)
			add(cls.id, field);
	}
	return text;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to)
{
	for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
		text.replace(at, from.size(), to);
	return text;
}

// Steps of the system clock: when, in ticks, and by how many nanoseconds.
std::string steps_text(const ClockDescription &clock)
{
	std::string text;
	for (const RealTimeStep &step : clock.steps)
		text += fmt::format("{}{}{:+}", text.empty() ? "" : " ", step.time, step.ns);
	return text.empty() ? text : "\treal_time_steps = \"" + text + "\";\n";
}

// Drops characters that would need escapes; Linux allows any byte.
std::string host_name()
{
	utsname system{};
	::uname(&system);
	std::string name = system.nodename;
	std::erase_if(name, [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; });
	return name;
}

} // namespace

std::string metadata(const Uuid &uuid, const ClockDescription &clock, const std::vector<CounterClass> &counter_classes,
		     const std::vector<card::UserClass> &user_classes, const std::vector<std::string> &functions,
		     const std::vector<std::string> &counts, const std::vector<std::string> &times,
		     const std::vector<std::string> &triggers, const std::vector<std::string> &states)
{
	std::string text = "/* CTF 1.8 */\n";
	text += fmt::format(
	    "\nclock {{\n\tname = {};\n\tfreq = {};\n\toffset_s = {};\n\toffset = {};\n\tabsolute = true;\n}};\n",
	    clock.name, clock.frequency_hz, clock.offset_s, clock.offset);
	text += replace_all(types, "NAME", clock.name);
	text += syscall_enum();
	text += taken_at_enum();
	text += enum_of_names(functions, "function_t");
	text += enum_of_names(counts, "count_name_t");
	text += enum_of_names(times, "time_name_t");
	text += enum_of_names(triggers, "trigger_name_t");
	text += enum_of_names(states, "tree_state_t");
	text += activity_enum(user_classes, functions);
	text += fmt::format("\ntrace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{}\";\n\tbyte_order = {};\n"
			    "\tpacket.header := struct {{\n\t\theader_x32 magic;\n\t\tuuid_byte uuid[16];\n"
			    "\t\theader_u32 stream_id;\n\t\theader_u64 stream_instance_id;\n\t}};\n}};\n",
			    uuid_text(uuid), std::endian::native == std::endian::little ? "le" : "be");
	text += fmt::format("\nenv {{\n\tdomain = \"monitor\";\n\ttracer_name = \"monitor\";\n\ttracer_major = 1;\n"
			    "\tmarked_periods = 1;\n" // by period_files.cpp
			    "\thostname = \"{}\";\n{}{}}};\n",
			    host_name(), steps_text(clock), units(user_classes));
	text += layout;
#define A(kind, name) +field(#kind, #name)
#define B(kind, name) +field(#kind, #name)
#define F(kind, name) +field(#kind, #name)
#define CLASS(id, IDENT, ident, name, family, words, fields) \
	text += event_class(id, #name, std::string() EDC_FIELDS(fields));
	EDC_CONTROL_CLASSES(CLASS)
	EDC_KERNEL_CLASSES(CLASS)
#undef CLASS
#undef A
#undef B
#undef F
	for (const CounterClass &cls : counter_classes)
		text += counter_class(cls);
	for (const card::UserClass &cls : user_classes)
		text += user_class(cls);
	if (text.size() > max_description_bytes)
		throw Error("the description of the events would be larger than its readers accept");
	return text;
}

} // namespace monitor::record
