/**
 * Enforces the style rules: each on all files of the project, and on snippets that it must refuse
 * or accept.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { pages } from '../docs/pages.ts';
import { importsOf, isCore } from './layers.ts';
import { inlinesShortHelpers, namedHelpers, readNamedHelpers } from './over-split.ts';
import { PHRASES } from './phrases.ts';
import { rules } from './rules.ts';
import { readProject, readSnippets, type Source } from './source.ts';
import { backlog, bannedInPage } from './words.ts';

/** Lower it with each file that leaves the list. */
const MOST_IN_BACKLOG = 0;

let project: readonly Source[] = [];
let snippets: ReadonlyMap<object, Source> = new Map();

/** Returns the source of a sample's snippet. */
function snippet(of: object): Source {
  const source = snippets.get(of);
  if (source === undefined) throw new Error('the snippet was not read');
  return source;
}

beforeAll(() => {
  project = readProject(['src', 'properties', 'tools'], isCore);
  const samples = [...rules.values()].flatMap(([, { refuses, passes }]) => [...refuses, ...passes]);
  const read = readSnippets(samples.map(([path, text]) => ({ path, text })));
  snippets = new Map(read.map((source, at) => [samples[at] ?? [], source]));
});

describe.each([...rules])('%s', (_, [rule, sample]) => {
  test('in all files of the project', () => {
    expect(project.flatMap((source) => rule(source))).toEqual([]);
  });

  test('and a violation is refused, with its replacement', () => {
    for (const one of sample.refuses) {
      expect(rule(snippet(one)), one[1]).toEqual([expect.stringContaining(one[2])]);
    }
  });

  test('and compliant code is accepted', () => {
    for (const one of sample.passes) expect(rule(snippet(one)), one[1]).toEqual([]);
  });
});

test('at most six modules choose words for events, faults and rules', () => {
  const paths = new Set(project.map(({ path }) => path));
  expect([...PHRASES].filter((path) => paths.has(path)).length).toBe(PHRASES.size);
  expect(PHRASES.size).toBeLessThanOrEqual(6);
});

test('every form of import is found', () => {
  const text = `
    import 'a'; import b from 'b'; import type { C } from 'c'; export * from 'd';
    export { e } from 'e'; const f = import('f'); type G = import('g').G; import h = require('h');
    import(\`i\`); const j = 'import "x"'; // import 'y'
  `;
  const [source] = readSnippets([{ path: 'src/core/plan/a.ts', text }]);
  if (source === undefined) expect.fail('the snippet was not read');
  const found = importsOf(source).map(({ specifier }) => specifier);
  expect(found).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);
});

test('a helper whose name replaces a comment stays; an unused entry is reported', () => {
  const rule = inlinesShortHelpers(readNamedHelpers('# why\nsrc/a.ts kept\nsrc/a.ts gone\n'));
  const [source] = readSnippets([
    { path: 'src/a.ts', text: 'const kept = () => 1; export const a = kept();' },
  ]);
  if (source === undefined) expect.fail('the snippet was not read');
  expect(rule(source)).toEqual(['src/a.ts:1: gone: remove it from named-helpers.txt']);
});

test('the voice backlog lists files of the project, sorted, and never grows', () => {
  const listed = [...backlog];
  expect(listed).toEqual([...listed].sort());
  expect(listed.length).toBeLessThanOrEqual(MOST_IN_BACKLOG);
  const paths = new Set([...project.map(({ path }) => path), ...pages.keys()]);
  expect(listed.filter((path) => !paths.has(path))).toEqual([]);
});

test.each([...pages])('%s uses the standard words', (path, text) => {
  const banned = bannedInPage(path, text);
  if (backlog.has(path)) expect(banned, 'remove it from voice-backlog.txt').not.toEqual([]);
  else expect(banned).toEqual([]);
});

test('a banned word in a page is reported with its line and its replacement', () => {
  expect(bannedInPage('a.md', 'Fine.\nNobody is told.\n')).toEqual([
    'a.md:2: "Nobody": say no client, the caller, or the passive',
    'a.md:2: "told": say report, print, notify or describe',
  ]);
});

test('each file of named-helpers.txt is part of the project', () => {
  const paths = new Set(project.map(({ path }) => path));
  expect([...namedHelpers.keys()].filter((path) => !paths.has(path))).toEqual([]);
});
