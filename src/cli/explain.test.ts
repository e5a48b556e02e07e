import { afterEach, describe, expect, test, vi } from 'vitest';
import { builtIn } from '../catalogue.ts';
import { builtInClaims } from '../check/claims.ts';
import type { Verdict } from '../check/verdict.ts';
import { isRecord } from '../core/plan/document.ts';
import { FAULT_KINDS } from '../core/plan/fault.ts';
import { aboutModels } from '../linearizability/models.ts';
import { loadScenario } from '../load.ts';
import { protocols } from '../parts.ts';
import { outputLine } from '../report/output-schema.ts';
import { claimColumns, markOf } from '../report/overview.ts';
import { exits } from '../search/campaign/exit-codes.ts';
import type { KeptFate } from '../search/corpus/kept-replay.ts';
import { placeFindings } from '../search/points/places.ts';
import { storeKinds } from '../systems/store/store-kinds.ts';
import { allEntries, entriesOf, KIND_NAMES } from './entries.ts';
import { completeScenario, shownBy, snippetOf } from './examples.ts';
import { UserError } from './exit.ts';
import { entriesMeant, printEntries } from './explain.ts';
import { EVENTS, terms } from './glossary.ts';
import { buildProgram } from './program.ts';
import { schemas } from './schemas.ts';

const program = await buildProgram('explain', '1.2.3', () => {});
const entries = allEntries(program);

function meaningsOf(word: string): readonly string[] {
  return entriesMeant([word], entries).map(({ kind }) => kind);
}

/** Returns the fields of all maps in a JSON schema, except those inside lists. */
function namesIn(schema: unknown): readonly string[] {
  if (!isRecord(schema)) return [];
  return Object.entries(schema).flatMap(([key, part]) => [
    ...(key === 'properties' && isRecord(part) ? Object.keys(part) : []),
    ...(key === 'items' ? [] : namesIn(part)),
  ]);
}

/** The results of a claim, an expectation or a kept plan; a missing one does not type-check. */
const VERDICTS = { valid: 'holds', invalid: 'breaks', unknown: 'unknown' } satisfies {
  readonly [Kind in Verdict['kind']]: string;
};
const FATES = {
  reproduced: true,
  fixed: true,
  inert: true,
  diverged: true,
  nondeterministic: true,
} satisfies { readonly [Fate in KeptFate]: true };

afterEach(() => vi.restoreAllMocks());

describe('every word', () => {
  test.each([
    ['claims', [...builtInClaims.keys()]],
    ['faults', FAULT_KINDS],
    ['locks', [...protocols.keys()]],
    ['stores', [...storeKinds.keys()]],
    ['models', [...aboutModels.keys()]],
    ['exits', Object.values(exits).map(String)],
    ['events', Object.keys(EVENTS)],
    ['commands', ['run', 'show', 'corpus add', 'list', 'explain', 'schema']],
  ])('is explained as one of the %s', (kind, names) => {
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) expect(meaningsOf(name), name).toContain(kind);
  });

  test('that is a key of a scenario, at any depth, is explained', () => {
    const names = new Set(namesIn(schemas['scenario.schema.json']()));
    expect(names.size).toBeGreaterThan(40);
    for (const name of names) expect(() => meaningsOf(name), name).not.toThrow();
  });

  test('of a verdict, a table or a kept plan is explained', () => {
    const marks = [true, false, null].map((met) => markOf(met).word);
    const rules = [...builtInClaims.values()].flatMap(({ rules }) => rules);
    const words = [
      ...Object.values(VERDICTS),
      ...Object.keys(FATES),
      ...marks,
      ...claimColumns('seed'),
    ];
    expect(rules.length).toBeGreaterThan(20);
    for (const word of [...words, ...rules]) expect(() => meaningsOf(word), word).not.toThrow();
  });

  test('of the glossary is in alphabetical order', () => {
    const names = terms.map(({ name }) => name);
    expect(names).toEqual([...names].sort((a, b) => (a < b ? -1 : 1)));
  });

  test('of the glossary refers to existing words', () => {
    for (const { name, see, also } of terms) {
      for (const word of [...see, ...also]) expect(() => meaningsOf(word), name).not.toThrow();
      expect(see).not.toContain(name);
    }
  });

  test('has a description of one sentence', () => {
    for (const { name, about } of entries) expect(about, name).toMatch(/^.{9,}$/);
    for (const { name, about } of terms) expect(about, name).toMatch(/^[A-Z`].*\.$|`$/);
  });
});

