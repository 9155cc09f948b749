// SPDX-License-Identifier: MIT
#include "json_sequence.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace monitor::trace::json {
namespace {

constexpr char record_separator = 0x1e;
// LTTng's 2,500 kernel events are 250,000 values, a fragment per event.
constexpr std::size_t max_values = 1'000'000, max_depth = 128, max_name_bytes = 1023;

// Builds a Value from what the parser finds.
class Builder : public nlohmann::json_sax<nlohmann::json> {
public:
	explicit Builder(Value &root) : root_(root) {}

	const std::string &why() const { return why_; }
	std::size_t failed_at() const { return failed_at_; }

	bool null() override { return add({}); }
	bool boolean(bool value) override { return add({Value::Kind::boolean, false, value, {}, {}, {}}); }
	bool number_integer(number_integer_t value) override
	{
		return add({Value::Kind::integer, value < 0, static_cast<std::uint64_t>(value), {}, {}, {}});
	}
	bool number_unsigned(number_unsigned_t value) override
	{
		return add({Value::Kind::integer, false, value, {}, {}, {}});
	}
	bool number_float(number_float_t, const string_t &) override
	{
		return add({Value::Kind::real, false, 0, {}, {}, {}});
	}
	bool string(string_t &value) override { return add({Value::Kind::text, false, 0, std::move(value), {}, {}}); }
	bool binary(binary_t &) override { return fail("expected JSON here"); }
	bool start_object(std::size_t) override { return open({Value::Kind::object, false, 0, {}, {}, {}}); }
	bool start_array(std::size_t) override { return open({Value::Kind::list, false, 0, {}, {}, {}}); }
	bool key(string_t &name) override
	{
		if (name.size() > max_name_bytes)
			return fail("a name is longer than 1023 bytes");
		open_.back()->names.push_back(std::move(name));
		return true;
	}
	bool end_object() override
	{
		std::vector<std::string_view> sorted(open_.back()->names.begin(), open_.back()->names.end());
		std::ranges::sort(sorted);
		if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
			return fail("an object has the member " + std::string(*twice) + " twice");
		open_.pop_back();
		return true;
	}
	bool end_array() override
	{
		open_.pop_back();
		return true;
	}
	bool parse_error(std::size_t position, const std::string &, const nlohmann::json::exception &why) override
	{
		constexpr int out_of_range = 406; // nlohmann's number of the error
		failed_at_ = position > 0 ? position - 1 : 0;
		return fail(why.id == out_of_range ? "a number is too large" : "this is not JSON");
	}

private:
	bool fail(const std::string &why)
	{
		if (why_.empty())
			why_ = why;
		return false;
	}
	bool add(Value value)
	{
		if (++values_ > max_values)
			return fail("a fragment of the description has too many values");
		if (open_.empty())
			root_ = std::move(value);
		else
			open_.back()->values.push_back(std::move(value));
		return true;
	}
	// Only the innermost open value grows, so pointers to the others stay valid.
	bool open(Value value)
	{
		if (open_.size() == max_depth)
			return fail("values are nested too deeply");
		if (!add(std::move(value)))
			return false;
		open_.push_back(open_.empty() ? &root_ : &open_.back()->values.back());
		return true;
	}

	Value &root_;
	std::vector<Value *> open_;
	std::size_t values_ = 0, failed_at_ = 0;
	std::string why_;
};

TextPosition advanced(TextPosition from, std::string_view text)
{
	for (const char c : text) {
		++from.offset;
		if (c == '\n') {
			++from.line;
			from.column = 1;
		} else {
			++from.column;
		}
	}
	return from;
}

const char *in_words(Value::Kind kind)
{
	constexpr const char *words[] = {"null",   "true or false", "an integer", "a number",
					 "a text", "a list",        "an object"};
	return words[static_cast<std::size_t>(kind)];
}

} // namespace

std::string Node::path() const
{
	if (!parent_)
		return "";
	const std::string before = parent_->path();
	if (parent_->value_->kind == Value::Kind::list)
		return before + '[' + std::to_string(number_) + ']';
	return before + (before.empty() ? "" : ".") + name();
}

void Node::refuse(const std::string &sentence) const
{
	const std::string where = path();
	throw ParseError(position_, where.empty() ? sentence : where + ": " + sentence);
}

std::optional<Node> Node::find(std::string_view name) const
{
	expect(Value::Kind::object);
	const auto found = std::ranges::find(value_->names, name);
	if (found == value_->names.end())
		return std::nullopt;
	return element(static_cast<std::size_t>(found - value_->names.begin()));
}

std::optional<Node> Node::find(std::string_view name, Value::Kind kind) const
{
	const auto found = find(name);
	if (found)
		found->expect(kind);
	return found;
}

Node Node::at(std::string_view name) const
{
	if (const auto found = find(name))
		return *found;
	refuse("`" + std::string(name) + "` is missing");
}

void Node::expect_only(std::initializer_list<std::string_view> names,
		       std::initializer_list<std::string_view> more) const
{
	expect(Value::Kind::object);
	for (const std::string &name : value_->names)
		if (std::ranges::find(names, name) == names.end() && std::ranges::find(more, name) == more.end())
			refuse("`" + name + "` is not known here");
}

Node Node::element(std::size_t number) const
{
	return {value_->values[number], *this, number};
}

std::vector<Node> Node::elements() const
{
	std::vector<Node> all;
	for (std::size_t i = 0; i < size(); ++i)
		all.push_back(element(i));
	return all;
}

void Node::expect(Value::Kind kind) const
{
	if (value_->kind != kind)
		refuse(std::string("expected ") + in_words(kind));
}

const std::string &Node::text() const
{
	expect(Value::Kind::text);
	return value_->text;
}

std::uint64_t Node::number(std::uint64_t min_value, std::uint64_t max_value) const
{
	const bool is_unsigned = value_->kind == Value::Kind::integer && !value_->is_negative;
	if (is_unsigned && value_->number >= min_value && value_->number <= max_value)
		return value_->number;
	if (min_value == 0 && max_value == ~std::uint64_t(0))
		refuse("expected a non-negative integer");
	refuse("expected an integer " + (max_value == ~std::uint64_t(0) ? "of at least " + std::to_string(min_value)
									: "from " + std::to_string(min_value) + " to " +
									      std::to_string(max_value)));
}

std::size_t Node::one_of(std::initializer_list<std::string_view> words) const
{
	const auto *const found = std::ranges::find(words, text());
	if (found != words.end())
		return static_cast<std::size_t>(found - words.begin());
	std::string all;
	for (const std::string_view word : words)
		all += (all.empty() ? "" : ", ") + std::string(word);
	refuse("expected one of " + all);
}

bool is_sequence(std::string_view text)
{
	return text.starts_with(record_separator);
}

void read_sequence(std::string_view untrusted_text, const std::function<void(const Node &)> &visit)
{
	TextPosition position;
	while (!untrusted_text.empty()) {
		position = advanced(position, untrusted_text.substr(0, 1));
		untrusted_text.remove_prefix(1);
		const std::string_view fragment = untrusted_text.substr(0, untrusted_text.find(record_separator));
		if (fragment.find_first_not_of(" \t\r\n") != std::string_view::npos) {
			Value value;
			Builder builder(value);
			if (!nlohmann::json::sax_parse(fragment.begin(), fragment.end(), &builder))
				throw ParseError(advanced(position, fragment.substr(0, builder.failed_at())),
						 builder.why());
			visit(Node(value, position));
		}
		position = advanced(position, fragment);
		untrusted_text.remove_prefix(fragment.size());
	}
}

} // namespace monitor::trace::json
