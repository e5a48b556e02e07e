import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requireCalmImports } from './body-modules.ts';
import { TestRefused } from './test-place.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-imports-'));

const FILES = {
  'owner.ts': `import { randomUUID } from 'node:crypto';\nexport const OWNER: string = randomUUID();`,
  'lock.ts': `import { OWNER } from './owner';\nexport const owner = (): string => OWNER;`,
  'calm.ts': `export const roll = (): number => Math.random();\nexport type Rolled = number;`,
  'broken.mjs': `throw new Error('only vitest knows what this is');`,
};
for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);

let count = 0;

/** Returns the problems of a test that begins with these imports. */
async function problemsOf(imports: string): Promise<readonly string[]> {
  count += 1;
  const file = join(folder, `case-${count}.test.ts`);
  writeFileSync(file, `import { simTest } from 'fencepost/vitest';\n${imports}`);
  const error: unknown = await requireCalmImports(file).catch((reason: unknown) => reason);
  return error instanceof TestRefused ? error.message.split('\n') : [];
}

test('an import that draws a random value at load time is refused, with a remedy', async () => {
  expect(await problemsOf(`import { OWNER } from './owner.ts';\nconsole.log(OWNER);`)).toEqual([
    "import './owner.ts': it draws a random value while it is loaded, and all simulated processes share that value;",
    "  to give each process its own: modules: { owner: './owner.ts' }",
  ]);
  const lines = await problemsOf(`import * as lock from './lock.js';\nlock.owner();`);
  expect(lines[0]).toContain("import './lock.js': owner.ts draws a random value");
  expect(lines[1]).toContain("modules: { lock: './lock.js' }");
});

test.each([
  ['draws later', `import { roll } from './calm.ts';\nroll();`],
  ['is only a type', `import { OWNER } from './owner.ts';\nlet owner: typeof OWNER;`],
  ['is imported later', `const later = () => import('./owner.ts');\nlater;`],
  ['cannot be loaded by Node', `import './broken.mjs';\nimport './style.css';\nimport '@/alias';`],
  ['is of a package', `import fc from 'fast-check';\nfc;`],
])('an import that %s is accepted', async (_, imports) => {
  expect(await problemsOf(imports)).toEqual([]);
});
