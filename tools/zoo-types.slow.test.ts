/**
 * Law: the built-in locks compile against the packed declarations alone, as users' locks do:
 * outside of the repository, with `fencepost/servers` instead of `../../servers.ts`.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { install } from './installed.fixture.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');

/** Returns the TypeScript files in a folder of the repository, without tests and fixtures. */
function sourcesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(path),
  );
}

describe('a lock outside of the repository', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-zoo-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeAll(() => {
    install(folder, ['@types/node', 'ioredis', 'vitest']);
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  });

  /** Writes a file into the user's folder, with the package imported by name. */
  function write(path: string, text: string): void {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text.replaceAll("'../../servers.ts'", "'fencepost/servers'"));
  }

  /** Returns the compiler's errors in a folder there. */
  function errorsIn(name: string): string {
    const compilerOptions = { noEmit: true, rootDir: '.', types: ['node'] };
    const options = { extends: join(root, 'tsconfig.json'), compilerOptions, include: [name] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
    return spawnSync('node', [tsc, '-p', folder], { encoding: 'utf8' }).stdout;
  }

  test.each([
    ['a built-in one', 'src/zoo', 25],
    ['one that `init` writes', 'fixtures/starter', 2],
    ['one on a driver', 'fixtures/driver', 2],
  ])('can be %s', (_, from, least) => {
    const sources = sourcesIn(from);
    expect(sources.length).toBeGreaterThanOrEqual(least);
    for (const path of sources)
      write(join(from, path), readFileSync(join(root, from, path), 'utf8'));
    expect(errorsIn(from)).toBe('');
  });

  test('cannot access internal members', () => {
    const code = 'export const serversOf = (at: Section): object => at.servers;';
    write('peeks/peek.ts', `import type { Section } from 'fencepost/servers';\n${code}\n`);
    expect(errorsIn('peeks')).toContain("Property 'servers' does not exist");
  });
});
