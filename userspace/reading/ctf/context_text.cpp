// SPDX-License-Identifier: MIT
#include "context_text.h"

#include <cstring>

namespace monitor::trace {

ContextText::ContextText(const FieldClass &scope, bool json) : text_(scope, json), align_bits_(scope.align_bits)
{
	if (scope.is_fixed && scope.fixed_bits % 8 == 0 && scope.align_bits % 8 == 0)
		bytes_.resize(scope.fixed_bits / 8);
}

void ContextText::put(const View &view, std::uint64_t &at_bits, LineBuffer &out)
{
	if (bytes_.empty())
		return text_.put(view, at_bits, out);
	at_bits = aligned(at_bits, align_bits_);
	const std::byte *const begin = view.packet + at_bits / 8;
	if (!printed_.empty() && std::memcmp(begin, bytes_.data(), bytes_.size()) == 0) {
		out.put(printed_);
		at_bits += bytes_.size() * 8;
		return;
	}
	std::memcpy(bytes_.data(), begin, bytes_.size());
	const std::size_t before = out.size();
	text_.put(view, at_bits, out);
	printed_ = out.view().substr(before);
}

} // namespace monitor::trace
