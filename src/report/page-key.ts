/** The key to the pictures: what solid, hatched and red mean, with a sample of each. */
import { element, type Markup } from '../text/markup.ts';
import { ink } from './palette.ts';
import type { Mark } from './picture-marks.ts';
import { arrow, bar, flag, hatch, label } from './picture-shapes.ts';

/** The key as a list of the marks that there are; `id` begins the ids of its hatches. */
export function renderKey(id: string, marks: ReadonlySet<Mark>): Markup {
  const samples = [...barSamples(id), ...writeSamples(), ...arrowSamples(), ...rareSamples()];
  const shown = samples.filter(({ mark }) => marks.has(mark));
  return element('ul', { class: 'key' }, shown.map(renderSample));
}

interface Sample {
  readonly mark: Mark;
  readonly shapes: readonly Markup[];
  readonly text: string;
}

const BOX = { x: 1, y: 2, width: 32, height: 12 };
const DASHES = { 'stroke-dasharray': '3 3' };

function barSamples(id: string): readonly Sample[] {
  const hatched = { ...ink({ stroke: 'client0' }), fill: `url(#${id}-own)`, 'stroke-width': 1.4 };
  const red = { ...ink({ stroke: 'danger' }), fill: `url(#${id}-red)`, 'stroke-width': 1.4 };
  return [
    {
      mark: 'lease',
      shapes: [bar(BOX, ink({ fill: 'client0' }), '')],
      text: 'what the lock service says: who holds the lock',
    },
    {
      mark: 'belief',
      shapes: [hatch(`${id}-own`, 'client0', false), bar(BOX, hatched, '')],
      text: 'what a client believes: it acts as the holder',
    },
    {
      mark: 'overlap',
      shapes: [hatch(`${id}-red`, 'danger', true), bar(BOX, red, '')],
      text: 'the contradiction: it acts as the holder, but another one is',
    },
    {
      mark: 'pause',
      shapes: [bar(BOX, ink({ fill: 'idle', stroke: 'soft' }), '')],
      text: 'paused: runs nothing',
    },
    {
      mark: 'crash',
      shapes: [bar(BOX, { ...ink({ fill: 'paper', stroke: 'danger' }), ...DASHES }, '')],
      text: 'down',
    },
    {
      mark: 'partition',
      shapes: [bar(BOX, { ...ink({ fill: 'paper', stroke: 'caution' }), ...DASHES }, '')],
      text: 'cut off',
    },
  ];
}

function writeSamples(): readonly Sample[] {
  const style = { text: '1', role: 'client0' } as const;
  const flown = (isAccepted: boolean): Markup => flag({ x: 6, y: 9 }, { ...style, isAccepted });
  return [
    {
      mark: 'accepted',
      shapes: [flown(true)],
      text: '✓ write accepted, with its token, or the row’s version or timestamp',
    },
    { mark: 'refused', shapes: [flown(false)], text: '⊘ write refused' },
  ];
}

function arrowSamples(): readonly Sample[] {
  const ends = [
    { x: 1, y: 8 },
    { x: 33, y: 8 },
  ] as const;
  const answer = { role: 'client0', isDashed: true, isThin: true } as const;
  const cross = { role: 'danger', anchor: 'middle', size: 14, isBold: true } as const;
  const end = bar({ x: 15, y: 1, width: 3, height: 16 }, ink({ fill: 'ink' }), '');
  return [
    { mark: 'request', shapes: [arrow(...ends, { role: 'client0' })], text: 'request' },
    { mark: 'answer', shapes: [arrow(...ends, answer)], text: 'answer' },
    { mark: 'lost', shapes: [label('✕', { x: 17, y: 8 }, cross)], text: 'message lost' },
    { mark: 'own end', shapes: [end], text: 'its own clock ends the lease here' },
  ];
}

function rareSamples(): readonly Sample[] {
  const middle = { x: 17, y: 9 };
  const bold = { anchor: 'middle', size: 12, isBold: true, hasHalo: false } as const;
  const strip = bar({ ...BOX, y: 3 }, ink({ fill: 'paper', stroke: 'caution' }), '');
  const copies = [6, 11].map((y) =>
    arrow({ x: 1, y }, { x: 33, y }, { role: 'client0', isThin: true, hasHead: y === 6 }),
  );
  const dot = { cx: 17, cy: 9, r: 8, ...ink({ fill: 'paper', stroke: 'ink' }) };
  return [
    { mark: 'duplicate', shapes: copies, text: 'message that runs twice' },
    {
      mark: 'skew',
      shapes: [strip, label('◷', middle, { ...bold, role: 'caution' })],
      text: 'its clock is off',
    },
    {
      mark: 'order',
      shapes: [element('circle', dot), label('1', middle, { ...bold, role: 'ink' })],
      text: 'takes effect here, in the order that was found',
    },
  ];
}

function renderSample({ shapes, text }: Sample): Markup {
  const size = { width: 34, height: 18, viewBox: '0 0 34 18' };
  return element('li', {}, element('svg', { ...size, 'aria-hidden': 'true' }, shapes), text);
}
