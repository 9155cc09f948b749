// SPDX-License-Identifier: MIT
// Numbers as text.

const steps = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];

// A duration in ns, three digits or more: "1.23 ms".
export function duration(ns) {
	const [unit, size] = steps.find(([, size]) => Math.abs(ns) >= size) ?? steps[3];
	const value = ns / size;
	return `${value.toFixed(unit === 'ns' ? 0 : Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0)} ${unit}`;
}

// A time in ns since the start of the trace, with the digits that tell times `step` ns apart from each other.
export function moment(ns, step) {
	const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(step, 1)))));
	return `${(ns / 1e9).toFixed(digits)} s`;
}

export function count(number) {
	return number.toLocaleString('en-US');
}

// A word of a shell's command.
export function quoted(text) {
	return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

// The text of a cell of a table.
export function cell(value, unit) {
	if (value === null)
		return '-';
	switch (unit) {
	case 'ns':
		return duration(value);
	case 'difference':
		return `${value < 0 ? '-' : '+'}${duration(Math.abs(value))}`;
	case 'instant':
		return moment(value, 1);
	case 'percent':
		return value.toFixed(1);
	case 'ratio':
		return value.toPrecision(4);
	case 'count':
		return typeof value === 'number' ? String(value) : value;
	case 'flag':
		return value ? '*' : '';
	default:
		return String(value);
	}
}
