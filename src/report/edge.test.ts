import { expect, test } from 'vitest';
import type { ClaimEdge, EdgeLine } from '../search/exhaust/edge.ts';
import {
  type EdgeScope,
  edgeFields,
  edgeFormula,
  edgePage,
  edgeSentence,
  edgeSvg,
  edgeTable,
} from './edge.ts';
import { outputLine } from './output-schema.ts';

const scope: EdgeScope = {
  ...{ scenario: 'a <b>', kind: 'pause', parameter: 'ttl' },
  ...{ faults: 1, clients: 2, sections: 1 },
};
const row = [5_000, 10_000].map((ttlUs) => {
  return { ttlUs, latencyUs: 1_000, edgeUs: ttlUs - 1_999, mostUs: 30_000, plans: 20 };
});
const breaking: ClaimEdge = {
  ...{ system: 'one', claim: 'grant-order', row, beside: [] },
  line: { ttl: 1, latency: -2, restUs: 0 },
};
const held = row.map((point) => ({ ...point, edgeUs: null }));
const holding: ClaimEdge = { ...breaking, system: 'two', row: held, line: null };
const none = { system: 'two', claim: 'grant-order', fault: null, plans: 20 };
const evict = { kind: 'evict', process: 'lock', key: 'db', when: { kind: 'at', atUs: 5 } } as const;

test.each<[EdgeLine, string]>([
  [{ ttl: 1, latency: -2, restUs: 0 }, 'pause > ttl − 2 × latency'],
  [{ ttl: 0.5, latency: 1, restUs: -3_000 }, 'pause > 0.5 × ttl + latency − 3 ms'],
  [{ ttl: -1, latency: 0, restUs: 4_000 }, 'pause > 4 ms − ttl'],
  [{ ttl: 0, latency: 0, restUs: 0 }, 'pause > 0'],
])('%j is %s', (line, text) => {
  expect(edgeFormula('pause', line)).toBe(text);
});

test('what breaks, what holds and what needs no fault is each told as such', () => {
  expect(edgeSentence(breaking, scope)).toBe(
    'one: grant-order breaks iff pause > ttl − 2 × latency',
  );
  const near = edgeSentence(holding, scope, { ...none, fault: evict });
  expect(near).toContain(
    'holds with every pause up to 30 ms; the nearest single fault that breaks',
  );
  expect(near).toContain('evict: { process: lock, key: db, at: 5us }');
  expect(edgeSentence(holding, scope, none)).toMatch(
    /no single fault of any kind breaks it \(20 plans\)$/,
  );
  const anyway = { ...breaking, row: row.map((point) => ({ ...point, edgeUs: 0 })) };
  expect(edgeSentence(anyway, scope)).toBe('one: grant-order breaks without any pause');
  expect(edgeSentence({ ...breaking, line: null }, scope)).toMatch(/breaks on no straight line$/);
});

test('the table has a cell for each length and value, and the least lengths below', () => {
  const table = edgeTable(breaking, scope);
  expect(table.at(-1)).toMatch(/from +3.001 ms +8.001 ms$/);
  expect(table.at(0)).toMatch(/ms +× +×$/);
  expect(table.at(-3)).toMatch(/ms +· +·$/);
  expect(table.filter((line) => /× +·$/.test(line)).length).toBeGreaterThan(2);
});

test('the picture is green below the edge and red above; where nothing breaks it is green', () => {
  const svg = edgeSvg(breaking, scope);
  expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  expect(svg).toContain('<polyline points="72,');
  expect(edgeSvg(holding, scope)).not.toContain('<poly');
});

test('the page has the names of others as text', () => {
  const page = edgePage([breaking, holding], scope, [none]);
  expect(page).toContain('<h1>a &lt;b&gt;: pause over ttl</h1>');
  expect(page.match(/<svg /g)).toHaveLength(1);
});

test('a line of JSON is in the schema', () => {
  for (const edge of [breaking, holding]) {
    const fields = edgeFields(
      edge,
      scope,
      edge === holding ? { ...none, fault: evict } : undefined,
    );
    expect(() => outputLine.parse({ type: 'edge', version: 1, ...fields })).not.toThrow();
  }
});
