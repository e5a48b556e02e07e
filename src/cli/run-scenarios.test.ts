/** Tests which values of `--shard` are accepted. */

import { describe, expect, test } from 'vitest';
import { UserError } from './exit.ts';
import { parseShard } from './run-scenarios.ts';

describe('a shard', () => {
  test('may be one of at most 100,000', () => {
    expect(parseShard('100000/100000')).toEqual({ index: 100_000, of: 100_000 });
  });

  test.each(['100001', '9007199254740991'])('of %s is refused', (of) => {
    const refusal = new UserError([`--shard 1/${of}: expected at most 100000 shards`]);
    expect(() => parseShard(`1/${of}`)).toThrow(refusal);
  });
});
