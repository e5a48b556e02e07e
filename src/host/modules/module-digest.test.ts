import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { moduleDigest } from './load-module.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-digest-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('the digest of a module', () => {
  test('is that of its bytes where it imports packages only', async () => {
    const text = "import { randomUUID } from 'node:crypto';\nexport default randomUUID;\n";
    const digest = createHash('sha256').update(text).digest('hex');
    expect(await moduleDigest(write('alone.mjs', text))).toBe(`sha256:${digest}`);
  });

  test('changes with each file that it imports, however far away', async () => {
    mkdirSync(join(folder, 'lib'));
    const main = write('main.mjs', "import './lib/near.mjs';\nawait import('./later.mjs');\n");
    write('lib/near.mjs', "export * from '../far.mjs';\n");
    write('far.mjs', 'export const far = 1;\n');
    write('later.mjs', 'export {};\n');
    const before = await moduleDigest(main);
    expect(await moduleDigest(main)).toBe(before);
    for (const name of ['far.mjs', 'lib/near.mjs', 'later.mjs']) {
      const last = await moduleDigest(main);
      write(name, "import '../main.mjs';\n// changed\n");
      expect(await moduleDigest(main), name).not.toBe(last);
    }
  });

  test('covers the file alone where that cannot be read as JavaScript', async () => {
    const before = await moduleDigest(write('typed.mts', "import './x.mjs'; const a: = ;"));
    expect(await moduleDigest(write('typed.mts', "import './x.mjs'; const b: = ;"))).not.toBe(
      before,
    );
  });
});
