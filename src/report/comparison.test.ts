import { describe, expect, test } from 'vitest';
import { cellOf, runOf } from '../search/compare/cells.fixture.ts';
import { judgeFolklore } from '../search/compare/comparison.ts';
import { drawResamples } from '../search/compare/statistics.ts';
import { displayWidth } from '../text/visible.ts';
import {
  type Comparison,
  comparisonLine,
  comparisonSummary,
  figureText,
  intervalText,
  renderComparison,
} from './comparison.ts';
import { renderComparisonPage, ticksUpTo } from './html/comparison-page.ts';
import { outputLine } from './output-schema.ts';

const resamples = drawResamples(4);
const high = { contention: 'high', hasFaults: false, about: '8 clients' };
const EVIL = '<b>&"\u202e';

function comparisonOf(names: readonly string[]): Comparison {
  const cells = names.map((name, at) => {
    const runs = [0, 1, 2, 3].map((seed) => runOf({ doneMs: 100 * (at + 1) + seed, lost: at }));
    return cellOf(name, high, { runs, resamples });
  });
  const [pessimistic = null, optimistic = null] = names;
  const roles = { pessimistic, optimistic, fenced: null, unfenced: null };
  return {
    systems: names.map((name) => ({ name, about: `lock ${name}` })),
    cells,
    folklore: judgeFolklore(cells, roles, resamples),
    ...{ seeds: 4, terms: 'terms', faults: 'none' },
  };
}

const text = (comparison: Comparison, width = 100): string =>
  renderComparison(comparison, { colour: false, width });

describe('the comparison in the terminal', () => {
  test('has a row for each measure, and says what became of the folklore', () => {
    const lines = text(comparisonOf(['one', 'two'])).split('\n');
    expect(lines.slice(0, 13)).toMatchInlineSnapshot(`
      [
        "high contention, without faults  8 clients",
        "                          one               two",
        "  throughput, sections/s  98.5 (97.6–99.5)  49.6 (49.4–49.9)",
        "  wait p50, ms            10.0 (10.0–10.0)  10.0 (10.0–10.0)",
        "  wait p99, ms            10.0 (10.0–10.0)  10.0 (10.0–10.0)",
        "  commit p99, ms          10.0 (10.0–10.0)  10.0 (10.0–10.0)",
        "  retries, per section    0 (0–0)           0 (0–0)",
        "  aborts, %               0 (0–0)           0 (0–0)",
        "  deadlocks, %            0 (0–0)           0 (0–0)",
        "  stuck for ever, %       0 (0–0)           0 (0–0)",
        "  lost updates, %         0 (0–0)           10.0 (10.0–10.0)",
        "  repeated updates, %     0 (0–0)           0 (0–0)",
        "  runs gone wrong, %      0 (0–49.0)        100 (51.0–100)",
      ]
    `);
    const from = lines.indexOf('Does the folklore hold?');
    expect(lines.slice(from, from + 7)).toMatchInlineSnapshot(`
      [
        "Does the folklore hold?",
        "✓ holds: pessimistic locking for high contention",
        "  ✓ high contention, without faults: one does 98.5 sections/s, two 49.6; difference +48.9 (+48.0",
        "    to +49.8)",
        "  ? high contention, without faults: 99 % of the commits of one come within 10.0 ms, of two within",
        "    10.0 ms; difference 0 (0 to 0)",
        "– not measured: optimistic locking for low contention",
      ]
    `);
  });

  test('is no wider than the terminal, however many systems there are', () => {
    const names = Array.from({ length: 9 }, (_, at) => `system-${at}`);
    const lines = text(comparisonOf(names), 80).split('\n');
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(80);
    for (const name of names) expect(lines.some((line) => line.includes(name))).toBe(true);
  });

  test('shows no control characters of a name', () => {
    expect(text(comparisonOf([EVIL]))).not.toContain('\u202e');
  });
});

describe('the page of a comparison', () => {
  test('is one file without scripts, and escapes what users name', () => {
    const page = renderComparisonPage(comparisonOf([EVIL, 'two']));
    expect(page).not.toContain('<script');
    expect(page).not.toMatch(/(src|href)="http/);
    expect(page).not.toContain(EVIL);
    expect(page).toContain('&lt;b&gt;&amp;&quot;');
  });

  test('has a panel for each measure that is anything, and names the others', () => {
    const page = renderComparisonPage(comparisonOf(['one', 'two']));
    expect(page.match(/<svg[^>]*class="panel"/g)).toHaveLength(6);
    expect(page).toContain('no retries, no aborts, no deadlocks, no stuck for ever');
  });
});

test('the JSON lines of a comparison are those of the schema', () => {
  const comparison = comparisonOf(['one', 'two']);
  const lines = [...comparison.cells.map(comparisonLine), comparisonSummary(comparison, 0)];
  for (const line of lines) expect(() => outputLine.parse(JSON.parse(line))).not.toThrow();
});

test('a figure has three digits that count', () => {
  expect([0, 0.234, 9.876, 64.54, 207.4, null].map(figureText)).toEqual([
    ...['0', '0.23', '9.88', '64.5', '207', '–'],
  ]);
  expect(intervalText({ value: 1, lower: -1, upper: 2 })).toBe('-1.00 to 2.00');
});

test('an axis ends at a round number, at what is shown or beyond', () => {
  expect(ticksUpTo(83)).toEqual([0, 20, 40, 60, 80, 100]);
  expect(ticksUpTo(300)).toEqual([0, 100, 200, 300]);
  for (const highest of [0.04, 0.28, 1, 6.02, 99, 1234]) {
    const ticks = ticksUpTo(highest);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(highest - 1e-9);
    expect(ticks.length).toBeLessThanOrEqual(7);
  }
});
