/** Only the fleet commands load the fleet; `run`, the most frequent command, loads none of it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = new URL('../../', import.meta.url);

/** Returns all modules that load with one, without dynamic and type imports. */
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
  // Check that the search finds these modules at all.
  expect(loadedWith('cli/sweep.ts')).toContain('adapters/fleet/shard-order.ts');
});
