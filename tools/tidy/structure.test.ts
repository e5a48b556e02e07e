/** Laws of the modules of `src`: no cycles, few splinters, one meaning per exported name. */
import { beforeAll, describe, expect, test } from 'vitest';
import { isTest, readProject, readSnippets, type Source } from './source.ts';
import {
  circlesIn,
  doubleNames,
  importsAmong,
  publicNames,
  reachedFrom,
  singleImporters,
  splintersIn,
} from './structure.ts';

const MOST_SPLINTERS = 0;
const MOST_SINGLE_IMPORTERS = 150;
const MOST_DOUBLE_NAMES = 10;
/**
 * Not counting claims, each of which has a file. 430 at the end of the rebuild; since then five per
 * system (etcd, Kubernetes, ZooKeeper, replicas, PostgreSQL), one for the `process` of each process
 * start (`virtual-process.ts`), one for the JSON of Redis scripts (`lua-cjson.ts`), three for
 * objects that all processes share (`reachable.ts`, `walk.ts`, `builtin-views.ts`), one for the CPU
 * time and place of a thread (`thread-watch.ts`), one for the options of reports, which `check`
 * does not have (`report-options.ts`), one for the entry `fencepost/check`, one for the functions
 * of the root entry (`library.ts`), one for calls in a trace (`call.ts`), split from a table of
 * events that was too long, three for causes by intervention (`interventions.ts`, `candidates.ts`,
 * `find-causes.ts`), two that keep markup out of the page's script (`page-data.ts`,
 * `playground-controls.ts`), one for what happened to a message (`messages.ts`), and one for what
 * keeps a lock (`stuck.ts`). A new file raises it, with its reason here.
 */
const MOST_MODULES = 476;

/** Limit for the code that `fencepost/check` and the command `check` reach, except the page. */
const MOST_CHECK_LINES = 10_000;
const MOST_CHECK_NAMES = 40;

/** Limit for a service whose folder can be read alone in ten minutes. */
const MOST_SERVICE_LINES = 600;
const SERVICES = ['etcd', 'kubernetes', 'postgres', 'zookeeper'];

let project: readonly Source[] = [];
beforeAll(() => {
  project = readProject(['src'], () => false);
});

describe('the modules of src', () => {
  test('import one another in no cycle, not even by type', () => {
    expect(circlesIn(importsAmong(project))).toEqual([]);
  });

  test('are complete: few are splinters of their only importer', () => {
    const splinters = splintersIn(project);
    expect(splinters.length, splinters.join('\n')).toBeLessThanOrEqual(MOST_SPLINTERS);
    expect(singleImporters(project)).toBeLessThanOrEqual(MOST_SINGLE_IMPORTERS);
    const claims = project.filter(({ text }) => text.includes('= defineClaim({'));
    expect(claims.length).toBeGreaterThan(20);
    expect(importsAmong(project).size - claims.length).toBeLessThanOrEqual(MOST_MODULES);
  });

  test.each(SERVICES)('implement %s in a short folder', (service) => {
    const code = project.filter(
      ({ path }) => path.startsWith(`src/zoo/${service}/`) && !isTest(path),
    );
    const lines = code.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
    expect(lines).toBeGreaterThan(100);
    expect(lines).toBeLessThanOrEqual(MOST_SERVICE_LINES);
  });

  test('reach from `fencepost/check` and its command only code that checks histories', () => {
    const starts = ['src/check.ts', 'src/cli/check.ts'];
    const reached = reachedFrom(importsAmong(project), starts, 'src/report/html/');
    expect(reached).toContain('src/linearizability/search.ts');
    const texts = project.filter(({ path }) => reached.includes(path)).map(({ text }) => text);
    const lines = texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
    expect(lines).toBeLessThanOrEqual(MOST_CHECK_LINES);
  });

  test('export all names that `fencepost/check` leads to, few and each with a comment', () => {
    const { exported, hidden, undocumented } = publicNames(project, 'src/check.ts');
    expect(exported).toContain('checkHistory');
    expect(exported.length).toBeLessThanOrEqual(MOST_CHECK_NAMES);
    expect(hidden).toEqual([]);
    expect(undocumented).toEqual([]);
  });

  test.each(['src/index.ts', 'src/servers.ts', 'src/redis.ts', 'src/vitest.ts', 'src/fleet.ts'])(
    'document each name of %s',
    (entry) => {
      const { exported, undocumented } = publicNames(project, entry);
      expect(exported.length).toBeGreaterThan(0);
      expect(undocumented).toEqual([]);
    },
  );

  test('give an exported name one meaning', () => {
    const doubles = doubleNames(project);
    expect(doubles.length, doubles.join('\n')).toBeLessThanOrEqual(MOST_DOUBLE_NAMES);
  });
});

