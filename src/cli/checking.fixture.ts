/** Runs `fencepost check` in this process and captures its output. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { outputLine } from '../report/output-schema.ts';
import { runProgram } from './program.ts';

export const root: string = fileURLToPath(new URL('../../', import.meta.url));
export const folder: string = mkdtempSync(join(tmpdir(), 'fencepost-check-'));
// Not in `afterAll`: if test files share their modules, this module runs once for all of them.
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Returns the exit code and the output of `fencepost check`. */
export async function check(...args: readonly string[]): Promise<Ended> {
  const written = { out: '', err: '' };
  const catchInto = (stream: NodeJS.WriteStream, name: 'out' | 'err') =>
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    });
  const spies = [catchInto(process.stdout, 'out'), catchInto(process.stderr, 'err')];
  try {
    return { code: await runProgram(['check', ...args, '--quiet'], '0'), ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Returns the line of `--json`, after validating it against the shipped schema. */
export async function judged(...args: readonly string[]): Promise<{ code: number; line: Line }> {
  const { code, out, err } = await check(...args, '--json');
  expect(err).toBe('');
  const json: unknown = JSON.parse(out);
  outputLine.parse(json);
  expect(json).toMatchObject({ parts: expect.any(Array) });
  const line: Line = JSON.parse(out);
  return { code, line };
}

export interface Line {
  readonly format: string;
  readonly model: string;
  readonly verdict: string;
  readonly parts: readonly {
    readonly key: string;
    readonly verdict: string;
    readonly because: string;
    readonly satisfied: number | null;
    readonly isMinimal: boolean | null;
    readonly core: readonly { readonly role: string; readonly invokeLine: number }[];
  }[];
}

/** Writes a file in a folder that is removed at exit. */
export function file(name: string, text: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Returns the path of a history in the project's fixtures. */
export function fixture(name: string): string {
  return join(root, 'fixtures/histories', name);
}
