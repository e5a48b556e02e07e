import { describe, expect, test } from 'vitest';
import { loadScenario } from '../load.ts';
import {
  addScripts,
  type BeginningOptions,
  type FolderFacts,
  planBeginning,
  startersIn,
} from './init.ts';
import { lockRisks, locksUsed } from './lock-risks.ts';

const EMPTY: FolderFacts = {
  has: () => false,
  manifest: null,
  ignored: null,
  isInGit: false,
  schema: null,
};
const ALL: BeginningOptions = {
  parts: new Set(['locks', 'vitest', 'github']),
  chosen: { driver: null },
  locks: [],
};

/** The options of `--lock`. */
const only = (lock: string): BeginningOptions => {
  return { parts: new Set(['locks']), chosen: null, locks: [lock] };
};

describe('in an empty folder', () => {
  test('every file of each requested part is written', () => {
    const steps = planBeginning(EMPTY, ALL);
    expect(steps.map(({ target }) => target)).toEqual(
      startersIn(false).map(({ target }) => target),
    );
    expect(steps.every(({ kind }) => kind === 'written')).toBe(true);
    const few = planBeginning(EMPTY, { ...ALL, parts: new Set(['locks']) });
    expect(few.map(({ target }) => target).join()).not.toMatch(/test|github/);
  });

  test('scenarios refer editors to the schema, wherever it is', () => {
    const lineOf = (schema: string | null): string => {
      const [first] = planBeginning({ ...EMPTY, schema }, ALL);
      return first?.kind === 'written' ? (first.text.split('\n')[0] ?? '') : '';
    };
    const key = '# yaml-language-server: $schema=';
    const usual = '../node_modules/fencepost/dist/scenario.schema.json';
    expect(lineOf(null)).toBe(key + usual);
    expect(lineOf('../../$&/scenario.schema.json')).toBe(`${key}../../$&/scenario.schema.json`);
  });
});

describe('in a folder with a tsconfig', () => {
  const has = (target: string): boolean => target === 'tsconfig.json';

  test('the lock is in TypeScript, and its scenario uses it', () => {
    const steps = planBeginning({ ...EMPTY, has }, ALL);
    expect(steps.map(({ target }) => target)).toEqual(startersIn(true).map(({ target }) => target));
    const texts = steps.flatMap((step) => (step.kind === 'written' ? [step.text] : [])).join('');
    expect(texts).toContain('use: ./my-lock.ts\n');
    expect(texts).not.toContain('my-lock.mjs');
  });

  test('an existing lock in JavaScript stays in use', () => {
    const hasBoth = (target: string): boolean => has(target) || target === 'locks/my-lock.mjs';
    const targets = planBeginning({ ...EMPTY, has: hasBoth }, ALL).map(({ target }) => target);
    expect(targets).not.toContain('locks/my-lock.ts');
  });
});

test('if ioredis is installed, the user’s lock is on ioredis', () => {
  for (const isTyped of [false, true]) {
    const facts = { ...EMPTY, has: (target: string) => isTyped && target === 'tsconfig.json' };
    const steps = planBeginning(facts, { ...ALL, chosen: { driver: 'ioredis' } });
    const ending = isTyped ? 'ts' : 'mjs';
    const targets = steps.map(({ target }) => target);
    expect(targets.filter((target) => target.includes('my-lock'))).toEqual([
      `locks/my-lock.${ending}`,
      'locks/my-lock.yaml',
    ]);
    const texts = steps.flatMap((step) => (step.kind === 'written' ? [step.text] : [])).join('');
    expect(texts).toContain("new Redis('redis://redis-1:6379')");
    expect(texts).toContain('hosts: { redis-1:6379: lock }');
    expect(texts).toContain(`use: ./my-lock.${ending}\n`);
    expect(texts).not.toContain('LockServer');
  }
});

describe('in a folder with files', () => {
  const has = (target: string): boolean => target === 'locks/my-lock.mjs';

  test('an existing file is not changed, and is reported', () => {
    const left = planBeginning({ ...EMPTY, has }, ALL).filter(({ kind }) => kind === 'left');
    expect(left).toEqual([expect.objectContaining({ target: 'locks/my-lock.mjs' })]);
  });

  test('a package.json gets a script, unless it has one of that name', () => {
    const last = (manifest: string): unknown => planBeginning({ ...EMPTY, manifest }, ALL).at(-1);
    expect(last('{ "name": "x" }')).toMatchObject({ kind: 'extended', target: 'package.json' });
    expect(last('{ "scripts": { "locks": "mine" } }')).toMatchObject({ kind: 'left' });
    expect(last('{ "name": ')).toMatchObject({ kind: 'left' });
  });
});

const SCRIPTS = { locks: 'fencepost run a.yaml' };

function edited(text: string): string {
  const edit = addScripts(text, SCRIPTS);
  if (edit.kind !== 'edited') throw new Error(`it is ${edit.kind}`);
  return edit.text;
}

