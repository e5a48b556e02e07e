/**
 * Lowers numbers towards the least that the bounds allow, by bisection over numbers that are no
 * less round: faults shorter, everything earlier, latencies smaller.
 */
import type { Plan } from '../plan/plan.ts';
import { type Parameter, type ParameterKind, parameterAt, parametersOf } from './parameter.ts';
import { digitsOf, roundestBetween } from './round.ts';
import type { Pass, Search, Steps } from './search.ts';

export const shortenFaults: Pass = lowering('shorten faults', ['amount', 'rate']);
export const startEarlier: Pass = lowering('start earlier', ['think', 'instant']);
export const shortenWork: Pass = lowering('shorten work', ['compute']);
export const lowerCounts: Pass = lowering('lower counts of the queue', ['count']);
export const lowerLatencies: Pass = lowering('lower latencies', ['latency', 'decision']);

function lowering(name: string, kinds: readonly ParameterKind[]): Pass {
  return {
    name,
    *run(search: Search): Steps<void> {
      for (const { kind, path } of parametersOf(search.current)) {
        if (kinds.includes(kind)) yield* lower(search, path);
      }
    },
  };
}

function* lower(search: Search, path: string): Steps<void> {
  const first = parameterAt(search.current, path);
  if (first === undefined || first.value <= first.range.minUs) return;
  let holds = first.range.minUs;
  if (yield* search.attempt(first.write(search.current, holds))) return;
  for (;;) {
    const parameter = parameterAt(search.current, path);
    if (parameter === undefined) return;
    const middle = roundestBetween(holds, parameter.value);
    if (middle === null || digitsOf(middle) > digitsOf(parameter.value)) return;
    if (!(yield* search.attempt(parameter.write(search.current, middle)))) holds = middle;
  }
}

/** With more numbers than this, not every pair is tried. */
const MAX_PAIRED = 6;

/**
 * Lowers several numbers by the same time: all first starts and instants, then each pair. A pause
 * and the wait of the client that uses it can often go down together and not alone.
 */
export const lowerTogether: Pass = {
  name: 'lower numbers together',
  *run(search: Search): Steps<void> {
    yield* lowerBySame(search, startPaths(search));
    const paths = parametersOf(search.current)
      .filter(({ kind, value, range }) => kind !== 'count' && value > range.minUs)
      .map(({ path }) => path);
    if (paths.length > MAX_PAIRED) return;
    for (const [at, one] of paths.entries()) {
      for (const other of paths.slice(at + 1)) yield* lowerBySame(search, [one, other]);
    }
  },
};

/** The numbers that fix when things begin: each client's first think time, and the instants. */
function startPaths(search: Search): readonly string[] {
  return parametersOf(search.current)
    .filter(({ kind, path }) => kind === 'instant' || /\.sections\[0\]\.thinkUs$/.test(path))
    .map(({ path }) => path);
}

function* lowerBySame(search: Search, paths: readonly string[]): Steps<void> {
  const found = parametersOf(search.current).filter(({ path }) => paths.includes(path));
  if (found.length < 2) return;
  const most = Math.min(...found.map(({ value, range }) => value - range.minUs));
  if (most <= 0) return;
  const less = roundestBetween(0, most);
  for (const by of less === null ? [most] : [most, less]) {
    if (yield* search.attempt(loweredBy(search, found, by))) return;
  }
}

function loweredBy(search: Search, parameters: readonly Parameter[], by: number): Plan {
  return parameters.reduce((plan, { value, write }) => write(plan, value - by), search.current);
}
