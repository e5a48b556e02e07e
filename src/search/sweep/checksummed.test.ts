/** Tests reading a checksummed text, and detecting one that is unreliable. */
import { expect, test } from 'vitest';
import { loadScenario } from '../../load.ts';
import { mismatchReason, originOf, seal, unseal } from './checksummed.ts';

const FORM = { type: 'chunk', version: 2 };
const text = seal(FORM, { seeds: 3 });
const { checksum } = JSON.parse(text);

test('a checksummed text has the content that was written', () => {
  expect(unseal(text, FORM)).toEqual({ kind: 'content', content: { seeds: 3 } });
  expect(text).toMatch(/^\{"type":"chunk","version":2,"checksum":"sha256:[0-9a-f]{64}",[^\n]*\}$/);
});

test.each<[string, unknown]>([
  ['is not a chunk written by fencepost', null],
  ['is not a chunk written by fencepost', 'chunk'],
  ['is not a chunk written by fencepost', {}],
  ['is not a chunk written by fencepost', { type: 'shard', version: 2 }],
  ['has format version 1; this fencepost reads 2', { type: 'chunk', version: 1 }],
  ['has format version undefined; this fencepost reads 2', { type: 'chunk' }],
  ['is damaged: checksum mismatch', FORM],
  ['is damaged: checksum mismatch', { ...FORM, checksum }],
  ['is damaged: checksum mismatch', { ...FORM, content: { seeds: 3 } }],
  ['is damaged: checksum mismatch', { ...FORM, checksum, content: { seeds: 4 } }],
])('it %s: %j', (what, outer) => {
  expect(unseal(JSON.stringify(outer), FORM)).toEqual({ kind: 'problem', what });
});

test('a truncated text is not complete JSON', () => {
  const what = 'is damaged: incomplete JSON';
  expect(unseal(text.slice(0, -1), FORM)).toEqual({ kind: 'problem', what });
});

function originFrom(source: string): ReturnType<typeof originOf> {
  const read = loadScenario(source, 'calm.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return originOf(read.scenario, '1.2.3');
}

test('the digest of a scenario depends on its content, not on its layout', () => {
  const systems = 'systems: { one: { lock: lock-service, store: fenced } }';
  const origin = originFrom(`name: calm\n${systems}\n`);
  expect(origin).toMatchObject({ fencepost: '1.2.3', scenario: 'calm', modules: {} });
  expect(origin.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(originFrom(`# quiet\n${systems}\nname: calm`)).toEqual(origin);
  const other = originFrom(`name: calm\n${systems.replace('fenced', 'unfenced')}\n`);
  expect(other.digest).not.toBe(origin.digest);
});

const ours = { fencepost: '1.2.3', scenario: 'calm', digest: 'sha256:00', modules: { a: '1' } };

test.each([
  [null, {}],
  ['is from fencepost 1.0.0, not 1.2.3', { fencepost: '1.0.0', scenario: 'x' }],
  ['is for the scenario wild, not calm', { scenario: 'wild', digest: 'sha256:01' }],
  ['is for another version of calm', { digest: 'sha256:01', modules: {} }],
  ['is for another version of a', { modules: { a: '2' } }],
  ['is for another version of a', { modules: {} }],
  ['is for another version of b', { modules: { a: '1', b: '1' } }],
])('results of another run are refused with the reason %j: %j', (why, theirs) => {
  expect(mismatchReason({ ...ours, ...theirs }, ours)).toBe(why);
});
