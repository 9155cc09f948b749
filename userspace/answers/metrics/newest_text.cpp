// SPDX-License-Identifier: MIT
#include "newest_text.h"

#include <utility>

namespace monitor::metrics {

std::shared_ptr<const std::string> NewestText::in(Format format, const RecorderFigures &recorder)
{
	const std::lock_guard guard(lock_);
	if (auto newest = metrics_.newest(); newest != figures_) {
		figures_ = std::move(newest);
		texts_.clear();
	}
	if (!figures_)
		return nullptr;
	auto &text = texts_[format];
	if (!text)
		text = std::make_shared<const std::string>(exposition(*figures_, recorder, format));
	return text;
}

} // namespace monitor::metrics
