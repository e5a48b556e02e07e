import { describe, expect, it } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import { render } from '../../text/markup.ts';
import { zombieFinding, zombieTrace } from '../sample.fixture.ts';
import { stormTrace } from '../storm.fixture.ts';
import { layOut } from './layout.ts';
import { drawSequence } from './sequence.ts';
import { PALETTE } from './shapes.ts';
import { drawTimeline } from './timeline.ts';

const { evidence } = zombieFinding.verdict;
const base = { claim: 'fence-monotone', faults: [], mostDrawn: 2000, id: 'p', title: 'a picture' };

interface Svg {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

function svgOf(svg: string): Svg {
  const [, width = '0', height = '0'] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
  return { svg, width: Number(width), height: Number(height) };
}

const unended: Trace = {
  ...zombieTrace,
  events: zombieTrace.events.filter(({ kind }) => kind !== 'leave' && kind !== 'resume'),
};

const sheets: readonly Svg[] = [
  { trace: zombieTrace, evidence },
  { trace: stormTrace, evidence: [] },
  { trace: unended, evidence: [] },
].flatMap(({ trace, evidence: parts }) => {
  const options = { ...base, evidence: parts };
  const layout = layOut(trace, options);
  return [drawSequence(layout, options), drawTimeline(layout, options)].map(({ svg }) =>
    svgOf(render(svg)),
  );
});

/** Returns every coordinate of the named attributes. */
function numbersOf(svg: string, names: string): number[] {
  const found = svg.matchAll(new RegExp(` (?:${names})="(-?[\\d.]+)"`, 'g'));
  return [...found].map(([, value = '']) => Number(value));
}

function range(values: readonly number[]): { low: number; high: number } {
  return { low: Math.min(...values), high: Math.max(...values) };
}

describe('the pictures', () => {
  it('draw every arrow, bar and label inside their bounds', () => {
    for (const { svg, width, height } of sheets) {
      const across = range(numbersOf(svg, 'x|x1|x2'));
      const down = range(numbersOf(svg, 'y|y1|y2'));
      expect(across.low).toBeGreaterThanOrEqual(0);
      expect(across.high).toBeLessThanOrEqual(width);
      expect(down.low).toBeGreaterThanOrEqual(0);
      expect(down.high).toBeLessThanOrEqual(height);
      for (const [, y, tall] of svg.matchAll(/<rect[^>]* y="([\d.]+)"[^>]* height="([\d.]+)"/g)) {
        expect(Number(y) + Number(tall)).toBeLessThanOrEqual(height);
      }
      for (const [, points = ''] of svg.matchAll(/points="([^"]+)"/g)) {
        for (const point of points.split(' ')) {
          const [x = -1, y = -1] = point.split(',').map(Number);
          expect(x >= 0 && x <= width && y >= 0 && y <= height, point).toBe(true);
        }
      }
    }
  });

  it('have their colors as attributes, so that they need no style sheet', () => {
    for (const { svg } of sheets) {
      const shapes = [...svg.matchAll(/<(?:rect|line|polygon|text)[^>]*>/g)].map(([tag]) => tag);
      expect(shapes.length).toBeGreaterThan(20);
      for (const tag of shapes) expect(tag).toMatch(/ (fill|stroke)="(#|url)/);
    }
  });

  it('show the violation in the color of danger', () => {
    const [sequence, scale] = sheets;
    const named = new RegExp(`fill="${PALETTE.danger.light}"[^>]*>✗ stale write: fence-monotone`);
    expect(sequence?.svg).toMatch(named);
    expect(scale?.svg).toMatch(named);
  });

  it('mark a lost message, a crash, a restart, a refusal, a copy and a clock', () => {
    const [, , sequence] = sheets;
    for (const sign of ['✕', '✖', '↻', '⊘', '◷']) expect(sequence?.svg).toContain(sign);
  });
});
