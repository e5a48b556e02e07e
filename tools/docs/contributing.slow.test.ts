/**
 * Follows each recipe of `docs/architecture.md` literally in a copy of the project: it compiles,
 * complies with the style rules, and passes its own test. If a recipe states that the compiler
 * leads to other places, leaving out those steps does not compile.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { pageOf } from './pages.ts';
import { type Block, Copy, edited, newFiles, readRecipes } from './recipes.ts';

const recipes = readRecipes();
let copy: Copy;
/** Checking the types of a copy takes 10 seconds on an idle machine. */
const SLOW = { timeout: 300_000 };

beforeAll(() => {
  copy = new Copy();
  expect(copy.typeErrors()).toBe('');
}, SLOW.timeout);
afterEach(() => copy.restore());
afterAll(() => copy.remove());

function blocksOf(heading: string): readonly Block[] {
  const blocks = recipes.get(heading);
  if (blocks === undefined) throw new Error(`there is no recipe "${heading}"`);
  return blocks;
}

/** Returns the tests that the recipe adds or changes, or else the one that it names. */
function testsOf(heading: string, blocks: readonly Block[]): readonly string[] {
  const tests = blocks.map(({ path }) => path).filter((path) => path.endsWith('.test.ts'));
  if (tests.length > 0) return tests;
  const text = pageOf('docs/architecture.md').split(`### ${heading}\n`)[1] ?? '';
  const [, named] = /`npx vitest run (\S+)`/.exec(text) ?? [];
  if (named === undefined) throw new Error(`"${heading}" has no test`);
  return [named];
}

test('there is a recipe for each extension', () => {
  expect([...recipes.keys()]).toEqual([
    'A claim',
    'A fault kind',
    'A lock',
    'A store',
    'A Redis command',
    'A wire protocol',
    'A report',
    'A history format',
    'A plan field',
    'A shrink pass',
  ]);
});

test('each new file belongs to one recipe', () => {
  const added = [...recipes.values()].flat().filter(({ isEdit }) => !isEdit);
  expect(added.map(({ path }) => path).sort()).toEqual([...newFiles].sort());
});

test('the page has at most 400 lines', () => {
  expect(pageOf('docs/architecture.md').trimEnd().split('\n').length).toBeLessThanOrEqual(400);
});

test('the recipes, taken together, compile and pass their tests', SLOW, () => {
  const tests = [...recipes].flatMap(([heading, blocks]) => {
    copy.apply(blocks);
    return testsOf(heading, blocks);
  });
  expect(copy.typeErrors()).toBe('');
  expect(copy.styleErrors()).toBe('');
  const { code, out } = copy.test(tests);
  expect(code, out).toBe(0);
  for (const file of tests) expect(out).toContain(file);
});

test('a recipe with a forgotten step does not compile', SLOW, () => {
  const forgotten = [
    'src/check/access-rules.ts',
    'src/search/evidence/cures.ts',
    'src/core/plan/fault-words.ts',
    'src/core/world/injector.ts',
    'src/adapters/scenario-check/scenario-fields.ts',
  ];
  const claim = blocksOf('A claim').map((block) => {
    return { ...block, text: block.text.replace(/rules: \[.*\],/, 'rules: [],') };
  });
  const blocks = [...claim, ...blocksOf('A fault kind')];
  expect(blocks.map(({ path }) => path)).toEqual(expect.arrayContaining(forgotten));
  copy.apply(blocks.filter(({ path }) => !forgotten.includes(path)));
  const errors = copy.typeErrors();
  for (const path of ['src/check/at-most-one-write-per-grant.ts', ...forgotten]) {
    expect(errors).toContain(path);
  }
});

test('an edit whose place is missing or occurs twice is refused', () => {
  const edit = { path: 'x.ts', text: ' b\n+c\n' };
  expect(edited('a\nb\n', edit)).toBe('a\nb\nc\n');
  expect(() => edited('a\n', edit)).toThrow('x.ts does not have these lines');
  expect(() => edited('b\nb\n', edit)).toThrow('or not only once');
});
