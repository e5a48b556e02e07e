/** The fleet stands behind its own commands: `run`, which everybody starts, loads none of it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = new URL('../../', import.meta.url);

/** All modules that are loaded with one, without those that are imported later or for types. */
function loadedWith(start: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const next = [new URL(start, src)];
  for (let url = next.pop(); url !== undefined; url = next.pop()) {
    const file = fileURLToPath(url).slice(fileURLToPath(src).length);
    if (loaded.has(file)) continue;
    loaded.add(file);
    const imports = /^(?:import|export) (?!type)(?:[^'"`;]*? from )?'(\.[^']+)'/gm;
    for (const [, path = ''] of readFileSync(url, 'utf8').matchAll(imports)) {
      next.push(new URL(path, url));
    }
  }
  return loaded;
}

test('neither the command line nor `run` loads anything of the fleet', () => {
  for (const start of ['cli.ts', 'cli/program.ts', 'cli/run.ts']) {
    const loaded = loadedWith(start);
    expect([...loaded].filter((file) => file.startsWith('adapters/fleet/'))).toEqual([]);
  }
  // It sees them where they are.
  expect(loadedWith('cli/sweep.ts')).toContain('adapters/fleet/shard-order.ts');
});
