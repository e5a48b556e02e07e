/**
 * Turns what zod reports about a file into findings in plain words: one for each mistake, placed at
 * the key or value that is meant, with a suggestion where a known word is near.
 */
import type { z } from 'zod';
import { type PathStep, suggest, type UnplacedProblem } from '../../text/problem.ts';
import { shown } from './fields.ts';

export type Checked<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'findings'; readonly findings: readonly UnplacedProblem[] };

/** Checks parsed YAML against a schema. */
export function check<Value>(schema: z.ZodType<Value>, value: unknown): Checked<Value> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return { kind: 'value', value: result.data };
  return { kind: 'findings', findings: allFindings(result.error.issues, []) };
}

/** An unknown key explains what else its map seems to lack, so that is not reported too. */
function allFindings(
  issues: readonly z.core.$ZodIssue[],
  base: readonly PathStep[],
): readonly UnplacedProblem[] {
  const unknown = new Set(
    issues.filter(({ code }) => code === 'unrecognized_keys').map(({ path }) => path.join('\n')),
  );
  return issues
    .filter(({ code, path }) => code !== 'custom' || !unknown.has(path.join('\n')))
    .flatMap((issue) => findingsOf(issue, base))
    .filter((finding, at, all) => at === all.findIndex((other) => isSame(finding, other)));
}

/** zod says twice that a number is too large where a limit is that of safe integers. */
function isSame(one: UnplacedProblem, other: UnplacedProblem): boolean {
  return one.what === other.what && one.path.join('\n') === other.path.join('\n');
}

function findingsOf(
  issue: z.core.$ZodIssue,
  base: readonly PathStep[],
): readonly UnplacedProblem[] {
  const path = [...base, ...issue.path.map(stepOf)];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(key, path, issue.message));
    case 'invalid_union':
      return unionFindings(issue, path);
    case 'invalid_key':
      return issue.issues.map(({ message }) => ({ path, isKey: true, what: message }));
    case 'invalid_type':
      return [valueFinding(path, typeProblem(issue.expected, issue.input))];
    case 'invalid_value': {
      const isOwn = !issue.message.startsWith('Invalid');
      return [valueFinding(path, isOwn ? issue.message : wordProblem(issue.values, issue.input))];
    }
    case 'too_big':
      return [valueFinding(path, sizeProblem('at most', issue.maximum, issue.origin))];
    case 'too_small':
      return [valueFinding(path, sizeProblem('at least', issue.minimum, issue.origin))];
    default:
      return [valueFinding(path, issue.message)];
  }
}

function stepOf(part: PropertyKey): PathStep {
  return typeof part === 'number' ? part : String(part);
}

function valueFinding(path: readonly PathStep[], what: string): UnplacedProblem {
  return { path, isKey: false, what };
}

/** `known` is the message of a `closed` map: its noun, then its fields. */
function unknownKey(key: string, path: readonly PathStep[], known: string): UnplacedProblem {
  const [noun = 'field', words = ''] = known.split(': ');
  const what = `unknown ${noun} "${key}"${suggest(key, words.split(' '))}`;
  return { path: [...path, key], isKey: true, what };
}

/** Of several forms that a value may take, the one that it comes nearest to. */
function unionFindings(
  issue: z.core.$ZodIssueInvalidUnion,
  path: readonly PathStep[],
): readonly UnplacedProblem[] {
  if (issue.message !== 'Invalid input') return [valueFinding(path, issue.message)];
  const isOfOtherType = (inner: z.core.$ZodIssue): boolean =>
    inner.path.length === 0 && (inner.code === 'invalid_type' || inner.code === 'invalid_value');
  const near = issue.errors.find((branch) => !branch.some(isOfOtherType));
  if (near !== undefined) return allFindings(near, path);
  const words = issue.errors.flatMap((branch) =>
    branch.flatMap((inner) => (inner.code === 'invalid_value' ? inner.values : [])),
  );
  const isWord = issue.errors.every(([inner]) => inner?.code === 'invalid_value');
  if (words.length > 0 && (isWord || typeof issue.input === 'string')) {
    return [valueFinding(path, wordProblem(words, issue.input))];
  }
  const expected = issue.errors.flatMap((branch) =>
    branch.flatMap((inner) => (inner.code === 'invalid_type' ? [typeName(inner.expected)] : [])),
  );
  const forms = [...new Set(expected)].join(' or ');
  return [valueFinding(path, `expected ${forms}, not ${shown(issue.input)}`)];
}

function typeProblem(expected: string, input: unknown): string {
  if (input === undefined) return `is missing; expected ${typeName(expected)}`;
  return `expected ${typeName(expected)}, not ${shown(input)}`;
}

const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'a map'],
  ['record', 'a map'],
]);

function typeName(expected: string): string {
  return TYPE_NAMES.get(expected) ?? expected;
}

function wordProblem(values: readonly unknown[], input: unknown): string {
  const words = values.map(String);
  if (typeof input !== 'string') return `expected one of ${words.join(', ')}, not ${shown(input)}`;
  return `unknown value ${shown(input)}${suggest(input, words)}`;
}

function sizeProblem(bound: string, limit: number | bigint, origin: string): string {
  if (origin === 'array') return `${bound} ${limit} may stand here`;
  if (origin === 'string') return `${bound} ${limit} characters`;
  return `must be ${bound} ${limit}`;
}
