import { expect, test } from 'vitest';
import { EMPTY_TALLY, type Tally } from '../../search/sweep/tally.ts';
import { adviceFor } from './examine-seeds.ts';
import { type BodyOptions, checkOptions, type LockOptions, type WrittenHere } from './options.ts';
import { lockOfBody, Mistakes, readSubject } from './subject.ts';

const pause = { fired: 9, overlapped: 9, strikes: {} };
const FIRED: Tally = { ...EMPTY_TALLY, seeds: 20, faults: { pause } };

type Options = BodyOptions<object, object> | LockOptions;

/** What is advised after seeds on which nothing was exercised. */
async function adviceOn(options: Options, tally: Tally): Promise<string> {
  const isOwn = !('lock' in options);
  const lock = isOwn ? lockOfBody({}, async (section) => section.mark('deleting'), []) : null;
  const source = { folder: '.', slug: 'a-test', mistakes: new Mistakes() };
  const { scenario, systems } = await readSubject(checkOptions(options, lock), source);
  return systems.flatMap((system) => adviceFor(scenario, system, { tally, seed: 0 })).join('\n');
}

const before = (point: string): Pick<WrittenHere, 'faults' | 'workload'> => ({
  faults: [{ pause: { process: 'clients', before: point, for: '1ms' } }],
  workload: { kind: 'read-modify-write' },
});

test('a fault at what the body does not do is told what it does', async () => {
  expect(await adviceOn(before('release'), EMPTY_TALLY)).toBe(
    '  no client passes "release"; what they pass: checked, deleting, read, write',
  );
  expect(await adviceOn(before('alice/1/releasing'), EMPTY_TALLY)).toContain(
    'no client passes "alice/1/releasing"; what they pass: checked, deleting',
  );
});

test('a fault that is placed well is not told where else it could be', async () => {
  expect(await adviceOn(before('deleting'), EMPTY_TALLY)).not.toContain('passes');
  expect(await adviceOn(before('alice/1/deleting'), EMPTY_TALLY)).not.toContain('passes');
  expect(await adviceOn(before('release'), FIRED)).not.toContain('passes');
});

test('a claim that was not put to the test is told what helps', async () => {
  const more =
    /^ {2}take more `clients` on fewer `locks`, faults that outlast `ttl`, or more `seeds`$/;
  expect(await adviceOn(before('write'), FIRED)).toMatch(more);
  const holds = ['mutual-exclusion'];
  expect(await adviceOn({ ...before('write'), lock: 'redlock', holds }, FIRED)).toMatch(more);
  expect(await adviceOn({ ...before('write'), holds }, FIRED)).toMatch(more);
});

test('a claim that was put to the test needs none', async () => {
  const exercised = { broken: 0, unknown: 0, exercised: 3, times: 3, brokenSeeds: [] };
  const claims = { 'grant-order': { ...exercised, firstUnknown: null } };
  expect(await adviceOn(before('write'), { ...FIRED, claims })).toBe('');
});
