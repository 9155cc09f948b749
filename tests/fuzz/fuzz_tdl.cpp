// SPDX-License-Identifier: MIT
// Any bytes as a description in TDL and a file of it: the input is the text of the description, a NUL, the file.
//
// Every variant of the description is compiled, shown, and reads the file: every event, each of its fields by name,
// printed both ways.
#include "reading.h"
#include "reading/tdl/read.h"
#include "reading/tdl/show.h"

using namespace monitor::trace;

namespace {

void read_as(const tdl::Model &model, const tdl::Magic *magic, std::span<const std::byte> bytes)
{
	const tdl::Compiled compiled = tdl::compile(model, magic);
	fuzz::require(tdl::rows_of(compiled.placed).size() == compiled.placed.size());
	fuzz::require(!tdl::to_json(model, compiled.placed).empty());
	std::vector<std::unique_ptr<Stream>> streams;
	streams.push_back(std::make_unique<Stream>("a", compiled.description, bytes));
	Trace trace(compiled.description, std::move(streams));
	fuzz::read(trace, {}, true);
	fuzz::read(trace, {}, false);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const fuzz::Input input = fuzz::input_of(data, size);
	tdl::Model model;
	std::string why;
	if (!tdl::read_text(input.text, model, why)) {
		fuzz::require(!why.empty());
		return 0;
	}
	if (input.bytes.empty())
		return 0;
	read_as(model, nullptr, input.bytes);
	if (!model.magics.empty())
		read_as(model, &model.magics.front(), input.bytes);
	return 0;
}
