// SPDX-License-Identifier: MIT
// `monitor events`: families and event classes with their fields, as `record -e` and `list --event` name them.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "card/bpf_card.h"
#include "card/classes.h"
#include "commands.h"

namespace monitor {
namespace {

std::string fields_of(const card::ClassRow &row)
{
	std::string text;
	for (const card::ClassField &field : row.fields)
		text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field.kind, field.name);
	return text;
}

void print_text()
{
	for (const card::Family &family : card::families()) {
		fmt::print("{}{}: {}\n", family.name, family.by_default ? "" : " (not recorded by default)",
			   family.what);
		for (const card::ClassRow &row : card::kernel_classes())
			if (std::string(row.family) == family.name)
				fmt::print("  {:<4} {:<27} {} bytes  {}\n", row.id, row.name, 8 * (row.words + 1),
					   fields_of(row));
		fmt::print("\n");
	}
	fmt::print("Fields of 16 bits (u16, s16, x16, state, syscall with abi ...) lie in the token itself.\n");
}

void print_json()
{
	auto all = nlohmann::ordered_json::array();
	for (const card::ClassRow &row : card::kernel_classes()) {
		auto fields = nlohmann::ordered_json::array();
		for (const card::ClassField &field : row.fields)
			fields.push_back({{"name", field.name}, {"kind", field.kind}});
		all.push_back({{"id", row.id},
			       {"name", row.name},
			       {"family", row.family},
			       {"bytes", 8 * (row.words + 1)},
			       {"fields", fields}});
	}
	fmt::print("{}\n", all.dump(1, '\t'));
}

} // namespace

void add_events(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("events", "the event families and classes with their fields");
	auto json = std::make_shared<bool>(false);
	command->add_flag("--json", *json, "a JSON array of classes");
	command->footer("Example:\n  monitor events");
	command->callback([json, &exit_code] {
		*json ? print_json() : print_text();
		exit_code = 0;
	});
}

} // namespace monitor
