// SPDX-License-Identifier: MIT
// Reads and prints the samples of a model, a line for each iteration:
//
//     # monitor model samples 1
//     recording 1.313s
//     role reader: cpu check, cpu
//     THREAD ITEM VALUE...
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/quoting.h"
#include "base/text.h"
#include "model_text.h"

namespace monitor::model {
namespace {

constexpr std::string_view samples_line = "# monitor model samples 1";
constexpr std::size_t max_sets = 1000;

class Reader {
public:
	Reader(std::string_view text, const std::string &name, const Model &model)
	    : text_(text), name_(name), model_(model)
	{
	}

	std::vector<SampleSet> read()
	{
		if (!next_line() || line_ != samples_line)
			throw Error("{}: it does not have the samples of a model: their first line is `{}`", name_,
				    samples_line);
		while (next_line()) {
			if (line_.starts_with("recording "))
				start_set();
			else if (line_.starts_with("role "))
				start_role();
			else
				take_iteration();
		}
		finish_set();
		return std::move(sets_);
	}

private:
	[[noreturn]] void refuse(const std::string &sentence) const
	{
		throw Error("{}, line {}: {}", name_, line_number_, sentence);
	}

	// Returns false at the end of the text.
	bool next_line()
	{
		if (text_.empty())
			return false;
		++line_number_;
		const std::size_t end = text_.find('\n');
		if (end == std::string_view::npos)
			refuse("the line has no end: the file is cut off; copy it again");
		line_ = text_.substr(0, end);
		text_.remove_prefix(end + 1);
		return true;
	}

	void start_set()
	{
		finish_set();
		if (sets_.size() == max_sets)
			refuse(fmt::format("more than {} recordings are not supported", max_sets));
		const auto elapsed = ns_of(std::string(line_.substr(10)));
		if (!elapsed || *elapsed <= 0)
			refuse(fmt::format("{} is not how long a recording took", readable(line_.substr(10))));
		sets_.emplace_back();
		sets_.back().elapsed_ns = static_cast<std::uint64_t>(*elapsed);
		sets_.back().roles.resize(model_.roles.size());
		has_role_.assign(model_.roles.size(), false);
		role_.reset();
	}

	// Every role that needs samples must have some.
	void finish_set() const
	{
		std::size_t threads = 0;
		for (std::size_t i = 0; !sets_.empty() && i < model_.roles.size(); ++i)
			if (const std::vector<std::uint32_t> &numbers = sets_.back().roles[i].threads; !numbers.empty())
				threads += *std::ranges::max_element(numbers) + std::size_t(1);
		if (threads > max_threads)
			refuse(fmt::format("the recording before this has more than {} threads", max_threads));
		for (std::size_t i = 0; !sets_.empty() && i < model_.roles.size(); ++i) {
			const Role &role = model_.roles[i];
			const bool needs_samples = !role.columns.empty() || role.loop == 0;
			if (needs_samples && sets_.back().roles[i].items.empty())
				refuse(fmt::format("the recording before this has no iterations of the role {}",
						   name_text(role.name)));
		}
	}

	void start_role()
	{
		if (sets_.empty())
			refuse("`recording` is expected before the first role");
		const std::string_view rest = line_.substr(5);
		const auto is_this = [rest](const Role &role) {
			const std::string name = name_text(role.name) + ':';
			return rest.starts_with(name) && (rest.size() == name.size() || rest[name.size()] == ' ');
		};
		const auto found = std::ranges::find_if(model_.roles, is_this);
		role_.reset();
		columns_.clear();
		if (found == model_.roles.end()) // a user has removed it from the model
			return;
		role_ = static_cast<std::size_t>(found - model_.roles.begin());
		if (has_role_[*role_])
			refuse(fmt::format("the role {} appears twice in a recording", name_text(found->name)));
		has_role_[*role_] = true;
		start_columns(*found, rest.substr(name_text(found->name).size() + 1));
	}

