// SPDX-License-Identifier: MIT
#include "go_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "base/go_functions.h"
#include "frame_pointers.h"
#include "row_list.h"

namespace monitor::stacks {
namespace {

using Code = std::vector<std::byte>;

constexpr std::uint64_t max_code = 4096;  // of a function in assembler
constexpr std::uint64_t max_padding = 31; // in front of the next one
constexpr std::int64_t word = 8;

// Any byte where `pattern` has -1.
bool has_at(const Code &code, std::size_t at, std::span<const int> pattern)
{
	if (at > code.size() || code.size() - at < pattern.size())
		return false;
	for (std::size_t i = 0; i < pattern.size(); ++i)
		if (pattern[i] >= 0 && std::to_integer<int>(code[at + i]) != pattern[i])
			return false;
	return true;
}

// The index after the first match.
std::optional<std::size_t> end_of(const Code &code, std::span<const int> pattern, std::size_t from = 0)
{
	for (std::size_t at = from; at < code.size(); ++at)
		if (has_at(code, at, pattern))
			return at + pattern.size();
	return {};
}

std::optional<std::int32_t> offset_before(const Code &code, std::optional<std::size_t> end)
{
	std::int32_t value;
	if (!end)
		return {};
	std::memcpy(&value, code.data() + *end - sizeof value, sizeof value);
	return value % int{word} == 0 ? std::optional(value / int{word}) : std::nullopt;
}

// Offsets of the struct g pointer in TLS and of the current goroutine in struct m, decoded from runtime.systemstack. In
// words.
struct GoOffsets {
	int g_in_tls = 0, current_g_in_m = 0;
};

std::optional<GoOffsets> offsets_in(const Code &code)
{
	static constexpr std::array fixed = {0x64, 0x48, 0x8b, 0x04, 0x25, -1, -1, -1, -1}; // mov %fs:OFFSET,%rax
	static constexpr std::array moved = {0x48, 0xc7, 0xc1, -1, -1, -1, -1}; // mov $OFFSET,%rcx; mov %fs:(%rcx),%rax
	static constexpr std::array thread = {0x48, 0x8b, 0x58, EDC_GO_THREAD}; // mov 0x30(%rax),%rbx
	static constexpr std::array running = {0x48, 0x3b, 0x83, -1, -1, -1, -1}; // cmp OFFSET(%rbx),%rax
	auto g_in_tls = offset_before(code, end_of(code, fixed));
	if (!g_in_tls)
		g_in_tls = offset_before(code, end_of(code, moved));
	const auto current_g = offset_before(code, end_of(code, running));
	if (!g_in_tls || !current_g || *g_in_tls < INT8_MIN || *g_in_tls > INT8_MAX || *current_g <= 0 ||
	    *current_g > INT16_MAX || !end_of(code, thread))
		return {};
	return GoOffsets{*g_in_tls, *current_g};
}

class GoRows {
public:
	GoRows(const ElfImage &image, const GoFunctions &functions) : image_(image), functions_(functions) {}

	std::vector<edc_unwind_row> all()
	{
		const auto &functions = functions_.all();
		const auto switching =
		    std::ranges::find(functions, std::string_view("runtime.systemstack"), &GoFunction::name);
		if (switching != functions.end())
			offsets_ = offsets_in(code_of(*switching));
		for (const GoFunction &function : functions) {
			if (function.address + function.size <= UINT32_MAX)
				add(function);
			if (changes_ > max_rows)
				return {};
		}
		if (!functions.empty() && functions.back().address + functions.back().size < UINT32_MAX)
			add_row(functions.back().address + functions.back().size, EDC_UNWIND_NONE);
		return rows_.take();
	}

private:
	Code code_of(const GoFunction &function) const
	{
		Code code;
		read_code(image_, function.address, std::min(function.size, max_code), code);
		return code;
	}

	void add_row(std::uint64_t address, std::uint8_t rule, std::int64_t cfa = 0, int fp = 0)
	{
		const bool fits = cfa >= INT16_MIN && cfa <= INT16_MAX;
		rows_.add({static_cast<std::uint32_t>(address), fits ? static_cast<std::int16_t>(cfa) : std::int16_t{0},
			   static_cast<std::int8_t>(fits ? fp : 0), fits ? rule : std::uint8_t{EDC_UNWIND_UNKNOWN}});
	}

	void add(const GoFunction &function)
	{
		const auto sizes = functions_.frame_sizes(function);
		changes_ += sizes.size();
		if (sizes.empty() || !add_special(function))
			add_usual(function, sizes);
		const std::uint64_t end = sizes.empty() ? function.address : sizes.back().end;
		if (function.address + function.size - end > max_padding)
			add_row(end, EDC_UNWIND_NONE);
	}

	// Functions that frame sizes do not describe.
	bool add_special(const GoFunction &function)
	{
		if (function.is_outermost &&
		    function.name != "runtime.sigtramp") // signal handlers: their caller was interrupted
			add_row(function.address, EDC_UNWIND_END);
		else if (!function.changes_stack && !function.is_assembler)
			return false; // wrappers have the same names
		else if (function.name == "runtime.systemstack")
			add_stack_switch(function, EDC_UNWIND_GO_CALL);
		else if (function.name == "runtime.morestack")
			add_stack_switch(function, EDC_UNWIND_GO_MORE);
		else if (function.name == "runtime.mcall")
			add_stack_switch(function, EDC_UNWIND_GO_SCHEDULER);
		else if (function.name == "runtime.asmcgocall")
			add_call_of_c(function);
		else if (signal_return_size(code_of(function)) > 0)
			add_row(function.address - 1, EDC_UNWIND_SIGNAL); // the handler's return address is its first
		else
			return false;
		return true;
	}

