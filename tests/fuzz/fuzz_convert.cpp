// SPDX-License-Identifier: MIT
// Any bytes as a description in TDL and a file of it, as for fuzz_tdl: what is converted to CTF is read without a
// complaint, and has the same events at the same times. What cannot be converted is refused with Error.
#include <filesystem>

#include "answers/collection/convert.h"
#include "base/error.h"
#include "reading.h"
#include "reading/tdl/read.h"

using namespace monitor::trace;

namespace {

namespace fs = std::filesystem;

struct Seen {
	std::string name;
	std::uint64_t time;
	std::uint32_t cpu;

	bool operator==(const Seen &) const = default;
};

std::vector<Seen> read(Trace &trace)
{
	std::vector<Seen> seen;
	merge(trace, {}, [&](const Event &event) { seen.push_back({event.cls->name, event.time, event.cpu()}); });
	return seen;
}

fs::path make_directory()
{
	std::string path = (fs::temp_directory_path() / "fuzz_convert.XXXXXX").string();
	fuzz::require(::mkdtemp(path.data()) != nullptr);
	return path;
}

void convert_as(const tdl::Model &model, const tdl::Magic *magic, std::span<const std::byte> bytes)
{
	static const fs::path directory = make_directory();
	fs::remove(directory / "stream");
	const auto description = tdl::compile(model, magic).description;
	std::vector<std::unique_ptr<Stream>> streams;
	streams.push_back(std::make_unique<Stream>("a", description, bytes));
	Trace trace(description, std::move(streams));
	try {
		monitor::collection::convert(trace, directory.string(), "host \"\\\n", -1);
	} catch (const monitor::Error &) {
		return;
	}
	Trace converted = Trace::open(directory.string());
	fuzz::require(read(trace) == read(converted));
	fuzz::require(converted.problems().empty());
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
	convert_as(model, nullptr, input.bytes);
	if (!model.magics.empty())
		convert_as(model, &model.magics.front(), input.bytes);
	return 0;
}
