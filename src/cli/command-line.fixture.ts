/**
 * Runs the command line, either from the built package in a separate process or from the sources in
 * this process.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { yieldToEventLoop } from '../host/async/ambient.ts';

/** The root of the project. */
export const root: string = fileURLToPath(new URL('../../', import.meta.url));

const VERSION = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).version;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the built command line without colors, by default in the root of the project. */
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
 * Runs the sources in this process, without signals and without a limit for code that hangs. This
 * takes a fifth of the time of `runCli`, since nothing is loaded or compiled again. A `run` has no
 * worker threads, which would need the built package.
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
    // A run restores the streams in a later turn.
    await yieldToEventLoop();
    stdout.write = before.out;
    stderr.write = before.err;
    process.chdir(before.cwd);
    if (before.color === undefined) delete env['NO_COLOR'];
    else env['NO_COLOR'] = before.color;
  }
}
