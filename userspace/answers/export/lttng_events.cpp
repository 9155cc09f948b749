// SPDX-License-Identifier: MIT
#include "lttng_events.h"

#include <algorithm>

namespace monitor::exporting::lttng {
namespace {

using trace::FieldClass;

FieldClass field_class(Type type)
{
	FieldClass made;
	if (type == Type::text) {
		made.kind = FieldClass::Kind::string;
		made.is_text = true;
		return made;
	}
	if (type == Type::real)
		made.kind = FieldClass::Kind::floating_point;
	made.is_signed = type == Type::s32 || type == Type::s64;
	made.size_bits = type == Type::s32 || type == Type::u32 ? 32 : 64;
	return made;
}

struct CallFields {
	std::vector<std::string> calls;
	std::vector<FieldType> fields;
};

// Arguments are not recorded: each is -1, or "".
const std::vector<CallFields> call_fields_table = {
    {{"open", "openat"}, {{"filename", Type::text}, {"flags", Type::s64}}},
    {{"dup"}, {{"fildes", Type::s64}}},
    {{"dup2"}, {{"oldfd", Type::s64}, {"newfd", Type::s64}}},
    {{"dup3"}, {{"oldfd", Type::s64}, {"newfd", Type::s64}, {"flags", Type::s64}}},
    {{"fcntl"}, {{"fd", Type::s64}, {"cmd", Type::s64}}},
    {{"close", "fsync", "fdatasync", "recvmsg", "sendmsg"}, {{"fd", Type::s64}}},
    {{"sync_file_range"}, {{"fd", Type::s64}, {"nbytes", Type::s64}}},
    {{"read", "write", "pread", "pwrite", "pread64", "pwrite64"}, {{"fd", Type::s64}, {"count", Type::s64}}},
    {{"readv", "writev", "preadv", "pwritev"}, {{"fd", Type::s64}, {"vlen", Type::s64}}},
    {{"recvfrom"}, {{"fd", Type::s64}, {"size", Type::s64}}},
    {{"sendto"}, {{"fd", Type::s64}, {"len", Type::s64}}},
    {{"splice"}, {{"fd_in", Type::s64}, {"fd_out", Type::s64}, {"len", Type::s64}}},
    {{"sendfile64"}, {{"in_fd", Type::s64}, {"out_fd", Type::s64}, {"count", Type::s64}}},
};

} // namespace

std::uint32_t Classes::id(const std::string &name, std::span<const FieldType> fields)
{
	const auto [found, is_new] = ids_.try_emplace(name, next_);
	return is_new ? add(name, fields) : found->second;
}

std::uint32_t Classes::add(const std::string &name, std::span<const FieldType> fields)
{
	trace::EventClass cls;
	cls.name = name;
	cls.payload.kind = FieldClass::Kind::structure;
	for (const FieldType &field : fields) {
		trace::Member member;
		member.name = field.name;
		member.type = field_class(field.type);
		cls.payload.members.push_back(std::move(member));
	}
	text_.add_event(next_, cls, {});
	return next_++;
}

std::span<const FieldType> Classes::call_fields(const std::string &call)
{
	for (const CallFields &each : call_fields_table)
		if (std::ranges::find(each.calls, call) != each.calls.end())
			return each.fields;
	return {};
}

} // namespace monitor::exporting::lttng
