// SPDX-License-Identifier: MIT
// The trees and refusals of the description language's syntax as short texts: what test_tsdl_*.cpp compare.
#pragma once

#include "reading/ctf/tsdl.h"

namespace monitor::trace::tsdl {

// What a tree holds, one form for each of its parts: named types in ' ', numbers of labels as they are stored.
inline std::string shown(const Type &type);
inline std::string shown(const Block &block);

inline std::string shown(const Value &value)
{
	if (value.kind == Value::Kind::integer)
		return (value.negative ? "-" : "") + std::to_string(value.magnitude);
	return value.kind == Value::Kind::text ? '"' + value.text + '"' : value.text;
}

inline std::string shown(const std::vector<Dimension> &dimensions)
{
	std::string made;
	for (const auto &dimension : dimensions)
		made += '[' + (dimension.path.empty() ? std::to_string(dimension.length) : dimension.path) + ']';
	return made;
}

inline std::string shown(const Attribute &attribute)
{
	return attribute.name + '=' + shown(attribute.value) + ';';
}

inline std::string shown(const Label &label)
{
	return label.text + '=' + std::to_string(label.first) + ".." + std::to_string(label.last) + ',';
}

inline std::string shown(const Declaration &declaration)
{
	return shown(*declaration.type) + ' ' + declaration.name + shown(declaration.dimensions) + ';';
}

inline std::string shown(const Definition &definition)
{
	return "def " + definition.name + '=' + shown(*definition.type) + shown(definition.dimensions) + ';';
}

inline std::string shown(const Binding &binding)
{
	return binding.name + ":=" + shown(*binding.type) + ';';
}

template <typename Part> std::string shown(const std::vector<Part> &parts)
{
	std::string made;
	for (const auto &part : parts)
		made += shown(part);
	return made;
}

inline std::string shown(const Type &type)
{
	const char *const keywords[] = {"integer", "floating_point", "string", "enum", "struct", "variant", ""};
	std::string made = keywords[static_cast<int>(type.kind)];
	if (type.kind == Type::Kind::named)
		return '\'' + type.name + '\'';
	if (!type.name.empty())
		made += ' ' + type.name;
	if (!type.tag.empty())
		made += '<' + type.tag + '>';
	if (type.base)
		made += ':' + shown(*type.base);
	if (type.has_body)
		made += '{' + shown(type.attributes) + shown(type.labels) + shown(type.definitions) +
			shown(type.fields) + '}';
	return type.align_bits ? made + " align " + std::to_string(type.align_bits) : made;
}

inline std::string shown(const Block &block)
{
	return block.keyword + '{' + shown(block.attributes) + shown(block.definitions) + shown(block.bindings) + '}';
}

inline std::string shown(const std::string &text)
{
	const Tree tree = parse(text);
	return shown(tree.definitions) + shown(tree.blocks);
}

inline std::string place(TextPosition position)
{
	return std::to_string(position.line) + ':' + std::to_string(position.column);
}

inline std::string refusal(const std::string &text)
{
	try {
		parse(text);
	} catch (const ParseError &error) {
		return place(error.position()) + ' ' + error.what();
	}
	return "none";
}

inline std::string repeated(const std::string &text, std::size_t times)
{
	std::string made;
	for (std::size_t i = 0; i < times; ++i)
		made += text;
	return made;
}

} // namespace monitor::trace::tsdl
