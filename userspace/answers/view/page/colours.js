// SPDX-License-Identifier: MIT
// One legend for the whole page. The modes' colours are those of Okabe and Ito, which colour-blind people can tell apart;
// what is unknown is hatched, never coloured.

export const modeColours = {user: '#0072b2', kernel: '#e69f00', irq: '#cc79a7', softirq: '#d55e00', unattributed: '#999999'};
export const modeNames = {
	user: 'user', kernel: 'kernel', irq: 'interrupt', softirq: 'softirq', unattributed: 'user or kernel', unknown: 'unknown', idle: 'idle',
};
export const runColour = '#009e73'; // of a thread, in whatever mode
export const waitColour = '#f0e442';
export const unknownKey = 0xffffffff, offlineKey = 0xfffffffe;

export const dark = () => matchMedia('(prefers-color-scheme: dark)').matches;
export const ink = () => dark() ? '#e3e7ed' : '#1b1f24';
export const paper = () => dark() ? '#14171c' : '#ffffff';
export const faint = () => dark() ? '#333b47' : '#d5d9df';

const hues = 24;
const palette = Array.from({length: hues}, (_, i) => `hsl(${(i * 137.5) % 360} 55% ${50 + (i % 3) * 8}%)`);
export const paletteSize = hues;
export const place = key => (Math.imul(key, 2654435761) >>> 8) % hues;
export const colour = place => palette[place];

// A fill style for what is unknown.
export function hatched(context) {
	const tile = document.createElement('canvas');
	tile.width = tile.height = 6;
	const draw = tile.getContext('2d');
	draw.strokeStyle = dark() ? '#9aa4b2' : '#5b6470';
	draw.beginPath();
	for (const shift of [-6, 0, 6]) {
		draw.moveTo(shift, 6);
		draw.lineTo(shift + 6, 0);
	}
	draw.stroke();
	return context.createPattern(tile, 'repeat');
}
