/** What the script that the page carries is made of. */
import { describe, expect, it } from 'vitest';
import { bundle } from './browser.fixture.ts';

describe('the script of the page', () => {
  const script = bundle();

  it('has no reader of files, no schema and no engine to be loaded', () => {
    const engines = /sqlite3|ZodError|zod|YAMLParse|parseDocument|fengari|wasmoon|WebAssembly/i;
    const outside = /node:|require\(|\bimport\(|\bfetch\(|XMLHttpRequest|localStorage/;
    expect(script.match(engines)?.[0]).toBeUndefined();
    expect(script.match(outside)?.[0]).toBeUndefined();
  });

  it('is one function without a name, of less than 400 KB', () => {
    expect(script.slice(0, 12)).toBe('(function(){');
    expect(script.length).toBeLessThan(400_000);
    expect(script.length).toBeGreaterThan(100_000);
  });
});
