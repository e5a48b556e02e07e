/**
 * Checks the options of a test as far as they are no part of a scenario, since the code that gives
 * them may be plain JavaScript: every mistake is told at once, with the option that it is in.
 */
import type { SystemDefinition } from '../../catalogue.ts';
import { shown } from '../../core/plan/fields.ts';
import type { SeedRange } from '../../search/sweep/shard.ts';
import type { LockDefinition } from '../../systems/define-lock.ts';
import { suggest } from '../../text/problem.ts';
import {
  type AnyOptions,
  SCENARIO_FIELDS,
  SYSTEM_FIELDS,
  TEST_FIELDS,
  type WrittenHere,
} from './options.ts';
import { unplainParts } from './plain-data.ts';
import { SimTestError } from './sim-test-error.ts';

/** Options whose own fields are right; those of the scenario are still to be read. */
export interface CheckedOptions {
  /** The scenario's and the system's, as they were given. */
  readonly fields: Partial<Omit<WrittenHere, 'scenario' | 'system'>> & {
    readonly lock?: string | LockDefinition;
    readonly options?: Readonly<Record<string, string | number>>;
  };
  /** A path or a text; null where it is written as options. */
  readonly scenario: string | null;
  readonly system: string | null;
  /** The lock that the test brings: its body, or a definition. */
  readonly ownLock: LockDefinition | null;
  readonly use: readonly SystemDefinition[];
  readonly seeds: SeedRange;
  readonly timeoutMs: number;
  readonly budgetMs: number | null;
}

const SEEDS = 200;
const TIMEOUT_MS = 60_000;

/** Throws a `SimTestError`; `body` is the lock that the body became, if there is one. */
export function checkOptions(options: AnyOptions, body: LockDefinition | null): CheckedOptions {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null) {
    throw new SimTestError([`options: expected an object, not ${shown(given)}`]);
  }
  const lines = [
    ...unknownFields(given),
    ...(options.scenario === undefined ? problemsHere(options, body) : problemsBeside(options)),
    ...(body === null ? needingBody(options) : []),
    ...seedProblems(options.seeds),
    ...timeProblems(options),
  ];
  if (lines.length > 0) throw new SimTestError(lines);
  const { seeds = SEEDS, timeout = TIMEOUT_MS, budgetMs = null, use = [] } = options;
  const lock = 'lock' in options && typeof options.lock === 'object' ? options.lock : null;
  return {
    fields: options.scenario === undefined ? options : {},
    scenario: options.scenario ?? null,
    system: options.system ?? null,
    ownLock: body ?? lock,
    use: isList(use) ? use : [use],
    seeds:
      typeof seeds === 'number' ? { from: 0, to: seeds - 1 } : { from: seeds[0], to: seeds[1] },
    timeoutMs: timeout,
    budgetMs,
  };
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

function unknownFields(options: object): readonly string[] {
  const known: readonly string[] = [...SCENARIO_FIELDS, ...SYSTEM_FIELDS, ...TEST_FIELDS];
  return Object.keys(options).flatMap((field) => {
    if (known.includes(field)) return [];
    const hint = suggest(field, known);
    return [`unknown field "${field}"${hint === '' ? `; known: ${known.join(', ')}` : hint}`];
  });
}

/** What is missing, or not plain data, in a scenario that is written as options. */
function problemsHere(options: AnyOptions, body: LockDefinition | null): readonly string[] {
  const { system, faults } = options;
  const lock: unknown = options.lock;
  const lines: string[] = [];
  if (system !== undefined) lines.push('system: names one of a scenario, and there is none');
  if (body !== null && lock !== undefined) {
    lines.push('lock: stands beside a body, which is the lock; leave one of them out');
  }
  if (body === null && lock === undefined) {
    lines.push("lock: is missing; give a body, or name a lock, e.g. lock: 'redlock'");
  }
  if (faults === undefined) {
    const example = "[{ pause: { before: 'write', for: '1ms..60ms', chance: '1/2' } }]";
    lines.push(`faults: is missing; say what may go wrong, e.g. ${example}, or [] for nothing`);
  }
  const plain: readonly string[] = [...SCENARIO_FIELDS, 'options', 'store', 'holds', 'breaks'];
  const entries = Object.entries(options).filter(([field]) => plain.includes(field));
  return [...lines, ...entries.flatMap(([field, value]) => unplainParts(value, [field]))];
}

/** What the scenario says already. */
function problemsBeside(options: AnyOptions): readonly string[] {
  const { scenario } = options;
  const text: unknown = scenario;
  if (typeof text !== 'string' || text === '') {
    return [`scenario: expected a path or the text of a scenario, not ${shown(text)}`];
  }
  const said: readonly string[] = [...SCENARIO_FIELDS, ...SYSTEM_FIELDS];
  return Object.keys(options)
    .filter((field) => said.includes(field))
    .map((field) => `${field}: the scenario says it; leave it out`);
}

function needingBody({ servers, start, operations }: AnyOptions): readonly string[] {
  return Object.entries({ servers, start, operations }).flatMap(([field, value]) =>
    value === undefined ? [] : [`${field}: is for a body, and there is none`],
  );
}

function seedProblems(seeds: AnyOptions['seeds'] = SEEDS): readonly string[] {
  const isSeed = (seed: unknown): boolean => Number.isSafeInteger(seed) && Number(seed) >= 0;
  if (typeof seeds === 'number') {
    if (isSeed(seeds) && seeds > 0) return [];
  } else if (Array.isArray(seeds)) {
    const [from, to, ...rest] = seeds;
    if (isSeed(from) && isSeed(to) && to >= from && rest.length === 0) return [];
  }
  return [`seeds: expected a count, or the first and the last, e.g. [0, 199], not ${shown(seeds)}`];
}

function timeProblems({ timeout, budgetMs }: AnyOptions): readonly string[] {
  return Object.entries({ timeout, budgetMs }).flatMap(([field, value]) =>
    value === undefined || (typeof value === 'number' && value > 0)
      ? []
      : [`${field}: expected milliseconds, more than 0, not ${shown(value)}`],
  );
}
