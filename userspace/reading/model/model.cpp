// SPDX-License-Identifier: MIT
#include "model.h"

#include <map>

#include "model_text.h"

namespace monitor::model {

void number_columns(Role &role)
{
	role.columns.clear();
	std::map<std::string, unsigned> occurrences;
	for_each_operation(role.body, [&](Operation &operation) {
		operation.column = Operation::no_index;
		const bool is_time = operation.kind == Kind::cpu || operation.kind == Kind::sleep;
		if (!is_time && operation.kind != Kind::branch)
			return;
		std::string name = keyword_of(operation.kind);
		if (!operation.name.empty())
			name += ' ' + name_text(operation.name);
		const unsigned number = ++occurrences[name];
		if (operation.ns || operation.distribution != Operation::no_index || operation.probability)
			return;
		operation.column = role.columns.size();
		role.columns.push_back(number == 1 ? name : name + ' ' + std::to_string(number));
	});
}

} // namespace monitor::model
