// SPDX-License-Identifier: MIT
#include "filter.h"

#include "check.h"
#include "compile.h"
#include "parser.h"

namespace monitor::filter {

Filter::Filter(std::string_view untrusted_text, const trace::Description &description, std::uint64_t begin_time)
    : condition_(std::make_unique<const Expression>(parse(untrusted_text))), programs_(description.id_limit())
{
	check(*condition_, untrusted_text, description);
	Common common;
	common.clock = &description.clock;
	common.begin_time = begin_time;
	for (const auto &cls : description.classes())
		programs_[cls->id] = compile(*condition_, *cls, common);
}

} // namespace monitor::filter
