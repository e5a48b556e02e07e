/**
 * What must come out as it did: digests in `fixtures/compatibility/as-before`, by case and by what
 * is told of it. `FENCEPOST_PIN=1 npx vitest run properties/as-before/<law>` writes them anew; the
 * commit that does so says why, since `docs/stability.md` says what a release may change.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';

type Digests = Readonly<Record<string, string>>;

const FOLDER = new URL('../../fixtures/compatibility/as-before/', import.meta.url);
const isWriting = process.env['FENCEPOST_PIN'] === '1';

/** Gives what holds the digests of a case against those that were written. */
export function heldIn(law: string): (name: string, found: Digests) => void {
  const file = fileURLToPath(new URL(`${law}.json`, FOLDER));
  const known: Record<string, Digests> = isWriting ? {} : JSON.parse(readFileSync(file, 'utf8'));
  afterAll(() => {
    if (isWriting) writeFileSync(file, `${JSON.stringify(known, null, 2)}\n`);
  });
  return (name, found) => {
    if (isWriting) known[name] = found;
    expect(found, `${name}: as-before.ts says what to do`).toEqual(known[name]);
  };
}

/** Of anything that is plain data, so short that a line holds it. */
export function digest(...data: readonly unknown[]): string {
  const text = data.map((one) => JSON.stringify(one)).join('\n');
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
