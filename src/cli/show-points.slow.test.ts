/** Tests `fencepost show --points`: the names at which faults may be placed. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outputLine } from '../report/output-schema.ts';
import { root, runHere } from './command-line.fixture.ts';

const zombie = join(root, 'fixtures/zombie-writer.yaml');

test('the points of each client are listed in the order of a run without faults', async () => {
  const { code, out } = await runHere(['show', '--points', zombie, '--system', 'unfenced']);
  expect(code).toBe(0);
  expect(out.startsWith('zombie-writer, system unfenced: seed 0 without faults\n')).toBe(true);
  const [, first = ''] = out.split('\n\n');
  expect(first.split('\n').map((line) => line.trim().replace(/ +[\d.]+ ms +/, ' = '))).toEqual([
    'alice, section 1',
    'alice/1/think = timer, for `late-timer`',
    'alice/1/acquire = acquire db at lock: granted, token 1',
    'alice/1/checked = mark',
    'alice/1/write = write x at store: accepted',
    'alice/1/release = release db at lock: released',
  ]);
  expect(out).toContain('words for points in any section: acquire, checked, release, write, as in');
});

test('for user code, each call is listed with its meaning', async () => {
  const lock = join(root, 'fixtures/guide/my-lock.yaml');
  const { code, out } = await runHere(['show', '--points', lock, '--json']);
  expect(code).toBe(0);
  const lines = out.trim().split('\n');
  const points = lines.map((line) => Object(outputLine.parse(JSON.parse(line))));
  const mine = points.filter(
    ({ system, client, section }) => system === 'with-token' && client === 'alice' && section === 1,
  );
  expect(points.filter(({ atUs }) => atUs === null)).not.toEqual([]);
  expect(mine.map(({ name, word, about }) => `${name} ${word}: ${about}`)).toEqual([
    'alice/1/think null: timer, for `late-timer`',
    'alice/1/set set: set db (acquire) at lock: granted',
    'alice/1/incr incr: incr db:token at lock: 1',
    'alice/1/read read: read x at store: 0',
    'alice/1/checked checked: mark',
    'alice/1/write write: write x at store: accepted',
    'alice/1/eval eval: eval db at lock: 1',
  ]);
});

test('an unknown system is refused, with the closest name', async () => {
  const { code, err } = await runHere(['show', '--points', zombie, '--system', 'unfence']);
  expect(code).toBe(2);
  expect(err).toContain('unknown system "unfence"; did you mean "unfenced"?');
});
