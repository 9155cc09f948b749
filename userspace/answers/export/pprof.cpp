// SPDX-License-Identifier: MIT
#include "pprof.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <protozero/pbf_writer.hpp>
#include <zlib.h>

#include "base/error.h"
#include "base/escape.h"

namespace monitor::exporting {
namespace {

using protozero::pbf_writer;

// Numbers of fields: of the profile, then of its messages.
constexpr protozero::pbf_tag_type sample_type = 1, sample = 2, mapping = 3, location = 4, function = 5,
				  string_table = 6, time_nanos = 9, duration_nanos = 10, period_type = 11, period = 12,
				  comment = 13;
constexpr std::uint64_t second_ns = 1'000'000'000;

class PprofWriter {
public:
	PprofWriter(const report::Profile &profile, const ProfileOrigin &origin)
	    : profile_(profile),
	      period_ns_(!profile.is_time && profile.name == "cpu" && origin.timer_hz ? second_ns / origin.timer_hz : 0)
	{
		string_index(""); // must be the first string
		add_types();
		for (const report::Profile::Stack &stack : profile.stacks)
			add_stack(stack);
		for (std::uint32_t i = 0; i < profile.frames.size(); ++i)
			add_frame(i, profile.frames[i]);
		writer_.add_int64(time_nanos, origin.begin_ns);
		writer_.add_int64(duration_nanos, static_cast<std::int64_t>(origin.duration_ns));
		writer_.add_int64(comment, string_index(origin.title));
		for (const std::string &text : strings_)
			writer_.add_string(string_table, text);
	}

	const std::string &bytes() const { return bytes_; }

private:
	std::int64_t string_index(std::string_view text)
	{
		std::string valid = is_utf8(text) ? std::string(text) : printable(text);
		const auto [found, is_new] =
		    string_indices_.try_emplace(valid, static_cast<std::int64_t>(strings_.size()));
		if (is_new)
			strings_.push_back(std::move(valid));
		return found->second;
	}

	void add_type(protozero::pbf_tag_type tag, std::string_view type, std::string_view unit)
	{
		pbf_writer message(writer_, tag);
		message.add_int64(1, string_index(type));
		message.add_int64(2, string_index(unit));
	}

	// pprof shows the last type by default, so the number of samples comes first.
	void add_types()
	{
		add_type(sample_type, profile_.is_time ? profile_.name : "samples",
			 profile_.is_time ? "nanoseconds" : "count");
		if (period_ns_ == 0)
			return;
		add_type(sample_type, "cpu", "nanoseconds");
		add_type(period_type, "cpu", "nanoseconds");
		writer_.add_int64(period, static_cast<std::int64_t>(period_ns_));
	}

	void add_stack(const report::Profile::Stack &stack)
	{
		std::vector<std::uint64_t> locations; // the innermost first
		for (std::size_t i = stack.frames.size(); i-- > 0;)
			locations.push_back(stack.frames[i] + 1);
		std::vector<std::int64_t> values = {static_cast<std::int64_t>(stack.value)};
		if (period_ns_)
			values.push_back(static_cast<std::int64_t>(stack.value * period_ns_));
		pbf_writer message(writer_, sample);
		message.add_packed_uint64(1, locations.begin(), locations.end());
		message.add_packed_int64(2, values.begin(), values.end());
	}

	// A frame is a function and its only location.
	void add_frame(std::uint32_t index, const symbols::FrameName &frame)
	{
		const std::uint64_t id = index + std::uint64_t(1), in = mapping_of(frame);
		const std::size_t colon = frame.line.rfind(':');
		std::int64_t line = 0;
		if (colon != std::string::npos)
			line = std::atoll(frame.line.c_str() + colon + 1);
		{
			pbf_writer message(writer_, location);
			message.add_uint64(1, id);
			if (in)
				message.add_uint64(2, in);
			pbf_writer line_message(message, 4);
			line_message.add_uint64(1, id);
			if (line)
				line_message.add_int64(2, line);
		}
		pbf_writer message(writer_, function);
		message.add_uint64(1, id);
		message.add_int64(2, string_index(frame.function));
		message.add_int64(3, string_index(frame.function));
		if (colon != std::string::npos)
			message.add_int64(4, string_index(frame.line.substr(0, colon)));
	}

	std::uint64_t mapping_of(const symbols::FrameName &frame)
	{
		if (frame.module.empty())
			return 0;
		// A frame without a file is in brackets, as names of kernel modules already are.
		const std::string file =
		    frame.is_kernel && !frame.module.starts_with('[') ? "[" + frame.module + "]" : frame.module;
		const auto [found, is_new] = mappings_.try_emplace(file, mappings_.size() + 1);
		if (is_new) {
			pbf_writer message(writer_, mapping);
			message.add_uint64(1, found->second);
			message.add_int64(5, string_index(file));
			message.add_bool(7, true); // it has functions
		}
		return found->second;
	}

	const report::Profile &profile_;
	std::uint64_t period_ns_; // of the sampling timer; 0: none
	std::string bytes_;
	pbf_writer writer_{bytes_};
	std::map<std::string, std::int64_t> string_indices_;
	std::vector<std::string> strings_;
	std::map<std::string, std::uint64_t> mappings_;
};

std::string gzip(const std::string &bytes)
{
	constexpr int gzip_format = 15 + 16, memory_level = 8;
	z_stream stream{};
	if (::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_format, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
		throw Error("cannot compress the profile: zlib has no memory");
	std::string packed(::deflateBound(&stream, bytes.size()), '\0');
	stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
	stream.next_out = reinterpret_cast<Bytef *>(packed.data());
	std::size_t left_in = bytes.size(), left_out = packed.size();
	int done = Z_OK;
	while (done == Z_OK) { // zlib's sizes have 32 bits
		constexpr std::size_t piece_bytes = 1u << 30;
		const auto in = static_cast<uInt>(std::min(left_in, piece_bytes));
		const auto out = static_cast<uInt>(std::min(left_out, piece_bytes));
		stream.avail_in = in;
		stream.avail_out = out;
		done = ::deflate(&stream, in == left_in ? Z_FINISH : Z_NO_FLUSH);
		left_in -= in - stream.avail_in;
		left_out -= out - stream.avail_out;
	}
	packed.resize(packed.size() - left_out);
	::deflateEnd(&stream);
	if (done != Z_STREAM_END)
		throw Error("cannot compress the profile: it is too large");
	return packed;
}

} // namespace

void write_pprof(const report::Profile &profile, const ProfileOrigin &origin, Output &output)
{
	output.append(gzip(PprofWriter(profile, origin).bytes()));
}

} // namespace monitor::exporting
