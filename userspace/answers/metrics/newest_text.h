// SPDX-License-Identifier: MIT
// Caches the newest figures as text, made once per window for all clients: frequent requests do not cost more. Called
// by several threads of the server; next in the flow: families.h.
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

	// Null before the start. RecorderFigures are those of the window's first request.
	std::shared_ptr<const std::string> in(Format format, const RecorderFigures &recorder);

private:
	const Metrics &metrics_;
	std::mutex lock_; // protects the following
	std::shared_ptr<const Figures> figures_;
	std::map<Format, std::shared_ptr<const std::string>> texts_; // of the current figures
};

} // namespace monitor::metrics