describe('a script is added', () => {
  test('without any other change, in any style', () => {
    const text = '{\n\t"files": ["a", "b"],\n\t"scripts": {\n\t\t"test": "x"\n\t}\n}\n';
    const line = '\t\t"locks": "fencepost run a.yaml",\n';
    expect(edited(text)).toBe(text.replace('\t\t"test"', `${line}\t\t"test"`));
    const windows = text.replaceAll('\n', '\r\n');
    expect(edited(windows).replaceAll('\r\n', '\n')).toBe(edited(text));
    expect(edited(windows)).not.toMatch(/[^\r]\n/);
  });

  test('with `scripts` if there is none', () => {
    const text = '{\n    "name": "x",\n    "files": ["a", "b"]\n}';
    expect(edited(text)).toMatch(
      /^\{\n {4}"name": "x",\n {4}"files": \["a", "b"\],\n {4}"scripts"/,
    );
    expect(JSON.parse(edited(text))).toEqual({ name: 'x', files: ['a', 'b'], scripts: SCRIPTS });
    expect(JSON.parse(edited('{}'))).toEqual({ scripts: SCRIPTS });
    expect(JSON.parse(edited('{ "scripts": {} }'))).toEqual({ scripts: SCRIPTS });
  });

  test('to the scripts of the package, and not to another field of that name', () => {
    const text = '{ "jobs": { "scripts": { "a": "b" } }, "scripts": { "c": "d" } }';
    expect(JSON.parse(edited(text))).toEqual({
      jobs: { scripts: { a: 'b' } },
      scripts: { c: 'd', ...SCRIPTS },
    });
  });

  test('even if its text looks like a replacement pattern', () => {
    const edit = addScripts('{ "name": "x" }', { locks: 'echo $& $1' });
    expect(edit.kind === 'edited' && JSON.parse(edit.text)).toMatchObject({
      scripts: { locks: 'echo $& $1' },
    });
  });
});

test('an existing script of that name is kept', () => {
  const text = '{ "scripts": { "locks": "mine" } }';
  expect(addScripts(text, SCRIPTS)).toEqual({ kind: 'same' });
});

test('a text that is not a package.json is not changed', () => {
  for (const text of ['', '{', '[]', 'null', '{ "scripts": 7 }', '{ "scripts": [] }']) {
    expect(addScripts(text, SCRIPTS), text).toEqual({ kind: 'unreadable' });
  }
});

describe('for a known lock', () => {
  test.each(Object.keys(lockRisks))('%s: its risks are written, each with its cure', (lock) => {
    const steps = planBeginning(EMPTY, only(lock));
    expect(steps.map(({ target }) => target)).toEqual(
      Object.keys(lockRisks[lock] ?? {}).map((name) => `locks/${name}.yaml`),
    );
    const texts = steps.map((step) => (step.kind === 'written' ? step.text : ''));
    for (const text of texts) {
      expect(text).toMatch(/^# yaml-language-server: .*\n# .+\n/);
      const read = loadScenario(text, lock);
      if (read.kind === 'problems') expect.fail(JSON.stringify(read.problems));
      const { systems } = read.scenario;
      const cured = systems.filter(({ expect: { breaks, may = [] } }) =>
        systems.some(
          ({ expect: { holds } }) =>
            breaks.length > 0 && holds.some((claim) => [...breaks, ...may].includes(claim)),
        ),
      );
      expect(cured.length, read.scenario.name).toBeGreaterThan(0);
    }
  });

  test('a script of package.json runs them', () => {
    const [last] = planBeginning({ ...EMPTY, manifest: '{}' }, only('etcd')).slice(-1);
    expect(last?.kind === 'extended' && last.text).toContain('locks/etcd-recheck.yaml');
  });

  test('a project that uses some of them gets them besides its own lock, each once', () => {
    const used = locksUsed(['express', 'redlock', 'ioredis', 'pg']);
    expect(used).toEqual(['redlock', 'redis', 'postgres']);
    const steps = planBeginning(EMPTY, { ...ALL, locks: used });
    const targets = steps.map(({ target }) => target);
    expect(targets).toEqual([...new Set(targets)]);
    expect(targets).toEqual(
      expect.arrayContaining([
        'locks/my-lock.yaml',
        'locks/no-token.yaml',
        'locks/postgres-pooler.yaml',
      ]),
    );
  });
});

describe('reports are ignored by git', () => {
  const step = (ignored: string | null, isInGit = true): unknown =>
    planBeginning({ ...EMPTY, ignored, isInGit }, ALL).find(
      ({ target }) => target === '.gitignore',
    );

  test('in an existing or a new file, if there is a repository', () => {
    expect(step(null, false)).toBeUndefined();
    expect(step(null)).toMatchObject({ kind: 'written', text: 'reports/\n' });
    expect(step('dist')).toMatchObject({ kind: 'extended', text: 'dist\nreports/\n' });
    expect(step('dist\r\n')).toMatchObject({ text: 'dist\r\nreports/\r\n' });
  });

  test('once, and not if the existing file cannot be read', () => {
    for (const there of ['reports', '/reports/\n', 'dist\nreports/\n', '']) {
      expect(step(there), there).toMatchObject({ kind: 'left' });
    }
  });
});
