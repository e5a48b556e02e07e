/**
 * Runs the command line: that of the built package as a user does, in a process of its own, or that
 * of the sources in this one.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { yieldToEventLoop } from '../host/async/ambient.ts';

/** The folder of the project. */
export const root: string = fileURLToPath(new URL('../../', import.meta.url));

const VERSION = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).version;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Without colours; in the project's folder, if no other is given. */
export function runCli(
  args: readonly string[],
  setting: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly cli?: string;
  } = {},
): Ended {
  const { cwd = root, env = {}, cli = join(root, 'dist/cli.js') } = setting;
  const ended = spawnSync('node', [cli, ...args], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', ...env },
  });
  return { code: ended.status, out: ended.stdout, err: ended.stderr };
}

/**
 * The same in this process, from the sources, without what belongs to a process: signals, and the
 * end of code that hangs. A fifth of the time, as nothing is loaded or compiled anew. A `run` has
 * no other threads: they would need what is built.
 */
export async function runHere(
  args: readonly string[],
  { cwd = root }: { readonly cwd?: string } = {},
): Promise<Ended> {
  const { runProgram } = await import('./program.ts');
  const said = { out: '', err: '' };
  const isThreaded = args[0] === 'run' && !args.includes('--workers');
  const argv = isThreaded ? [...args, '--workers', '0'] : args;
  const { stdout, stderr, env } = process;
  const before = {
    cwd: process.cwd(),
    out: stdout.write,
    err: stderr.write,
    color: env['NO_COLOR'],
  };
  const into = (stream: keyof typeof said): typeof stdout.write => {
    return (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
      said[stream] += typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk);
      const done = rest.at(-1);
      if (typeof done === 'function') done();
      return true;
    };
  };
  process.chdir(cwd);
  stdout.write = into('out');
  stderr.write = into('err');
  env['NO_COLOR'] = '1';
  try {
    const code = await runProgram(argv, VERSION);
    return { code, ...said };
  } finally {
    // The streams of a run are put back in a later turn.
    await yieldToEventLoop();
    stdout.write = before.out;
    stderr.write = before.err;
    process.chdir(before.cwd);
    if (before.color === undefined) delete env['NO_COLOR'];
    else env['NO_COLOR'] = before.color;
  }
}
