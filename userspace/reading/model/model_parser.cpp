// SPDX-License-Identifier: MIT
// The parser of the model language; what is beyond its grammar is checked by model_rules.cpp.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.h"
#include "base/suggestions.h"
#include "base/text.h"
#include "model_lexer.h"
#include "model_rules.h"
#include "model_text.h"

namespace monitor::model {
namespace {

constexpr std::string_view first_line = "# monitor model 1";
constexpr std::size_t max_values = 100'000;
const std::vector<std::string> statements = {"cpus",  "marks",        "latency", "wakecost",
					     "fixed", "distribution", "role",    "because"};

std::vector<std::string> all_operations()
{
	std::vector<std::string> names;
	for (unsigned kind = 0; kind <= static_cast<unsigned>(Kind::fork); ++kind)
		names.emplace_back(keyword_of(static_cast<Kind>(kind)));
	return names;
}
const std::vector<std::string> operations = all_operations(); // by Kind

// A name that may be defined after its use.
struct Reference {
	std::string name;
	TextPosition position;
};

class Parser {
public:
	explicit Parser(std::string_view text) : lexer_(text) {}

	Model parse()
	{
		for (lexer_.skip_newlines(); lexer_.token().kind != Token::Kind::end; end_statement())
			statement();
		if (model_.roles.empty())
			lexer_.refuse("the model has no role: add one, such as `role main: loop 10 { cpu work 1ms }`");
		for (Role &role : model_.roles) {
			for_each_operation(role.body, [this](Operation &operation) { resolve(operation); });
			number_columns(role);
		}
		for (std::size_t i = 0; i < model_.roles.size(); ++i)
			if (const std::string wrong = broken_rule(model_, i); !wrong.empty())
				lexer_.refuse(role_positions_[i],
					      fmt::format("role {}: {}", name_text(model_.roles[i].name), wrong));
		return std::move(model_);
	}

private:
	void end_statement()
	{
		if (!lexer_.accept(";") && lexer_.token().kind != Token::Kind::newline &&
		    lexer_.token().kind != Token::Kind::end)
			lexer_.refuse(fmt::format("a statement ends before {}: `;` or a new line is expected",
						  readable(lexer_.token().text)));
		lexer_.skip_newlines();
	}

	void statement()
	{
		const Token word = lexer_.token();
		if (std::ranges::find(statements, word.text) == statements.end())
			lexer_.refuse(fmt::format("{} does not start a statement of a model; what does is {}.{}",
						  readable(word.text), fmt::join(statements, ", "),
						  suggestions(word.text, statements)));
		if (word.text == "because") {
			model_.because.push_back(lexer_.take_line().substr(word.text.size()));
			model_.because.back() = trimmed(model_.because.back());
			return;
		}
		lexer_.take();
		if (word.text == "cpus")
			cpus();
		else if (word.text == "marks")
			marks();
		else if (word.text == "latency")
			model_.latency_ns = durations();
		else if (word.text == "wakecost")
			model_.wake_cost_ns = lexer_.duration();
		else if (word.text == "fixed")
			model_.fixed_ns = lexer_.duration();
		else if (word.text == "distribution")
			distribution();
		else
			role(word.position);
	}

	void cpus()
	{
		model_.cpus = static_cast<std::uint32_t>(lexer_.number("a number of CPUs", 1, 65536));
		model_.is_realtime = lexer_.accept("realtime");
	}

	void marks()
	{
		lexer_.expect("functions");
		model_.marks_functions = true;
	}

	std::vector<std::uint64_t> durations()
	{
		std::vector<std::uint64_t> values = {lexer_.duration()};
		while (lexer_.token().kind == Token::Kind::number) {
			if (values.size() == max_values)
				lexer_.refuse(fmt::format("more than {} values are not supported", max_values));
			values.push_back(lexer_.duration());
		}
		return values;
	}

