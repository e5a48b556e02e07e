import { expect, test } from 'vitest';
import type { SystemResult } from '../../search/campaign/result.ts';
import { type BodyOptions, checkOptions, type LockOptions, type WrittenHere } from './options.ts';
import { Stopwatch } from './sim-run.ts';
import { lockOfBody, Mistakes, readSubject } from './subject.ts';
import { adviceFor } from './test-campaign.ts';

type Claims = SystemResult['claims'];

/** A stopwatch that is over after this many queries. */
class Counted extends Stopwatch {
  private left: number;

  constructor(asks: number) {
    const signal = new AbortController().signal;
    super({ timeoutMs: 60_000, budgetMs: null, signal });
    this.left = asks;
  }

  override get isOver(): boolean {
    this.left -= 1;
    return this.left < 0;
  }
}

type Options = BodyOptions<object, object> | LockOptions;

/** Returns the advice after seeds on which no claim was exercised. */
async function adviceOn(
  options: Options,
  claims: Claims = {},
  stopwatch: Stopwatch = new Counted(1),
): Promise<string> {
  const isBodyOnly = !('lock' in options);
  const lock = isBodyOnly ? lockOfBody({}, async (section) => section.mark('deleting'), []) : null;
  const source = { folder: '.', slug: 'a-test', mistakes: new Mistakes() };
  const { systems } = await readSubject(checkOptions(options, lock), source);
  return systems
    .flatMap((system) => adviceFor({ stopwatch }, { expect: system.expect, claims }))
    .join('\n');
}

const before = (point: string): Pick<WrittenHere, 'faults' | 'workload'> => ({
  faults: [{ pause: { process: 'clients', before: point, for: '1ms' } }],
  workload: { kind: 'read-modify-write' },
});

test.each([
  ['release', 'faults[0].pause.before: '],
  ['alice/1/releasing', 'faults[0].pause.before: '],
])(
  'a fault at %s, which the body never reaches, is refused with its real points',
  async (point, at) => {
    const refused = await adviceOn(before(point)).catch(String);
    expect(refused).toContain(at);
    expect(refused).toContain('deleting');
  },
);

test('a fault at an existing point is accepted', async () => {
  expect(await adviceOn(before('deleting'))).toContain('try more');
  expect(await adviceOn(before('alice/1/deleting'))).toContain('try more');
});

test('a claim that was not exercised gets advice', async () => {
  const more =
    /^ {2}try more `clients` on fewer `locks`, faults that outlast `ttl`, or more `seeds`$/;
  expect(await adviceOn(before('write'))).toMatch(more);
  const holds = ['mutual-exclusion'];
  expect(await adviceOn({ ...before('write'), lock: 'redlock', holds })).toMatch(more);
  expect(await adviceOn({ ...before('write'), holds })).toMatch(more);
});

test('a claim that was exercised gets none', async () => {
  const judged = { due: 3, judged: 3, unknown: 0 };
  const exercised = { ...judged, broken: 0, firstSeed: null, exercised: 3, avoided: 0 };
  const claims = { 'grant-order': exercised };
  expect(await adviceOn(before('write'), claims)).toBe('');
});

test('a test that times out during the comparison with twins reports that', async () => {
  const advice = await adviceOn(before('write'), {}, new Counted(0));
  expect(advice).toMatch(
    /^ {2}timed out after 60 s, before avoided hazards could be counted: raise/,
  );
});