/** Returns a project of these files, read as if it were this one. */
function projectOf(files: Readonly<Record<string, string>>): readonly Source[] {
  return readSnippets(Object.entries(files).map(([path, text]) => ({ path, text })));
}

describe('the report on badly structured modules', () => {
  test('names a cycle from its first module, also a cycle of types', () => {
    const sources = projectOf({
      'src/plan/a.ts': `import type { B } from './b.ts'; export type A = B;`,
      'src/plan/b.ts': `import './c.ts'; export type B = 1;`,
      'src/plan/c.ts': `export * from './a.ts';`,
      'src/plan/d.ts': `import './a.ts';`,
    });
    expect(circlesIn(importsAmong(sources))).toEqual([
      'src/plan/a.ts -> src/plan/b.ts -> src/plan/c.ts -> src/plan/a.ts',
    ]);
  });

  test('lists a short file with one importer in its folder, except rows of a registry', () => {
    const long = '// line\n'.repeat(60);
    const sources = projectOf({
      'src/search/a.ts': `import './short.ts'; import './long.ts'; import './shared.ts';`,
      'src/search/b.ts': `import './shared.ts'; import '../check/far.ts';`,
      'src/search/short.ts': 'export const a = 1;\n',
      'src/search/long.ts': long,
      'src/search/shared.ts': 'export const b = 1;\n',
      'src/check/far.ts': 'export const c = 1;\n',
      'src/check/claims.ts': `import './row.ts';`,
      'src/check/row.ts': 'export const d = 1;\n',
      'src/search/short.test.ts': `import './short.ts';`,
    });
    expect(splintersIn(sources)).toEqual([
      'src/search/short.ts: 1 lines that only src/search/a.ts imports: move them there',
    ]);
    expect(singleImporters(sources)).toBe(4);
  });

  test('follows each import, except into the excluded folder', () => {
    const sources = projectOf({
      'src/a.ts': `import './b.ts'; import './page/c.ts';`,
      'src/b.ts': `import './d.ts';`,
      'src/d.ts': 'export const d = 1;',
      'src/page/c.ts': `import '../e.ts';`,
      'src/e.ts': 'export const e = 1;',
    });
    const reached = reachedFrom(importsAmong(sources), ['src/a.ts'], 'src/page/');
    expect(reached).toEqual(['src/a.ts', 'src/b.ts', 'src/d.ts']);
  });

  test('lists a type that only a signature names as hidden, and no type in a body', () => {
    const sources = projectOf({
      'src/entry.ts': `export { type A, f } from './a.ts';`,
      'src/a.ts': `import type { C } from './c.ts';
        export interface A extends B { readonly c: C<typeof table> }
        interface B {}
        interface Inner {}
        const table: D = {};
        interface D {}
        /** Does it. */
        export function f(): A { const inner: Inner = {}; return inner; }`,
      'src/c.ts': 'export interface C<T> { readonly c: T }',
    });
    expect(publicNames(sources, 'src/entry.ts')).toEqual({
      exported: ['A', 'f'],
      hidden: ['B', 'C', 'table', 'D'],
      undocumented: ['A'],
    });
  });

  test('lists a name that two files export with both files', () => {
    const sources = projectOf({
      'src/plan/a.ts': `export interface Entry {} export const one = 1; const hidden = 1;`,
      'src/plan/b.ts': `export type Entry = 1; export { one } from './a.ts'; export class Two {}`,
      'src/plan/c.test.ts': `export class Two {}`,
    });
    expect(doubleNames(sources)).toEqual(['Entry: src/plan/a.ts, src/plan/b.ts']);
  });
});