test('a claim refers to related words, and to why it may not be judged', () => {
  const [orphan] = entriesMeant(['no-orphan'], entries);
  expect(orphan?.see).toEqual(['noted grant', 'orphan']);
});

describe('YAML to copy', () => {
  const kinds = ['locks', 'stores', 'claims', 'settings', 'workloads', 'steps', 'faults'] as const;

  test.each(kinds)('of %s is valid in a scenario, and names existing places', async (kind) => {
    for (const entry of entriesOf(kind, program)) {
      // Only user-defined locks have it; its text shows how.
      if (entry.name === 'concurrency') continue;
      const snippet = snippetOf(entry) ?? '';
      expect(snippet, entry.name).toContain(entry.name);
      const read = loadScenario(completeScenario(snippet), entry.name);
      if (read.kind !== 'scenario') expect.fail(JSON.stringify([snippet, read.problems]));
      const { problems, warnings } = await placeFindings(read.scenario, builtIn);
      expect([problems, warnings], snippet).toEqual([[], []]);
    }
  });

  test('of a lock, store or fault shows every option with its default', () => {
    for (const { name, options } of entries.filter(({ options: some }) => some.length > 0)) {
      const [entry] = entriesMeant([name], entries);
      if (entry === undefined) expect.fail(name);
      const snippet = snippetOf(entry) ?? '';
      for (const { name: option, fallback } of options) {
        expect(snippet).toContain(`${option}: ${fallback}`);
      }
    }
  });
});

test('a claim lists scenarios in which it breaks, and scenarios in which it holds', () => {
  const [claim] = entriesMeant(['grant-order'], entries);
  if (claim === undefined) expect.fail();
  const rows = new Map(shownBy(claim).map(({ how, scenarios }) => [how, scenarios]));
  expect(rows.get('breaks in')).toContain('zombie-writer');
  expect(rows.get('holds in')).toContain('zombie-writer');
});

describe('a word', () => {
  test.each([
    ['Fencing  Tokens', 'words'],
    ['exit code 5', 'exits'],
    ['leases', 'words'],
    ['stale-write', 'words'],
    ['counter', 'locks'],
    ['token-lower', 'claims'],
    ['hold', 'expectations'],
    ['--check-determinism', 'commands'],
  ])('%j is found in any common spelling', (word, kind) => {
    expect(meaningsOf(word)).toContain(kind);
  });

  test.each([
    ['grantorder', 'did you mean "grant-order"?'],
    ['pausee', 'did you mean "pause"?'],
    ['wibble-wobble-wubble', 'similar words: '],
  ])('%j is a mistake, with the nearest words', (word, hint) => {
    expect(() => meaningsOf(word)).toThrow(UserError);
    expect(() => meaningsOf(word)).toThrow(hint);
  });
});

test('several words are one term, or each its own', () => {
  expect(entriesMeant(['fencing', 'token'], entries).map(({ name }) => name)).toEqual([
    'fencing token',
  ]);
  const names = entriesMeant(['pause', 'zombie'], entries).map(({ name }) => name);
  expect(names).toEqual(['pause', 'zombie']);
  expect(() => entriesMeant(['pause', 'zomby'], entries)).toThrow('zomby: unknown word');
});

test('the text fits into 100 columns, and the JSON on one line', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  printEntries(entries, false);
  const lines = write.mock.calls.map(([text]) => String(text));
  expect(lines.length).toBeGreaterThan(KIND_NAMES.length * 10);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(101);
  write.mockClear();
  printEntries(entriesMeant(['pause', 'grant'], entries), true);
  const [line = '', ...others] = write.mock.calls.map(([text]) => String(text));
  expect(outputLine.parse(JSON.parse(line))).toMatchObject({ type: 'explain' });
  expect(others).toEqual([]);
});
