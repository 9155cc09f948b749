// SPDX-License-Identifier: MIT
// Any bytes as a description and a stream of it: the input is the text of the description, a NUL, the stream.
//
// Every event is read, each of its fields by name, and printed both ways. A description of tokens is left to
// fuzz_stream.
#include "reading.h"
#include "reading/ctf/interpret.h"

using namespace monitor::trace;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const fuzz::Input input = fuzz::input_of(data, size);
	std::string why;
	const std::shared_ptr<const Description> description = read_description(input.text, why);
	fuzz::require((description == nullptr) == !why.empty());
	if (!description || description->has_tokens())
		return 0;
	std::vector<std::unique_ptr<Stream>> streams;
	streams.push_back(std::make_unique<Stream>("a", description, input.bytes));
	Trace trace(description, std::move(streams));
	fuzz::read(trace, {}, true);
	fuzz::read(trace, {trace.begin_time() + size, trace.end_time()}, false);
	return 0;
}
