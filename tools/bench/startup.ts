/** Measures how soon the command line responds, compared with a Node that does nothing. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { measure, type Row, type Subject } from './measure.ts';

const SPAWNS = 11;

async function* rows(): AsyncIterable<Row> {
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
  const spawn = (...args: readonly string[]): unknown => spawnSync(process.execPath, args);
  const took = await measure(
    { version: () => spawn(cli, '--version'), nothing: () => spawn('-e', '0') },
    SPAWNS,
  );
  const [version, nothing] = [took('version').wallMs, took('nothing').wallMs];
  yield {
    what: '`fencepost --version`',
    cpu: '',
    wall: `${version.toFixed(0)} ms`,
    ratio: `${(version / nothing).toFixed(2)}× \`node -e 0\` (${nothing.toFixed(0)} ms)`,
    target: '≤ 2.5×',
  };
}

export const startup: Subject = {
  name: 'startup',
  about: 'the time until `fencepost --version` is done',
  isLong: false,
  rows,
};
