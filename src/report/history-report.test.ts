/** Tests the order of names in a report on a history, and the marks of its omissions. */
import { describe, expect, test } from 'vitest';
import {
  byName,
  type HistoryReport,
  type PartReport,
  type ReportedOperation,
  renderHistory,
} from './history-report.ts';
import { renderHistoryPage } from './html/history-page.ts';

function operation(index: number, role: ReportedOperation['role']): ReportedOperation {
  const where = { invoke: 2 * index, return: 2 * index + 1, invokeLine: index, returnLine: index };
  const process = `p${index % 3}`;
  return { index, process, text: `write(${index})`, isKnown: true, ...where, role, effect: null };
}

function report(part: Partial<PartReport>): HistoryReport {
  const base: PartReport = {
    key: '',
    verdict: 'invalid',
    operations: 100,
    configurations: 1,
    because: 'It cannot be.',
    core: [],
    isMinimal: false,
    returns: 100,
    satisfied: 99,
    isPerhapsLate: false,
    drawn: [],
    marks: [],
    ...part,
  };
  const counts = { operations: 100, processes: 3, configurations: 1 };
  const names = { file: 'a.log', format: 'edn', model: 'register', isDetected: false };
  return { ...names, ...counts, verdict: base.verdict, parts: [base], notes: [] };
}

test('names have a total order', () => {
  const names = ['2', '10', '1a', 'a', '', '-1', '02', '2.0', 'Infinity', '0x1'];
  for (const one of names) {
    for (const two of names) {
      expect(Math.sign(byName(one, two)) + Math.sign(byName(two, one))).toBe(0);
      if (one !== two) expect(byName(one, two)).not.toBe(0);
      for (const three of names.filter((name) => byName(one, two) <= 0 && byName(two, name) <= 0)) {
        expect(byName(one, three)).toBeLessThanOrEqual(0);
      }
    }
  }
});

describe('the omitted part', () => {
  const setting = { colour: false, width: 100 };
  test('of a long sentence is marked', () => {
    const long = renderHistory(report({ because: 'word '.repeat(200) }), setting);
    expect(long).toMatch(/^ {2}… \(full text: --html, --json\)$/m);
    expect(renderHistory(report({ because: 'word '.repeat(20) }), setting)).not.toContain('…');
  });

  test('of a large core is counted on the page, and never has the bad return', () => {
    const core = Array.from({ length: 100 }, (_, at) =>
      operation(at, at === 3 ? 'first bad' : 'core'),
    );
    const page = renderHistoryPage([report({ core })]);
    expect(page).toContain('100 of 100 operations contradict each other');
    expect(page).toContain('Showing 60 of them.');
    expect(page).toContain('no order explains this answer');
    expect(renderHistoryPage([report({ core: core.slice(0, 9) })])).not.toContain('Showing');
  });
});

test('the label of the bad return fits into the narrowest picture on a phone', () => {
  const core = [operation(1, 'core'), operation(2, 'first bad')];
  const [, page = ''] = renderHistoryPage([report({ core })]).split('<figure>');
  const x = Number(/<text x="([\d.]+)"[^>]*>✗ no order/.exec(page)?.[1]);
  const width = Number(/<svg[^>]* width="(\d+)"/.exec(page)?.[1]);
  expect(x).toBeGreaterThan(200);
  expect(width - x).toBeLessThan(20);
  expect(x).toBeLessThanOrEqual(width);
});
