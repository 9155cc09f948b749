// SPDX-License-Identifier: MIT
// Any bytes as a description in TDL and a file of it: the input is the text of the description, a NUL, the file.
//
// Every variant of the description is compiled, shown, and reads the file: every event, each of its fields by name,
// printed both ways.
#include <cstdlib>
#include <cstring>

#include <fcntl.h>

#include "base/fd.h"
#include "trace/field_ref.h"
#include "trace/merge.h"
#include "trace/protocol.h"
#include "trace/tdl/read.h"
#include "trace/tdl/show.h"

using namespace monitor::trace;

namespace {

constexpr std::size_t max_events = 20'000;

void require(bool condition)
{
	if (!condition)
		std::abort();
}

// Sees what lies behind a text's bytes being read, if it does.
std::size_t touched(std::string_view text)
{
	std::size_t sum = 0;
	for (const char c : text)
		sum += static_cast<unsigned char>(c);
	return sum;
}

void read_fields(const Event &event)
{
	volatile std::size_t sum = 0;
	for (const Field &field : event.cls->fields) {
		const FieldRef value(*event.cls, field);
		sum = sum + value.get(event) + touched(value.get<std::string_view>(event)) + value.is_in(event);
		sum = sum + (value.label(event) != nullptr) + (value.get<double>(event) > 0);
	}
}

void read(Trace &trace, bool json)
{
	static monitor::Fd null(::open("/dev/null", O_WRONLY));
	ProtocolOptions options;
	options.json = json;
	Protocol protocol(trace, options, null.get());
	std::uint64_t last = 0;
	std::size_t events = 0;
	merge(
	    trace, {},
	    [&](const Event &event) -> bool {
		    require(event.time >= last);
		    last = event.time;
		    read_fields(event);
		    return protocol.print(event) && ++events < max_events;
	    },
	    [&](const StreamInfo &stream, std::uint64_t from, std::uint64_t to, std::uint64_t) {
		    require(from <= to);
		    protocol.gap(stream);
	    });
	protocol.flush();
}

void read_as(const tdl::Model &model, const tdl::Magic *magic, std::span<const std::byte> bytes)
{
	const tdl::Compiled compiled = tdl::compile(model, magic);
	require(tdl::rows_of(compiled.placed).size() == compiled.placed.size());
	require(!tdl::to_json(model, compiled.placed).empty());
	std::vector<std::unique_ptr<Stream>> streams;
	streams.push_back(std::make_unique<Stream>("a", compiled.description, bytes));
	Trace trace(compiled.description, std::move(streams));
	read(trace, true);
	read(trace, false);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const void *nul = std::memchr(data, 0, size);
	const std::size_t text_bytes =
	    nul ? static_cast<std::size_t>(static_cast<const unsigned char *>(nul) - data) : size;
	tdl::Model model;
	std::string why;
	if (!tdl::read_text({reinterpret_cast<const char *>(data), text_bytes}, model, why)) {
		require(!why.empty());
		return 0;
	}
	// of its own, so that the sanitizer sees a read behind it
	std::vector<std::byte> bytes(size - std::min(size, text_bytes + 1));
	if (bytes.empty())
		return 0;
	std::memcpy(bytes.data(), data + text_bytes + 1, bytes.size());
	read_as(model, nullptr, bytes);
	if (!model.magics.empty())
		read_as(model, &model.magics.front(), bytes);
	return 0;
}
