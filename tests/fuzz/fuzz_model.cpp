// SPDX-License-Identifier: MIT
// Any bytes as a model and, after a NUL, as its samples: they are refused in one sentence, or the model is printed as a
// text that reads as the same one, and the samples as well.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "reading/model/claims.h"
#include "reading/model/model_text.h"

using namespace monitor;

namespace {

void require(bool condition)
{
	if (!condition)
		std::abort();
}

void expect_consistent(const model::Model &model)
{
	require(!model.roles.empty());
	for (const model::Role &role : model.roles)
		model::for_each_operation(role.body, [&](const model::Operation &operation) {
			require(operation.role == model::Operation::no_index || operation.role < model.roles.size());
			require(operation.distribution == model::Operation::no_index ||
				operation.distribution < model.distributions.size());
			require(!operation.has_samples() || operation.column < role.columns.size());
		});
	for (const model::SampleSet &set : model.sets) {
		require(set.roles.size() == model.roles.size());
		for (std::size_t i = 0; i < set.roles.size(); ++i) {
			const model::RoleSamples &samples = set.roles[i];
			require(samples.threads.size() == samples.items.size());
			for (const auto &column : samples.columns)
				require(column.size() == samples.items.size());
			require(samples.items.empty() || samples.columns.size() == model.roles[i].columns.size());
		}
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
	const std::string input(reinterpret_cast<const char *>(data), size);
	const std::size_t end = std::min(input.find('\0'), input.size());
	try {
		model::Model model = model::parse_model(input.substr(0, end), "m");
		expect_consistent(model);
		require(model::parse_model(model_text(model), "m") == model);
		claims_of(model);
		if (end == input.size())
			return 0;
		parse_samples(input.substr(end + 1), "s", model);
		expect_consistent(model);
		model::Model again = model::parse_model(model_text(model), "m");
		parse_samples(samples_text(model), "s", again);
		require(again == model);
		for (const std::string &activity : activities_of(model))
			for (const model::SampleSet &set : model.sets)
				times_in(model, set, activity);
	} catch (const Error &error) {
		const std::string_view what = error.what();
		require(!what.empty() && what.find('\n') == std::string_view::npos);
	}
	return 0;
}
