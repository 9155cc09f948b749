// SPDX-License-Identifier: MIT
// The newest figures as text, made once in each window for all who ask: a client that asks again and again costs no
// more than one that does not. Called by several threads of the server; next in the flow: families.h.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "families.h"
#include "metrics.h"

namespace monitor::metrics {

class NewestText {
public:
	explicit NewestText(const Metrics &metrics) : metrics_(metrics) {}

	// Null before the start. What the recorder says is that of who asked first.
	std::shared_ptr<const std::string> in(Format format, const RecorderFigures &recorder);

private:
	const Metrics &metrics_;
	std::mutex lock_; // of:
	std::shared_ptr<const Figures> figures_;
	std::map<Format, std::shared_ptr<const std::string>> texts_; // of these
};

} // namespace monitor::metrics
