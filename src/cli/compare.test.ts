import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { outputLine } from '../report/output-schema.ts';
import { type CompareOptions, compare } from './compare.ts';
import { type Exit, exits, UserError } from './exit.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const options: CompareOptions = {
  ...{ from: 0, to: 2, systems: null, html: null, output: null },
  ...{ isJson: false, isQuiet: true, modules: null },
};

interface Ended {
  readonly exit: Exit;
  readonly out: string;
}

async function comparing(file: string | null, more: Partial<CompareOptions>): Promise<Ended> {
  let out = '';
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    out += String(chunk);
    return true;
  });
  try {
    return { exit: await compare(file, { ...options, ...more }), out };
  } finally {
    spy.mockRestore();
  }
}

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/${name}.yaml`, import.meta.url));

describe('compare', () => {
  test('measures the familiar systems under every condition, and writes a page', async () => {
    const { exit, out } = await comparing(null, { output: folder });
    expect(exit).toBe(exits.met);
    expect(out.match(/contention, with(out)? faults/g)?.length).toBeGreaterThanOrEqual(6);
    expect(out).toContain('Does the folklore hold?');
    expect(readFileSync(join(folder, 'compare.html'), 'utf8')).toContain('<svg');
  });

  test('gives the same figures for the same seeds', async () => {
    const first = await comparing(null, { systems: 'optimistic', isJson: true });
    expect(await comparing(null, { systems: 'optimistic', isJson: true })).toEqual(first);
  });

  test('writes JSON lines of the schema and nothing else', async () => {
    const { out } = await comparing(null, { systems: 'pessimistic,none/unfenced', isJson: true });
    const lines = out.trim().split('\n');
    expect(lines).toHaveLength(13);
    for (const line of lines) expect(() => outputLine.parse(JSON.parse(line))).not.toThrow();
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'compare-summary', seeds: 3 });
  });

  test('compares the systems of a scenario, under its own work too', async () => {
    const { exit, out } = await comparing(fixture('opposite-order'), {});
    expect(exit).toBe(exits.met);
    const written = out.slice(out.indexOf('as written, without faults'));
    expect(written).toMatch(/deadlocks, % +[1-9]/);
  });

  test('keeps what was measured when it is interrupted', async () => {
    const stop = setTimeout(() => process.emit('SIGINT'), 300);
    const { exit, out } = await comparing(null, { to: 1_000_000 });
    clearTimeout(stop);
    expect(exit).toBe(exits.interrupted);
    expect(out === '' || out.includes('Does the folklore hold?')).toBe(true);
  });

  test('refuses a system that it does not know', async () => {
    await expect(comparing(null, { systems: 'nobody' })).rejects.toThrow(UserError);
  });

  test('refuses a lock that cannot do the work of the scenario', async () => {
    const asked = comparing(fixture('opposite-order'), { systems: 'lock-service/fenced' });
    await expect(asked).rejects.toThrow('one lock a section');
  });
});
