/** Runs the command line of the built package as a user does, in a process of its own. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const root: string = fileURLToPath(new URL('../../', import.meta.url));

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
    ...{ cwd, encoding: 'utf8' },
    env: { ...process.env, NO_COLOR: '1', ...env },
  });
  return { code: ended.status, out: ended.stdout, err: ended.stderr };
}
