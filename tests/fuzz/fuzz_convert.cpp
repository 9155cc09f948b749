// SPDX-License-Identifier: MIT
// Any bytes as a description in TDL and a file of it, as for fuzz_tdl: what is converted to CTF is read without a
// complaint, and has the same events at the same times. What cannot be converted is refused with Error.
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "collection/convert.h"
#include "trace/merge.h"
#include "trace/tdl/read.h"

using namespace monitor::trace;

namespace {

namespace fs = std::filesystem;

void require(bool condition)
{
	if (!condition)
		std::abort();
}

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
	require(::mkdtemp(path.data()) != nullptr);
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
	require(read(trace) == read(converted));
	require(converted.problems().empty());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const void *nul = std::memchr(data, 0, size);
	const std::size_t text_bytes =
	    nul ? static_cast<std::size_t>(static_cast<const unsigned char *>(nul) - data) : size;
	tdl::Model model;
	std::string why;
	if (!tdl::read_text({reinterpret_cast<const char *>(data), text_bytes}, model, why))
		return 0;
	// of its own, so that the sanitizer sees a read behind it
	std::vector<std::byte> bytes(size - std::min(size, text_bytes + 1));
	if (bytes.empty())
		return 0;
	std::memcpy(bytes.data(), data + text_bytes + 1, bytes.size());
	convert_as(model, nullptr, bytes);
	if (!model.magics.empty())
		convert_as(model, &model.magics.front(), bytes);
	return 0;
}
