/** What the script that the page carries is made of. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundle, root } from './browser.fixture.ts';

describe('the script of the page', () => {
  const { code: script, loader, packed } = bundle();

  it('has no reader of files, no schema and no engine to be loaded', () => {
    const engines = /ZodError|zod|YAMLParse|parseDocument|fengari|wasmoon|WebAssembly/i;
    const outside = /node:|require\(|\bfetch\(|XMLHttpRequest|localStorage/;
    expect(script.match(engines)?.[0]).toBeUndefined();
    expect(script.match(outside)?.[0]).toBeUndefined();
  });

  it('is packed to less than 190 kB, and unpacked by less than 3', () => {
    expect(script.length).toBeGreaterThan(100_000);
    expect(packed.length).toBeLessThan(190_000);
    expect(loader.length).toBeLessThan(3_000);
    expect(loader).not.toMatch(/<[/!s]/);
  });

  it('imports nothing, and leaves out only what only commands call', () => {
    expect(script).not.toMatch(/^(?:import|export)\b|import\.meta/m);
    const core = readFileSync(join(root, 'dist/shared/core.js'), 'utf8');
    const from = [...core.matchAll(/^import.*"([^"]+)";$/gm)].map(([, name]) => name);
    expect(from).toEqual(['@noble/hashes/sha2.js', '@noble/hashes/utils.js']);
  });
});
