/** Measures how soon the command line answers, against a Node that does nothing. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { formatRatio, medianMs, type Row, type Subject } from './measure.ts';

const SPAWNS = 11;

async function rows(): Promise<readonly Row[]> {
  const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url));
  const spawn = (...args: readonly string[]): unknown => spawnSync(process.execPath, args);
  const took = await medianMs(
    { version: () => spawn(cli, '--version'), nothing: () => spawn('-e', '0') },
    SPAWNS,
  );
  const version = took.get('version') ?? Number.NaN;
  const nothing = took.get('nothing') ?? Number.NaN;
  return [
    {
      what: '`fencepost --version`',
      figure: `${version.toFixed(0)} ms`,
      ratio: `${formatRatio(version, nothing)} \`node -e 0\` (${nothing.toFixed(0)} ms)`,
      target: '≤ 2.5×',
    },
  ];
}

export const startup: Subject = {
  name: 'startup',
  about: 'the time until `fencepost --version` is done',
  isLong: false,
  rows,
};