	void add_stack_switch(const GoFunction &function, std::uint8_t rule)
	{
		if (offsets_)
			add_row(function.address, rule, offsets_->current_g_in_m, offsets_->g_in_tls);
		else
			add_row(function.address, EDC_UNWIND_UNKNOWN);
	}

	// It saves the goroutine and its stack depth on the thread's stack.
	void add_call_of_c(const GoFunction &function)
	{
		static constexpr std::array switches = {0x48, 0x8b, 0x66, EDC_GO_SP}; // mov 0x38(%rsi),%rsp
		static constexpr std::array saves = {0x48, 0x89, 0x7c, 0x24, -1};     // mov %rdi,OFFSET(%rsp)
		static constexpr std::array saves_at_0 = {0x48, 0x89, 0x3c, 0x24};
		const Code code = code_of(function);
		const auto switched = end_of(code, switches);
		std::array<std::int64_t, 2> saved{};
		std::size_t count = 0;
		for (std::size_t at = switched.value_or(code.size()); at < code.size() && count < saved.size(); ++at)
			if (has_at(code, at, saves))
				saved[count++] = std::to_integer<int>(code[at + saves.size() - 1]);
			else if (has_at(code, at, saves_at_0))
				saved[count++] = 0;
		const auto [goroutine, depth] = saved;
		if (!switched || count < saved.size() || goroutine % word != 0 || depth % word != 0 ||
		    goroutine > INT8_MAX)
			return add_row(function.address, EDC_UNWIND_UNKNOWN);
		add_row(function.address, EDC_UNWIND_SP, 1);
		add_row(function.address + *switched, EDC_UNWIND_GO_C, depth / word,
			static_cast<int>(goroutine / word));
	}

	// The compiler, and the assembler for functions with a frame, save the frame pointer below the return address;
	// functions that switch stacks preserve it.
	void add_usual(const GoFunction &function, const std::vector<GoFunctions::FrameSize> &sizes)
	{
		const bool is_special = function.is_assembler || function.changes_stack;
		const auto own = is_special ? frame_range(function, sizes) : std::nullopt;
		for (const GoFunctions::FrameSize &size : sizes) {
			const std::int64_t words = size.bytes / word;
			if (size.bytes < 0 || size.bytes % word != 0 || (function.changes_stack && !own))
				add_row(size.address, EDC_UNWIND_UNKNOWN);
			else
				add_row(size.address, EDC_UNWIND_SP, words + 1, words && (own || !is_special) ? -2 : 0);
			if (function.changes_stack && own && words) {
				if (size.end > own->first)
					add_row(std::max(size.address, own->first), EDC_UNWIND_FP, 2, -2);
				if (own->last > size.address && own->last < size.end)
					add_row(own->last, EDC_UNWIND_SP, words + 1, -2);
			}
		}
	}

	// The range in which the frame pointer is the function's own.
	struct FrameRange {
		std::uint64_t first, last;
	};
	std::optional<FrameRange> frame_range(const GoFunction &function,
					      const std::vector<GoFunctions::FrameSize> &sizes) const
	{
		// mov %rbp,OFFSET(%rsp); lea OFFSET(%rsp),%rbp; since Go 1.21 push %rbp; mov %rsp,%rbp
		static constexpr std::array near = {0x48, 0x89, 0x6c, 0x24, -1, 0x48, 0x8d, 0x6c, 0x24, -1};
		static constexpr std::array far = {0x48, 0x89, 0xac, 0x24, -1, -1, -1, -1,
						   0x48, 0x8d, 0xac, 0x24, -1, -1, -1, -1};
		static constexpr std::array pushed = {0x55, 0x48, 0x89, 0xe5};
		static constexpr std::array shrinks = {0x48, 0x83, 0xc4, -1}; // add SIZE,%rsp
		const auto has_frame = [](const GoFunctions::FrameSize &size) { return size.bytes > 0; };
		const auto first = std::ranges::find_if(sizes, has_frame);
		if (first == sizes.end())
			return {};
		const Code code = code_of(function);
		const std::size_t at = first->address - function.address;
		FrameRange own{0, function.address + function.size};
		if (has_at(code, at, near))
			own.first = first->address + near.size();
		else if (has_at(code, at, far))
			own.first = first->address + far.size();
		else if (at > 0 && has_at(code, at - 1, pushed))
			own.first = first->address + pushed.size() - 1;
		else
			return {};
		const auto end = std::ranges::find_if_not(first, sizes.end(), has_frame);
		if (end != sizes.end() && has_at(code, end->address - function.address - shrinks.size(), shrinks))
			own.last = end->address - shrinks.size();
		return own;
	}

	const ElfImage &image_;
	const GoFunctions &functions_;
	std::optional<GoOffsets> offsets_;
	std::size_t changes_ = 0; // including those without a row
	RowList rows_;
};

} // namespace

std::vector<edc_unwind_row> go_rows(const ElfImage &image)
{
	const auto functions = GoFunctions::of(image);
	return functions ? GoRows(image, *functions).all() : std::vector<edc_unwind_row>();
}

} // namespace monitor::stacks
