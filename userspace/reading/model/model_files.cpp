// SPDX-License-Identifier: MIT
#include <filesystem>

#include "base/durable_file.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/memory_bound.h"
#include "model_text.h"

namespace monitor::model {
namespace {

constexpr const char *suffix = ".samples";

// The first part of the model that needs samples, for a message; "" if none does.
std::string sampled_operation(const Model &model)
{
	for (const Role &role : model.roles) {
		if (!role.columns.empty())
			return '`' + role.columns[0] + "` of the role " + name_text(role.name);
		if (role.loop == 0)
			return "`loop` of the role " + name_text(role.name);
	}
	return "";
}

} // namespace

Model load_model(const std::string &path)
{
	use_memory_bound(); // a replay of a small model may hold an item of each of its iterations
	Model model = parse_model(read_file(path, max_text_bytes + 1), path);
	const std::string samples = path + suffix, needs = sampled_operation(model);
	std::error_code ignored;
	if (std::filesystem::exists(samples, ignored)) {
		const std::string text = read_file(samples, max_samples_bytes + 1);
		if (text.size() > max_samples_bytes)
			throw Error("{}: the samples of a model have at most {} bytes", samples, max_samples_bytes);
		parse_samples(text, samples, model);
	}
	if (model.sets.empty() && !needs.empty())
		throw Error(
		    "{}: {} has no number, and {} no samples of it: write one, such as `cpu work 120us` or `loop 10`",
		    path, needs, samples);
	return model;
}

void save_model(const Model &model, const std::string &path)
{
	if (!model.sets.empty())
		replace_file_durably(path + suffix, samples_text(model), 0644);
	replace_file_durably(path, model_text(model), 0644);
}

} // namespace monitor::model
