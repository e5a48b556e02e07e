import { afterEach, describe, expect, test, vi } from 'vitest';
import { claims } from '../check/claims.ts';
import { clientFields } from '../core/plan/client-text.ts';
import { FAULT_KINDS } from '../core/plan/fault.ts';
import { protocols } from '../parts.ts';
import { storeKinds } from '../systems/store/store-kinds.ts';
import { printList } from './list.ts';
import { buildProgram } from './program.ts';

const program = await buildProgram('list', '1.2.3', () => {});

function printed(isJson: boolean): string {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  printList(program, isJson);
  return write.mock.calls.map(([text]) => String(text)).join('');
}

afterEach(() => vi.restoreAllMocks());

describe('the list', () => {
  test('has every word, each with one line and its source', () => {
    const list = JSON.parse(printed(true));
    const known = { locks: protocols, stores: storeKinds, claims };
    for (const [kind, names] of Object.entries(known)) {
      const words: readonly Record<string, string>[] = list[kind];
      expect(words.map(({ name }) => name)).toEqual([...names.keys()]);
      for (const { about, source } of words) {
        expect(about).toMatch(/^.{10,}$/);
        expect(source).toMatch(/^.{5,}$/);
      }
    }
  });

  test('describes what exercises each claim', () => {
    const { claims: listed }: { claims: Record<string, string>[] } = JSON.parse(printed(true));
    for (const { hazard } of listed) expect(hazard).toMatch(/^.{20,90}$/);
    vi.restoreAllMocks();
    const lines = printed(false).split('\n');
    expect(lines.filter((line) => line.includes('  tested by '))).toHaveLength(claims.size);
  });

  test('has every setting, workload, step and fault, each with one line', () => {
    const list = JSON.parse(printed(true));
    const namesOf = (kind: string): readonly string[] => {
      const words: readonly Record<string, string>[] = list[kind];
      for (const { name, about } of words) expect(about, name).toMatch(/^.{10,}\.$/);
      return words.map(({ name = '' }) => name);
    };
    expect(namesOf('settings')).toEqual(expect.arrayContaining(Object.keys(clientFields)));
    expect(namesOf('settings')).toEqual(expect.arrayContaining(['count', 'sections', 'think']));
    expect(namesOf('workloads')).toEqual(['blind-writes', 'read-modify-write', 'transfer']);
    expect(namesOf('steps')).toEqual([
      'write',
      'read',
      'increment',
      'transfer',
      'compute',
      'renew',
      'lock',
      'job',
      'transition',
      'memoize',
    ]);
    expect(new Set(namesOf('faults'))).toEqual(new Set(FAULT_KINDS));
    vi.restoreAllMocks();
    expect(printed(false)).toMatch(/^ {2}memoize +Reads a cached value/m);
  });

  test('describes the options of a protocol and its variant once', () => {
    const lines = printed(false).split('\n');
    expect(lines.filter((line) => line.trim().startsWith('firstToken:'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('options: those of lock-service'))).toHaveLength(1);
  });
});
