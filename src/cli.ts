#!/usr/bin/env node
/** Turns argv into an exit code. `--version` is answered at once, without loading the commands. */
import { readFileSync } from 'node:fs';

/** Streams that cannot be written, by name, with their pending reports. */
const unwritten = new Map<string, Promise<void>>();

/**
 * Keeps the program running if stdout or stderr cannot be written, and reports why. A reader that
 * closes early, such as `| head`, is not an error.
 */
function goOnUnread(): void {
  for (const [name, stream] of Object.entries({ stdout: process.stdout, stderr: process.stderr })) {
    stream.on('error', (error) => {
      if (('code' in error && error.code === 'EPIPE') || unwritten.has(name)) return;
      unwritten.set(name, reportUnwritten(name, error));
    });
  }
}

async function reportUnwritten(name: string, error: unknown): Promise<void> {
  const { systemMessage } = await import('./cli/files.ts');
  process.stderr.write(`${name} cannot be written: ${systemMessage(error)}\n`);
}

/** Reports an internal error. User errors were reported where they arose. */
function fail(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 3;
}

async function main(argv: readonly string[]): Promise<number> {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const version = /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'unknown';
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  // `check` runs no user code, so it runs in this process, where Ctrl-C ends a search with its
  // results so far.
  if (argv[0] === 'check')
    return await (await import('./cli/program.ts')).runProgram(argv, version);
  return await (await import('./cli/supervisor.ts')).supervise(argv, version);
}

/** Exits once all output is written, even if threads or timers of a module are still active. */
function leave(): void {
  const exit = async (): Promise<void> => {
    await Promise.all(unwritten.values());
    if (unwritten.size > 0 && process.exitCode !== 130) process.exitCode = 2;
    process.exit();
  };
  process.stdout.write('', () => process.stderr.write('', () => void exit()));
}

goOnUnread();
process.on('uncaughtException', (error) => {
  fail(error);
  leave();
});
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  fail(error);
}
leave();
