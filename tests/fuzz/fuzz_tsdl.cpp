// SPDX-License-Identifier: MIT
// Any bytes as a description: they are refused in one sentence, or the model keeps its invariants.
#include <cstdlib>
#include <string_view>

#include "reading/ctf/interpret.h"
#include "reading/events/field_ref.h"

using namespace monitor::trace;

namespace {

void require(bool condition)
{
	if (!condition)
		std::abort();
}

// Reads every field of a record that ends with its allocation: the sanitizer sees a read outside.
void read_fields(const EventClass &cls)
{
	const std::vector<std::byte> record(cls.size_bytes, std::byte(0xff));
	Event event;
	event.cls = &cls;
	event.data = record.data();
	for (const Field &field : cls.fields) {
		const FieldRef value(cls, field);
		value.get(event);
		value.label(event);
		require(value.get<std::string_view>(event).size() <= cls.size_bytes);
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	std::string why;
	const auto description = read_description({reinterpret_cast<const char *>(data), size}, why);
	require((description == nullptr) == !why.empty());
	if (!description)
		return 0;
	if (!description->has_tokens())
		return 0; // fuzz_generic reads these
	for (const auto &cls : description->classes()) {
		require(cls->size_bytes >= 8 && cls->size_bytes <= 64 && cls->size_bytes % 8 == 0);
		require(description->by_id(cls->id) == cls.get() && description->size_of(cls->id) == cls->size_bytes);
		read_fields(*cls);
	}
	return 0;
}