	void distribution()
	{
		const TextPosition position = lexer_.token().position;
		Distribution made;
		made.name = lexer_.name("a distribution");
		if (lexer_.accept("uniform"))
			made.shape = Distribution::Shape::uniform;
		else if (lexer_.accept("exponential"))
			made.shape = Distribution::Shape::exponential;
		made.ns = durations();
		if (made.shape == Distribution::Shape::uniform && (made.ns.size() != 2 || made.ns[0] > made.ns[1]))
			lexer_.refuse(position, "a uniform distribution has two durations, the smaller one first");
		if (made.shape == Distribution::Shape::exponential && made.ns.size() != 1)
			lexer_.refuse(position, "an exponential distribution has one duration, its mean");
		if (!distributions_.emplace(made.name, model_.distributions.size()).second)
			lexer_.refuse(position,
				      fmt::format("there are two distributions {}: give one of them another name",
						  readable(made.name)));
		model_.distributions.push_back(std::move(made));
	}

	void role(TextPosition position)
	{
		Role made;
		made.name = lexer_.name("a role");
		if (model_.roles.size() == max_roles)
			lexer_.refuse(position, fmt::format("more than {} roles are not supported", max_roles));
		if (!roles_.emplace(made.name, model_.roles.size()).second)
			lexer_.refuse(position, fmt::format("there are two roles {}: give one of them another name",
							    readable(made.name)));
		if (lexer_.accept("pool"))
			made.mode = Role::Mode::pool;
		else if (lexer_.accept("split"))
			made.mode = Role::Mode::split;
		if (lexer_.token().kind == Token::Kind::number)
			made.threads = static_cast<std::uint32_t>(lexer_.number("a number of threads", 1, max_threads));
		threads_ += made.threads;
		if (threads_ > max_threads)
			lexer_.refuse(position, fmt::format("more than {} threads are not supported", max_threads));
		if (lexer_.accept("capacity"))
			made.capacity = static_cast<std::uint32_t>(lexer_.number("a capacity", 1, 1'000'000'000));
		if (lexer_.accept("in")) {
			lexer_.expect("order");
			made.in_order = true;
		}
		lexer_.expect(":");
		if (lexer_.accept("loop"))
			made.loop = lexer_.token().kind == Token::Kind::number
					? lexer_.number("a number of iterations", 1, 1'000'000'000)
					: 0;
		lexer_.expect("{");
		made.body = block(1);
		lexer_.expect("}");
		role_positions_.push_back(position);
		model_.roles.push_back(std::move(made));
	}

	// Up to the `}` or `|` that ends it.
	Block block(std::size_t depth)
	{
		if (depth > max_depth)
			lexer_.refuse(
			    fmt::format("more than {} blocks within each other are not supported", max_depth));
		Block made;
		const auto skip = [this] {
			while (lexer_.token().kind == Token::Kind::newline || lexer_.is(";"))
				lexer_.take();
		};
		for (skip(); !lexer_.is("}") && !lexer_.is("|"); skip()) {
			if (!made.empty() && !is_separated_)
				lexer_.refuse("`;` or a new line is expected between two operations");
			made.push_back(operation(depth));
			is_separated_ = lexer_.is(";") || lexer_.token().kind == Token::Kind::newline;
		}
		return made;
	}

	Operation operation(std::size_t depth)
	{
		if (++operations_ > max_operations)
			lexer_.refuse(fmt::format("more than {} operations are not supported", max_operations));
		const Token word = lexer_.token();
		const auto found = std::ranges::find(operations, word.text);
		if (word.kind != Token::Kind::word || found == operations.end())
			lexer_.refuse(
			    fmt::format("{} is not an operation; these are {}.{}",
					word.kind == Token::Kind::end ? "the end of the text" : readable(word.text),
					fmt::join(operations, ", "), suggestions(word.text, operations)));
		lexer_.take();
		Operation made;
		made.kind = static_cast<Kind>(found - operations.begin());
		arguments(made);
		blocks(made, depth);
		return made;
	}

	void arguments(Operation &made)
	{
		switch (made.kind) {
		case Kind::cpu:
			if (lexer_.is_name() && !lexer_.is("of"))
				made.name = lexer_.name("an activity");
			return time(made);
		case Kind::sleep:
			return time(made);
		case Kind::put:
		case Kind::signal:
		case Kind::call:
			return role_reference(made);
		case Kind::wake:
		case Kind::wait:
			made.is_own = lexer_.accept("own");
			made.name = lexer_.name("a semaphore");
			return;
		case Kind::await:
			made.name = lexer_.name("an activity");
			return;
		case Kind::lock:
			made.name = lexer_.name("a lock");
			return;
		case Kind::barrier:
			made.name = lexer_.name("a barrier");
			return;
		case Kind::branch:
			if (lexer_.token().kind == Token::Kind::number)
				made.probability = lexer_.probability();
			return;
		case Kind::take:
		case Kind::reply:
		case Kind::fork:
			return;
		}
	}

	void time(Operation &made)
	{
		const bool is_of = lexer_.is("of");
		if (is_of)
			lexer_.take();
		else if (lexer_.token().kind == Token::Kind::number)
			made.ns = lexer_.duration();
		if (!is_of)
			return;
		made.distribution = references_.size(); // resolve() replaces it
		references_.push_back({"", lexer_.token().position});
		references_.back().name = lexer_.name("a distribution");
	}

	void role_reference(Operation &made)
	{
		made.role = references_.size(); // resolve() replaces it
		references_.push_back({"", lexer_.token().position});
		references_.back().name = lexer_.name("a role");
	}

	void blocks(Operation &made, std::size_t depth)
	{
		const bool needs_block =
		    made.kind == Kind::lock || made.kind == Kind::branch || made.kind == Kind::fork;
		if (!needs_block && !(made.kind == Kind::call && lexer_.is("{")))
			return;
		lexer_.expect("{");
		made.blocks.push_back(block(depth + 1));
		while (made.kind == Kind::fork && lexer_.accept("|"))
			made.blocks.push_back(block(depth + 1));
		lexer_.expect("}");
		if (made.kind == Kind::branch && lexer_.accept("else")) {
			lexer_.expect("{");
			made.blocks.push_back(block(depth + 1));
			lexer_.expect("}");
		}
	}

	void resolve(Operation &operation)
	{
		if (operation.role != Operation::no_index)
			operation.role = find(references_[operation.role], roles_, "role");
		if (operation.distribution != Operation::no_index)
			operation.distribution =
			    find(references_[operation.distribution], distributions_, "distribution");
	}

	std::size_t find(const Reference &reference, const std::map<std::string, std::size_t> &known,
			 const char *what) const
	{
		if (const auto found = known.find(reference.name); found != known.end())
			return found->second;
		const auto names = list_of<std::string>(known, [](const auto &each) { return each.first; });
		lexer_.refuse(reference.position, fmt::format("there is no {} {}.{}", what, readable(reference.name),
							      suggestions(reference.name, names)));
	}

	Lexer lexer_;
	Model model_;
	std::map<std::string, std::size_t> roles_, distributions_;
	std::vector<Reference> references_;
	std::vector<TextPosition> role_positions_;
	std::size_t operations_ = 0, threads_ = 0;
	bool is_separated_ = false;
};

} // namespace

bool is_model(std::string_view text)
{
	return text.starts_with(first_line) &&
	       text.substr(first_line.size(), 1).find_first_not_of(":\r\n ") == std::string_view::npos;
}

Model parse_model(std::string_view untrusted_text, const std::string &name)
{
	if (!is_model(untrusted_text))
		throw Error("{}: it is not a model: the first line of one is `{}`", name, first_line);
	if (untrusted_text.size() > max_text_bytes)
		throw Error("{}: a model has at most {} bytes", name, max_text_bytes);
	try {
		Model model = Parser(untrusted_text).parse();
		const std::string_view line = untrusted_text.substr(0, untrusted_text.find('\n'));
		if (const std::size_t colon = line.find(':'); colon != std::string_view::npos)
			model.about = trimmed(line.substr(colon + 1));
		return model;
	} catch (const ParseError &error) {
		throw Error("{}, line {}: {}", name, error.position().line, error.sentence());
	}
}

} // namespace monitor::model
