// SPDX-License-Identifier: MIT
#include "names.h"

#include "base/suggestions.h"

namespace monitor::trace::tdl {
namespace {

bool fits(std::uint64_t value, bool is_signed, std::uint32_t size_bits)
{
	return size_bits == 64 || (is_signed ? sign_extended(value, size_bits) == value : value >> size_bits == 0);
}

// The size of the labels of all combinations: each bit is in half of them.
std::uint64_t bytes_of_combinations(const Names &names)
{
	std::uint64_t bytes = 2 * sizeof(Enumeration::Label);
	for (const Label &label : names.labels)
		bytes += label.text.size() + 1;
	return bytes << (names.labels.size() - 1);
}

std::vector<Enumeration::Label> combinations(const Names &names)
{
	std::vector<Enumeration::Label> made;
	for (std::uint32_t choice = 1; choice < 1u << names.labels.size(); ++choice) {
		std::uint64_t value = 0;
		std::string text;
		for (std::size_t i = 0; i < names.labels.size(); ++i) {
			if (!(choice >> i & 1))
				continue;
			value |= std::uint64_t(1) << names.labels[i].first;
			text += (text.empty() ? "" : "|") + names.labels[i].text;
		}
		made.push_back({value, value, text});
	}
	return made;
}

} // namespace

std::string did_you_mean(const std::string &name, const std::vector<std::string> &known)
{
	const std::string near = suggestions(name, known); // " Did you mean A, B?"
	return near.empty() ? "" : "; d" + near.substr(2);
}

const Names &NameTables::find(const Name &name) const
{
	std::vector<std::string> known;
	for (const Names &names : model_.names) {
		if (names.name == name.text)
			return names;
		known.push_back(names.name);
	}
	throw ParseError(name.position, "there is no block `names " + name.text + "`" + did_you_mean(name.text, known));
}

std::shared_ptr<const Enumeration> NameTables::labels(const Name &name, bool is_signed, std::uint32_t size_bits)
{
	const Names &names = find(name);
	std::vector<Enumeration::Label> labels;
	for (const Label &label : names.labels) {
		const std::uint64_t last = names.is_flags() ? std::uint64_t(1) << label.last : label.last;
		if ((label.is_negative && !is_signed) ||
		    !fits(names.is_flags() ? last : label.first, is_signed && !names.is_flags(), size_bits) ||
		    !fits(last, is_signed && !names.is_flags(), size_bits))
			throw ParseError(label.position, label.text + " does not fit into the " +
							     std::to_string(size_bits) +
							     " bits of a field with these names (line " +
							     std::to_string(name.position.line) + ")");
		labels.push_back({label.first, label.last, label.text});
	}
	auto &made = made_[{&names, is_signed}];
	if (made)
		return made;
	if (names.is_flags()) {
		if (names.labels.size() > max_flags)
			throw ParseError(names.labels[max_flags].position,
					 "at most 12 bits of a field can have names; describe it as two fields");
		combined_bytes_ += bytes_of_combinations(names);
		if (combined_bytes_ > max_combined_bytes)
			throw ParseError(
			    names.position,
			    "the names of all combinations of bits take more than 32 MiB; give the bits shorter names");
		labels = combinations(names);
	}
	made = std::make_shared<const Enumeration>(std::move(labels), is_signed);
	if (!made->ok())
		throw ParseError(names.position, "the numbers of a name run backwards, or too many names overlap");
	return made;
}

LabelRange NameTables::values(const Constant &constant, const Names *names) const
{
	if (!constant.name)
		return {constant.number, constant.number};
	std::vector<std::string> known;
	if (names)
		for (const Label &label : names->labels) {
			if (label.text == constant.name.text)
				return names->is_flags() ? LabelRange{std::uint64_t(1) << label.first,
								      std::uint64_t(1) << label.first}
							 : LabelRange{label.first, label.last};
			known.push_back(label.text);
		}
	throw ParseError(
	    constant.name.position,
	    names ? "the field has no value called " + constant.name.text + did_you_mean(constant.name.text, known)
		  : "the values of this field have no names; add `named NAMES` after its type, or give a number");
}

} // namespace monitor::trace::tdl
