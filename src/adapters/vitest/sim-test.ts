/**
 * `simTest` and its variants, as vitest tests. Vitest's own timeout is disabled, because it knows
 * nothing about seeds. Instead, the test ends itself and reports its progress. Everything else is
 * in `scenario-check`, which does not depend on vitest.
 */
import { type TestContext, test } from 'vitest';
import { requireVersions } from '../installed-version.ts';
import { checkAt, checkedOptions } from '../scenario-check/check-scenario.ts';
import type { Body, BodyOptions, CheckedOptions, LockOptions } from '../scenario-check/options.ts';
import { lineThatCalled, patternOf, typedPath } from '../scenario-check/test-place.ts';

requireVersions(['vitest']);

/** The arguments that a case passes to the functions of a test. A list is spread. */
export type CaseOf<C> = [C] extends [readonly unknown[]] ? [...C] : [C];

/** Defines a test, which fails as `checkScenario` does. */
export interface SimTestCall {
  /** Tests a lock whose client is `body`. Each process has its own instances of `modules`. */
  <M extends object, S extends object = object, T extends object = object>(
    name: string,
    options: BodyOptions<S, T> & { readonly modules: { readonly [Name in keyof M]: string } },
    body: Body<S, T & { readonly modules: M }>,
  ): void;
  /** Tests a lock whose client is `body`, without modules. */
  <S extends object, T extends object>(
    name: string,
    options: BodyOptions<S, T>,
    body: Body<S, T>,
  ): void;
  /** Tests a lock by name or definition, or the systems of a scenario. */
  (name: string, options: LockOptions): void;
  /**
   * Defines one test per case. Its name is formatted as in `test.each`: `ttl %s`. `options` returns
   * the options for a case; a body receives the case after its handles.
   */
  each<const C>(cases: readonly C[]): SimTestEach<C>;
}

/** Defines a test for each case. */
export interface SimTestEach<C> {
  <S extends object, T extends object>(
    name: string,
    options: (...args: CaseOf<C>) => BodyOptions<S, T>,
    body: Body<S, T, CaseOf<C>>,
  ): void;
  (name: string, options: (...args: CaseOf<C>) => LockOptions): void;
}

/** `simTest` with the variants of vitest's `test`. */
export interface SimTest extends SimTestCall {
  readonly only: SimTestCall;
  readonly skip: SimTestCall;
  /** Defines a test that passes if the check fails. Prefer `breaks`. */
  readonly fails: SimTestCall;
  readonly concurrent: SimTestCall;
  readonly sequential: SimTestCall;
  readonly skipIf: (condition: unknown) => SimTestCall;
  readonly runIf: (condition: unknown) => SimTestCall;
  readonly todo: (name: string) => void;
}

type Api = typeof test.only;

/**
 * Tests a lock over many seeds: `checkScenario` as a vitest test, with the same options and the
 * same failures.
 *
 * @example
 * simTest('a fenced store keeps the order of grants', {
 *   lock: 'lock-service',
 *   store: 'fenced',
 *   faults: [{ pause: { before: 'write', for: '1ms..60ms', chance: '1/2' } }],
 *   holds: ['grant-order'],
 * });
 */
export const simTest: SimTest = Object.assign(callOf(test), {
  only: callOf(test.only),
  skip: callOf(test.skip),
  fails: callOf(test.fails),
  concurrent: callOf(test.concurrent),
  sequential: callOf(test.sequential),
  skipIf: (condition: unknown) => callOf(test.skipIf(condition)),
  runIf: (condition: unknown) => callOf(test.runIf(condition)),
  todo: (name: string) => test.todo(name),
});

function callOf(api: Api): SimTestCall {
  function define<S extends object, T extends object>(
    name: string,
    options: BodyOptions<S, T> | LockOptions,
    body?: Body<S, T>,
  ): void {
    const site = lineThatCalled(define);
    const given = (): CheckedOptions => checkedOptions(options, body, []);
    api(name, UNTIMED, (context) => happen(context, { site, given }));
  }
  return Object.assign(define, { each: <const C>(cases: readonly C[]) => eachOf(api, cases) });
}

const UNTIMED = { timeout: 0 } as const;

function eachOf<C>(api: Api, cases: readonly C[]): SimTestEach<C> {
  return function define<S extends object, T extends object>(
    name: string,
    options: (...args: CaseOf<C>) => BodyOptions<S, T> | LockOptions,
    body?: Body<S, T, CaseOf<C>>,
  ): void {
    const site = lineThatCalled(define);
    api.for(cases)(name, UNTIMED, (testCase, context) => {
      const args: unknown = Array.isArray(testCase) ? testCase : [testCase];
      if (!isCase<C>(args)) return;
      const given = (): CheckedOptions => checkedOptions(options(...args), body, args);
      return happen(context, { site, given });
    });
  };
}

/** A type guard only: the arguments of a case are always a list here. */
function isCase<C>(args: unknown): args is CaseOf<C> {
  return Array.isArray(args);
}

async function happen(
  context: TestContext,
  { site, given }: { readonly site: string; readonly given: () => CheckedOptions },
): Promise<void> {
  const { task, signal } = context;
  const { name } = task;
  const names = [name];
  for (let group = task.suite; group !== undefined; group = group.suite) names.unshift(group.name);
  const file = task.file.filepath;
  const command = ['npx', 'vitest', 'run', typedPath(file)];
  const place = { file, fullName: names.join(' '), command, alone: ['-t', patternOf(name)] };
  const end = await checkAt(place, { site, given, signal });
  if (end === null) context.skip('FENCEPOST_REPLAY names a plan of another test');
}
