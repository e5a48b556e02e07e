#!/usr/bin/env node
/** Turns argv into an exit code. `--version` answers at once, without loading the commands. */
import { readFileSync } from 'node:fs';
import { visible } from './text/visible.ts';

function versionOfPackage(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'unknown';
}

/**
 * A reader that closes early, as `| head` does, is no error, and ends nothing: pages are written
 * all the same, and the exit code is the whole result's.
 */
function goOnUnread(): void {
  process.stdout.on('error', (error) => {
    if ('code' in error && error.code === 'EPIPE') return;
    process.stderr.write(`stdout: ${error.message}\n`);
    process.exit(3);
  });
}

async function main(argv: readonly string[]): Promise<number> {
  const version = versionOfPackage();
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  const { runProgram } = await import('./cli/program.ts');
  return await runProgram(argv, version);
}

/** Code of a user's module that fails or ends the process by itself is no result. */
function watchModules(): { settle: () => void } {
  let isSettled = false;
  const fail = (error: unknown): void => {
    const [line = ''] = String(error instanceof Error ? error.stack : error).split('\n');
    process.stderr.write(`a module failed outside of every run: ${visible(line)}\n`);
    process.exit(3);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  process.on('exit', (code) => {
    if (isSettled || code !== 0) return;
    process.stderr.write('a module ended the process before there was a result\n');
    process.exitCode = 3;
  });
  return {
    settle: () => {
      isSettled = true;
    },
  };
}

/** Timers that a module left behind keep nothing alive. */
function leave(): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit()));
}

goOnUnread();
const modules = watchModules();
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // Not a user's mistake: those were reported where they arose.
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 3;
}
modules.settle();
leave();
