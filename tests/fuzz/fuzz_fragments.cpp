// SPDX-License-Identifier: MIT
// Any bytes as a description in CTF 2 and a stream of it: the input is the text without its first record separator, a
// NUL, the stream. What fuzz_generic does with descriptions in TSDL.
#include "reading.h"
#include "reading/ctf/interpret.h"

using namespace monitor::trace;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const fuzz::Input input = fuzz::input_of(data, size);
	std::string why;
	const std::shared_ptr<const Description> description = read_description('\x1e' + std::string(input.text), why);
	fuzz::require((description == nullptr) == !why.empty());
	if (!description)
		return 0;
	fuzz::require(!description->has_tokens());
	std::vector<std::unique_ptr<Stream>> streams;
	streams.push_back(std::make_unique<Stream>("a", description, input.bytes));
	Trace trace(description, std::move(streams));
	fuzz::read(trace, {}, true);
	fuzz::read(trace, {trace.begin_time() + size, trace.end_time()}, false);
	return 0;
}
