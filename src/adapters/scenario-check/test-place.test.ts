import { describe, expect, test } from 'vitest';
import { shellWords } from '../../text/prose.ts';
import { commandWith, patternOf, readRequests, seedsOf, slugOf } from './test-place.ts';

const place = (name: string): Parameters<typeof slugOf>[0] => ({
  file: `${process.cwd()}/src/lock.test.ts`,
  fullName: `locks ${name}`,
  command: ['npx', 'vitest', 'run', 'src/lock.test.ts'],
  alone: ['-t', patternOf(name)],
});

describe('the name of a test', () => {
  test('becomes a valid name for scenarios and file systems', () => {
    expect(slugOf(place('keeps “order” / a.b'))).toBe('locks-keeps-order-a.b');
    expect(slugOf({ ...place(''), fullName: '42' })).toMatch(/^42-[0-9a-f]{6}$/);
    expect(slugOf({ ...place(''), fullName: '…' })).toMatch(/^test-[0-9a-f]{6}$/);
    const [one, other] = ['a', 'b'].map((end) => slugOf(place(`${'long '.repeat(30)}${end}`)));
    expect(one).not.toBe(other);
    expect(one?.length).toBeLessThanOrEqual(60);
  });

  test('is an escaped pattern in the command, quoted for a shell', () => {
    const words = commandWith('FENCEPOST_SEED=17', place("it's 1 + 1 (of *)"));
    expect(shellWords(words).join(' ')).toBe(
      `FENCEPOST_SEED=17 npx vitest run src/lock.test.ts -t 'it'\\''s 1 \\+ 1 \\(of \\*\\)'`,
    );
  });
});

describe('the environment', () => {
  test('can replace the seeds of a test', () => {
    const declared = { from: 5, to: 9 };
    const seeds = (text: string): unknown =>
      seedsOf(declared, readRequests({ FENCEPOST_SEEDS: text }));
    expect(seeds('')).toEqual(declared);
    expect(seeds('100')).toEqual({ from: 5, to: 104 });
    expect(seeds('7..7')).toEqual({ from: 7, to: 7 });
    expect(() => seeds('9..7')).toThrow('FENCEPOST_SEEDS 9..7: the range ends before it begins');
    expect(() => seeds('many')).toThrow('FENCEPOST_SEEDS many: expected a whole number');
    expect(() => readRequests({ FENCEPOST_SEED: '-1' })).toThrow(
      'FENCEPOST_SEED -1: expected a whole',
    );
  });

  test('requests kept plans with 1, and not with 0', () => {
    const isUpdate = (text: string): boolean => readRequests({ FENCEPOST_UPDATE: text }).isUpdate;
    expect(['1', 'true', '0', 'false', ''].map(isUpdate)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
