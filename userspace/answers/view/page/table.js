// SPDX-License-Identifier: MIT
// A table of the window, as `monitor report` gives it; a click on a heading sorts.
import {cell} from './text.js';

export class Table {
	// `lead(columns, row)`: {key, act}: the cell of that column is a button for it; or null.
	constructor(element, lead = () => null) {
		this.element = element;
		this.lead = lead;
		this.sort = null; // {key, down}
		this.found = null;
	}
	show(table) {
		this.table = table;
		this.draw();
	}
	// Rows with this are the first ones.
	find(text) {
		this.found = text.trim().toLowerCase();
		this.element.parentElement.scrollTop = 0;
		if (this.table)
			this.draw();
	}
	draw() {
		const {columns, rows} = this.table, shown = columns.filter(({unit, key}) => !(unit === 'flag' && key !== 'recorded'));
		const index = key => columns.findIndex(column => column.key === key);
		let sorted = rows;
		if (this.sort && index(this.sort.key) >= 0) {
			const at = index(this.sort.key), sign = this.sort.down ? -1 : 1;
			sorted = [...rows].sort((a, b) => sign * (typeof a[at] === 'string' || typeof b[at] === 'string'
				? String(a[at]).localeCompare(String(b[at])) : (a[at] ?? -1) - (b[at] ?? -1)));
		}
		const isFound = row => row.some(value => typeof value === 'string' && value.toLowerCase().includes(this.found) || String(value) === this.found);
		const found = new Set(this.found ? rows.filter(isFound) : []);
		if (this.found)
			sorted = [...sorted.filter(row => found.has(row)), ...sorted.filter(row => !found.has(row))];
		const head = document.createElement('tr');
		for (const {key, title, unit} of shown) {
			const heading = document.createElement('th'), button = document.createElement('button');
			heading.scope = 'col';
			heading.className = unit === 'text' ? 'text' : '';
			if (this.sort?.key === key)
				heading.ariaSort = this.sort.down ? 'descending' : 'ascending';
			button.textContent = title || (unit === 'flag' ? '*' : key);
			if (unit === 'flag')
				button.title = 'of the recorded command';
			button.addEventListener('click', () => {
				this.sort = {key, down: this.sort?.key === key ? !this.sort.down : unit !== 'text'};
				this.draw();
			});
			heading.append(button);
			head.append(heading);
		}
		const body = sorted.slice(0, 500).map(row => {
			const line = document.createElement('tr');
			if (this.found)
				line.className = found.has(row) ? 'found' : 'faded';
			const lead = this.lead(columns, row);
			for (const {key, unit} of shown) {
				const data = document.createElement('td');
				if (lead?.key === key && row[index(key)]) {
					const button = document.createElement('button');
					button.textContent = cell(row[index(key)], unit);
					button.title = 'each time, and the longest';
					button.addEventListener('click', lead.act);
					data.append(button);
				} else {
					data.textContent = cell(row[index(key)], unit);
				}
				data.className = unit === 'text' ? 'text' : '';
				line.append(data);
			}
			return line;
		});
		const caption = document.createElement('caption');
		const all = rows.length + (this.table.left_out ?? 0);
		caption.textContent = all <= 500 ? '' : all === rows.length ? `500 of ${all} rows` : `500 of the ${rows.length} of ${all} rows that ran longest`;
		this.element.replaceChildren(caption, head, ...body);
	}
}
