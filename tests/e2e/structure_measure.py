# SPDX-License-Identifier: MIT
"""Figures of the tree for structure.py --measure, and the bounds that they are held to: how much code there is where, who
includes whom, how long functions are, and over how many files a class is spread. Lines are those that hold code."""
import collections
import re

TREE = ("userspace", "bpf", "kmod", "include", "tools/monitor")
SUFFIXES = (".h", ".c", ".cpp", ".hpp")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|\w+|[^\w\s]', re.S)
MEMBER = re.compile(r"^[^(=]*?\b(\w+)::~?\w+\(")
MAX_FOLDER_LINES, MAX_FUNCTION_LINES, MAX_P90, MAX_FILES_OF_CLASS = 6000, 80, 18, 2


class Function:
	def __init__(self, path, line, lines, head):
		self.path, self.line, self.lines, self.head = path, line, lines, head


def code_of(text):
	"""The text without comments, and its number of tokens."""
	kept, tokens = [], 0
	at = 0
	for found in TOKEN.finditer(text):
		kept.append(text[at:found.start()])
		at = found.end()
		if not found[0].startswith(("//", "/*")):
			tokens += 1
			kept.append(found[0])
	return "".join(kept) + text[at:], tokens


ON_A_LINE = re.compile(r"^\t+(?!if|for|while|switch|return|else|do\b).*\)( const| noexcept| override| final)* \{ .*\}$")


def functions_in(path, lines):
	"""Those whose braces have lines of their own, by the lines with code between them, and members on a single line."""
	at = 0
	while at < len(lines):
		if ON_A_LINE.match(lines[at]):
			yield Function(path, at + 1, 1, lines[at].strip())
		opened = re.fullmatch(r"(\t*)\{", lines[at])
		closed = opened and next((i for i in range(at + 1, len(lines)) if lines[i].startswith(opened[1] + "}")), None)
		if not closed:
			at += 1
			continue
		begin = at
		while begin and lines[begin - 1].strip() and not re.search(r"[;{}]$|^\s*(#|public:|protected:|private:)", lines[begin - 1]):
			begin -= 1
		yield Function(path, begin + 1, sum(bool(line.strip()) for line in lines[at + 1:closed]), " ".join(line.strip() for line in lines[begin:at]))
		at = closed + 1


class Measure:
	def __init__(self, source, included):
		"""`included`: of a file the pairs of quote and name, as structure.includes()."""
		self.lines, self.tokens, self.functions = collections.Counter(), 0, []
		self.classes = collections.defaultdict(set)  # (folder, class): files with definitions of its members
		self.arrows = collections.defaultdict(collections.Counter)
		for top in TREE:
			for path in sorted(path for path in (source / top).rglob("*") if path.suffix in SUFFIXES):
				self.add(path, path.relative_to(source), included(path), source)

	def add(self, path, name, included, source):
		folder = name.parent.as_posix().removeprefix("userspace/")
		code, tokens = code_of(path.read_text(encoding="utf-8"))
		lines = code.split("\n")
		self.tokens += tokens
		self.lines[folder] += sum(bool(line.strip()) for line in lines)
		for function in functions_in(name, lines):
			self.functions.append(function)
			if name.suffix == ".cpp" and (member := MEMBER.match(function.head)):
				self.classes[folder, member[1]].add(name.name)
		for quote, header in included:
			target = source / "userspace" / header
			if quote == '"' and "/" in header and target.is_file() and (to := header.rsplit("/", 1)[0]) != folder:
				self.arrows[folder][to] += 1

	def circles(self):
		"""Folders that reach themselves, with the way."""
		found = []
		def walk(way):
			for to in self.arrows[way[-1]]:
				if to == way[0]:
					found.append(way)
				elif to not in way and to > way[0]:
					walk([*way, to])
		for folder in list(self.arrows):
			walk([folder])
		return found

	def spread(self):
		return {f"{folder} {name}": files for (folder, name), files in self.classes.items() if len(files) > MAX_FILES_OF_CLASS}

	def p90(self):
		lengths = sorted(function.lines for function in self.functions)
		return lengths[len(lengths) * 9 // 10]

	def problems(self):
		"""What is beyond the bounds, in words."""
		yield from (f"{folder}: {lines} lines, more than {MAX_FOLDER_LINES}" for folder, lines in self.lines.items()
		            if lines > MAX_FOLDER_LINES)
		yield from (f"{function.path}:{function.line}: {function.lines} lines in a function, more than {MAX_FUNCTION_LINES}"
		            for function in self.functions if function.lines > MAX_FUNCTION_LINES)
		yield from (f"{name}: its members are defined in {', '.join(sorted(files))}: several classes?"
		            for name, files in self.spread().items())
		yield from (f"a circle: {' -> '.join([*way, way[0]])}" for way in self.circles())
		if self.p90() > MAX_P90:
			yield f"a tenth of the functions has {self.p90()} lines or more, above {MAX_P90}"

	def text(self):
		rooms = collections.defaultdict(lambda: [0, 0, 0])
		for folder, lines in self.lines.items():
			room = rooms[folder.split("/")[0]]
			room[0] += 1
			room[1] += lines
			room[2] += sum(count for to, count in self.arrows[folder].items() if to.split("/")[0] == folder.split("/")[0])
		rows = [f"{'room':14} folders  lines  arrows within"]
		rows += [f"{name:14} {folders:7} {lines:6} {arrows:14}" for name, (folders, lines, arrows) in rooms.items()]
		rows += ["", f"{'folder':30} lines"] + [f"{folder:30} {lines:5}" for folder, lines in self.lines.most_common()]
		longest = sorted(self.functions, key=lambda function: -function.lines)[:10]
		rows += ["", f"{sum(self.lines.values())} lines, {self.tokens} tokens",
		         f"{len(self.functions)} functions; nine tenths have at most {self.p90()} lines; the longest:"]
		rows += [f"  {function.lines:3} {function.path}:{function.line}" for function in longest]
		rows += ["", "classes by the files that define their members: " + ", ".join(
			f"{count} in {files}" for files, count in sorted(collections.Counter(map(len, self.classes.values())).items()))]
		return "\n".join([*rows, "", *self.problems()])
