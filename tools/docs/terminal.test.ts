/** The terminal output of representative commands: at most 80 columns, and the standard words. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ended, root, runHere } from '../../src/cli/command-line.fixture.ts';
import { displayWidth } from '../../src/text/visible.ts';
import { bannedInPage } from '../tidy/words.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-terminal-'));
const wide = Object.getOwnPropertyDescriptor(process.stdout, 'columns');

const MODULE = `import { defineSystem } from 'fencepost';
export default defineSystem({
  locks: {
    broken: {
      about: 'throws',
      buildAsync: () => () => async (section) => {
        section.guard();
        throw new Error('the lock is broken');
      },
    },
  },
});
`;

const systems = (lock: string, expected: string): string =>
  `systems:\n  one: { lock: ${lock}, store: unfenced, expect: ${expected} }\n`;

const FILES: Readonly<Record<string, string>> = {
  'broken.mjs': MODULE,
  'broken.yaml': `name: broken\nuse: [./broken.mjs]\n${systems('broken', '{ holds: [grant-order] }')}`,
  'idle.yaml': `name: idle\n${systems('lock-service', '{ holds: [grant-order] }')}faults: []\n`,
  'failed.yaml': `name: failed\n${systems('lock-service', '{ holds: [grant-order] }')}faults:\n  - pause: { process: clients, before: write, for: 5ms..40ms, chance: 1/2 }\n`,
  'missing.yaml': `name: missing\n${systems('lock-service', '{ breaks: [single-flight] }')}faults:\n  - pause: { process: clients, before: acquire, for: 1ms..2ms, chance: 1/2 }\n`,
  'invalid.yaml': `name: invalid\n${systems('lokc-service', '{ holds: [grant-ordre] }')}fautls: []\n`,
};

beforeAll(() => {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  Object.defineProperty(process.stdout, 'columns', { value: 80, configurable: true });
});
afterAll(() => {
  if (wide === undefined) Reflect.deleteProperty(process.stdout, 'columns');
  else Object.defineProperty(process.stdout, 'columns', wide);
  rmSync(folder, { recursive: true, force: true });
});

const zombie = join(root, 'fixtures/zombie-writer.yaml');
const exhaustive = join(root, 'fixtures/check-then-act.yaml');

async function run(...args: readonly string[]): Promise<Ended> {
  return await runHere(['run', ...args], { cwd: folder });
}

/** Paths may be of any length, as may commands to copy. */
const PATH = /[\w.-]+\/[\w./-]+|\.(?:ya?ml|html|mjs|json)\b|^again: {2}npx /;

function linesOf({ out, err }: Ended): readonly string[] {
  return `${out}\n${err}`.split('\n');
}

test.each<[name: string, code: number, commands: readonly (readonly string[])[]]>([
  ['a passed run', 0, [[zombie, '--seeds', '40']]],
  ['a failed run', 1, [['failed.yaml', '--seeds', '20']]],
  ['a claim that did not break', 1, [['missing.yaml', '--seeds', '20']]],
  ['a claim that was not exercised', 5, [['idle.yaml', '--seeds', '20']]],
  ['a scenario with mistakes', 2, [['invalid.yaml']]],
  ['a missing file', 2, [['none.yaml']]],
  ['invalid options', 2, [[zombie, '--seeds', 'x']]],
  ['options that exclude each other', 2, [[zombie, '--fresh', '--resume']]],
  [
    'an exhaustive search',
    0,
    [[exhaustive, '--exhaust', '1', '--clients', '2', '--sections', '1']],
  ],
  [
    'a resumed run',
    0,
    [
      [zombie, '--seeds', '20', '--shard', '1/1'],
      [zombie, '--seeds', '20', '--shard', '1/1', '--resume'],
    ],
  ],
  ['user code that throws', 5, [['broken.yaml', '--seeds', '10']]],
  ['all claims', 0, [[zombie, '--seeds', '20', '-v']]],
])('of %s', { timeout: 60_000 }, async (_, code, commands) => {
  for (const [at, args] of commands.entries()) {
    const ended = await run(...args);
    const lines = linesOf(ended);
    if (at === commands.length - 1) expect(ended.code, lines.join('\n')).toBe(code);
    const long = lines.filter((line) => displayWidth(line) > 80 && !PATH.test(line));
    expect(long).toEqual([]);
    expect(bannedInPage('output', lines.join('\n'))).toEqual([]);
  }
});
