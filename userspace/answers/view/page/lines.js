// SPDX-License-Identifier: MIT
// What was counted in the window, a line for each measurement, below the lanes and to their scale. Counts are per second of a
// CPU's time; a part without a reading, or of which nothing was counted, is a gap in the line.
import {faint, ink, modeColours, paper} from './colours.js';
import {cell} from './text.js';

const height = 54, gap = 6, partWidth = 6, counting = '_counting_percent';

export class Lines {
	constructor(canvas, source, lanes) {
		Object.assign(this, {canvas, source, lanes, number: 0, shown: []});
	}
	// Whether they are those of this window by now.
	async show(window) {
		const number = ++this.number, from = Math.round(window.from), to = Math.round(window.to);
		const found = await this.source.lines(from, to, Math.max(1, Math.floor((this.lanes.width - this.lanes.label) / partWidth)));
		if (number !== this.number || !found)
			return false;
		const {columns, rows, whole, every} = found, time = columns.findIndex(({key}) => key === 'counted_ns');
		this.shown = columns.flatMap(({key, title, unit}, at) => {
			if (at <= time || key.endsWith(counting))
				return [];
			const isCount = unit === 'count', value = row => row[at] === null || isCount && !row[time] ? null : isCount ? row[at] / row[time] * 1e9 : row[at];
			const points = rows.map(row => ({at: from + (row[0] + 0.5) * every, value: value(row)}));
			return [{title, unit: isCount ? 'per s' : unit, points, every, mean: value(whole), isRatio: unit === 'ratio' || unit === 'percent'}];
		});
		this.draw();
		return true;
	}
	text(value, unit) {
		if (value === null)
			return 'not counted';
		if (unit !== 'per s')
			return cell(value, unit);
		const [size, letter] = [[1e9, ' G'], [1e6, ' M'], [1e3, ' k']].find(([size]) => value >= size) ?? [1, ' '];
		return `${(value / size).toFixed(value / size < 10 ? 2 : 0)}${letter}/s`;
	}
	draw() {
		const {canvas, lanes} = this, scale = devicePixelRatio, context = canvas.getContext('2d');
		canvas.style.height = `${Math.max(1, this.shown.length * (height + gap))}px`;
		canvas.width = lanes.width * scale;
		canvas.height = Math.max(1, this.shown.length * (height + gap)) * scale;
		context.setTransform(scale, 0, 0, scale, 0, 0);
		context.fillStyle = paper();
		context.fillRect(0, 0, lanes.width, canvas.height);
		context.font = '11px system-ui';
		this.shown.forEach(({title, unit, points, every, mean}, row) => {
			const top = row * (height + gap), largest = Math.max(...points.map(({value}) => value ?? 0)) || 1;
			context.fillStyle = ink();
			context.fillText(title, 0, top + 14);
			context.fillText(this.text(mean, unit), 0, top + 30);
			context.fillText(mean === null ? '' : `up to ${this.text(largest, unit)}`, 0, top + 46);
			context.fillStyle = faint();
			context.fillRect(lanes.label, top + height, lanes.width - lanes.label, 1);
			context.strokeStyle = modeColours.user;
			context.beginPath();
			let last = null;
			for (const {at, value} of points) {
				if (value === null)
					continue;
				const [begin, end] = [at - every / 2, at + every / 2].map(ticks => lanes.x(ticks)), y = top + height - value / largest * (height - 4);
				if (last !== null && at - last < 1.5 * every)
					context.lineTo(begin, y);
				else
					context.moveTo(begin, y);
				context.lineTo(end, y);
				last = at;
			}
			context.stroke();
		});
		canvas.setAttribute('aria-label', this.shown.map(({title, unit, mean}) => `${title}: ${this.text(mean, unit)}`).join(', '));
	}
}
