// SPDX-License-Identifier: MIT
// A Kiviat graph: an axis for each share, from 0 in the middle to 1 outside. Where several axes are long the machine is
// busy with different things; a needle is one of them.
import {modeColours} from './colours.js';

const svg = (tag, attributes, text) => {
	const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
	for (const [name, value] of Object.entries(attributes))
		element.setAttribute(name, value);
	if (text !== undefined)
		element.textContent = text;
	return element;
};

// `axes`: [{name, share}]
export function drawKiviat(at, axes) {
	const [x, y, radius] = [130, 108, 76];
	const point = (i, r) => {
		const angle = 2 * Math.PI * i / axes.length - Math.PI / 2;
		return [x + r * radius * Math.cos(angle), y + r * radius * Math.sin(angle)];
	};
	const ring = values => values.map((value, i) => point(i, value).map(n => n.toFixed(1)).join(',')).join(' ');
	at.replaceChildren(
		...[0.25, 0.5, 0.75, 1].map(r => svg('polygon', {points: ring(axes.map(() => r)), fill: 'none', stroke: '#8886'})),
		...axes.map((_, i) => svg('line', {x1: x, y1: y, x2: point(i, 1)[0], y2: point(i, 1)[1], stroke: '#8886'})),
		svg('polygon', {points: ring(axes.map(({share}) => Math.min(1, share))), fill: `${modeColours.user}55`, stroke: modeColours.user}),
		...axes.map(({name, share}, i) => {
			const [left, top] = point(i, 1.2);
			return svg('text', {x: left, y: top + 4, 'text-anchor': 'middle'}, `${name} ${Math.round(share * 100)} %`);
		}));
	at.setAttribute('aria-label', axes.map(({name, share}) => `${name} ${Math.round(share * 100)} %`).join(', '));
}