	// Maps the columns here to those of the role. Unknown ones are skipped: a user has edited the model.
	void start_columns(const Role &role, std::string_view names)
	{
		std::vector<bool> seen(role.columns.size(), false);
		for (const Outside::Part &part : Outside(names).split({","})) {
			if (part.text.empty())
				continue;
			const auto column =
			    static_cast<std::size_t>(std::ranges::find(role.columns, part.text) - role.columns.begin());
			columns_.push_back(column);
			if (column == seen.size())
				continue;
			if (seen[column])
				refuse(fmt::format("the column `{}` appears twice", part.text));
			seen[column] = true;
		}
		if (const auto missing = std::ranges::find(seen, false); missing != seen.end())
			refuse(fmt::format("it has no samples of `{}` of the role {}: give it a duration in the model, "
					   "such as 120us",
					   role.columns[static_cast<std::size_t>(missing - seen.begin())],
					   name_text(role.name)));
		sets_.back().roles[*role_].columns.resize(role.columns.size());
	}

	std::uint64_t take_number()
	{
		std::uint64_t value = 0;
		const auto [rest, error] = std::from_chars(line_.data(), line_.data() + line_.size(), value);
		line_.remove_prefix(static_cast<std::size_t>(rest - line_.data()));
		if (error != std::errc() || !(line_.empty() || line_[0] == ' '))
			refuse("an iteration is a line of numbers with a blank between them: a thread, an item and a "
			       "value for "
			       "each column");
		line_.remove_prefix(line_.empty() ? 0 : 1);
		return value;
	}

	std::uint64_t take_number_below(std::uint64_t limit, const char *what)
	{
		const std::uint64_t value = take_number();
		if (value >= limit)
			refuse(fmt::format("{} has a number below {}, not {}", what, limit, value));
		return value;
	}

	void take_iteration()
	{
		if (sets_.empty())
			refuse("`recording` is expected before the first iteration");
		if (!role_)
			return;
		RoleSamples &samples = sets_.back().roles[*role_];
		samples.threads.push_back(static_cast<std::uint32_t>(take_number_below(max_threads, "a thread")));
		samples.items.push_back(take_number_below(max_item, "an item"));
		for (const std::size_t column : columns_) {
			const std::uint64_t value = take_number();
			if (column < samples.columns.size())
				samples.columns[column].push_back(value);
		}
		if (!line_.empty())
			refuse(fmt::format(
			    "an iteration of this role has {} numbers: a thread, an item and a value for each "
			    "column",
			    columns_.size() + 2));
	}

	std::string_view text_;
	const std::string &name_;
	const Model &model_;
	std::string_view line_;
	std::size_t line_number_ = 0;
	std::vector<SampleSet> sets_;
	std::vector<bool> has_role_;
	std::optional<std::size_t> role_;
	std::vector<std::size_t> columns_; // of the lines that follow: in Role::columns, its size for unknown ones
};

} // namespace

void parse_samples(std::string_view untrusted_text, const std::string &name, Model &model)
{
	model.sets = Reader(untrusted_text, name, model).read();
}

std::string samples_text(const Model &model)
{
	std::string text = std::string(samples_line) + '\n';
	for (const SampleSet &set : model.sets) {
		text += "recording " + duration_text(set.elapsed_ns) + '\n';
		for (std::size_t i = 0; i < set.roles.size(); ++i) {
			const RoleSamples &samples = set.roles[i];
			text += fmt::format("role {}:{}{}\n", name_text(model.roles[i].name),
					    model.roles[i].columns.empty() ? "" : " ",
					    fmt::join(model.roles[i].columns, ", "));
			for (std::size_t row = 0; row < samples.items.size(); ++row) {
				text += fmt::format("{} {}", samples.threads[row], samples.items[row]);
				for (const auto &column : samples.columns)
					text += fmt::format(" {}", column[row]);
				text += '\n';
			}
		}
	}
	return text;
}

} // namespace monitor::model
