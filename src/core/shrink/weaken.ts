/**
 * The passes that simplify pieces that cannot be removed. Clients are reduced to one section at a
 * time, one connection, one attempt per call and per acquisition, and no release. All answers are
 * awaited. A client that stops retrying may have to start later. A client that works without the
 * lock after its last attempt keeps its number of attempts: fewer would change the scenario.
 * Numbers are rounded, then lowered by bisection to numbers that are at least as round.
 */
import { runningAtOnce } from '../plan/client-text.ts';
import type { ClientPlan, Plan } from '../plan/plan.ts';
import { changeClient, changeSection, changeWork } from './change.ts';
import { type ParameterKind, parameterAt, parametersOf } from './parameter.ts';
import { clamp, digitsOf, rounderThan, roundestBetween, roundTo } from './round.ts';
import { type Pass, type Search, type Steps, tryingEach } from './search.ts';

type Change = (client: ClientPlan) => ClientPlan;

interface Count {
  readonly read: (client: ClientPlan) => number;
  readonly write: (client: ClientPlan, count: number) => ClientPlan;
}

const counts: readonly Count[] = [
  {
    read: ({ concurrency = 1 }) => concurrency,
    write: ({ concurrency: _, ...client }, count) => ({ ...client, ...runningAtOnce(count) }),
  },
  { read: (client) => client.pool, write: (client, pool) => ({ ...client, pool }) },
  { read: (client) => client.tries, write: (client, tries) => ({ ...client, tries }) },
  {
    read: (client) => client.attempts,
    write: (client, attempts) => (worksWithoutLock(client) ? client : { ...client, attempts }),
  },
];

const plainest: readonly Change[] = [
  ...counts.map(
    ({ write }): Change =>
      (client) =>
        write(client, 1),
  ),
  (client) => ({ ...client, releases: false }),
  awaitingAll,
];

function worksWithoutLock({ sections }: ClientPlan): boolean {
  return sections.some(({ work }) =>
    work.some((step) => step.kind === 'memoize' && step.withoutLock === undefined),
  );
}

function awaitingAll(client: ClientPlan): ClientPlan {
  const sections = client.sections.map((section) => ({
    ...section,
    work: section.work.map((work) => (work.kind === 'write' ? { ...work, awaits: true } : work)),
  }));
  return { ...client, sections };
}

export const weakenClients: Pass = {
  name: 'weaken clients',
  *run(search: Search): Steps<void> {
    const all = (client: ClientPlan): ClientPlan =>
      plainest.reduce((plain, change) => change(plain), client);
    const clients = search.current.clients.map(all);
    if (yield* search.attempt({ ...search.current, clients })) return;
    for (const change of plainest) {
      const changed = search.current.clients.map(change);
      if (yield* search.attempt({ ...search.current, clients: changed })) continue;
      for (const { name } of search.current.clients) {
        yield* search.attempt(changeClient(search.current, name, change));
      }
    }
    for (const { name } of search.current.clients) {
      for (const count of counts) yield* lowerCount(search, name, count);
    }
  },
};

/** Bisects down to the smallest count above 1 that still breaks the claim; 1 was tried before. */
function* lowerCount(search: Search, name: string, { read, write }: Count): Steps<void> {
  let holds = 1;
  for (;;) {
    const client = search.current.clients.find((candidate) => candidate.name === name);
    if (client === undefined) return;
    const middle = Math.floor((holds + read(client)) / 2);
    if (middle <= holds) return;
    const next = changeClient(search.current, name, (old) => write(old, middle));
    if (!(yield* search.attempt(next))) holds = middle;
  }
}

export const waitInsteadOfRetrying: Pass = {
  name: 'wait instead of retrying',
  *run(search: Search): Steps<void> {
    for (const client of search.current.clients) {
      const { name, attempts } = client;
      if (attempts === 1 || worksWithoutLock(client)) continue;
      yield* search.attemptFirst(latecomers(search.current, name));
    }
  },
};

/** Returns plans in which the client tries only once, but later. */
function latecomers(plan: Plan, name: string): readonly Plan[] {
  const client = plan.clients.find((candidate) => candidate.name === name);
  if (client === undefined) return [];
  const once = changeClient(plan, name, (old) => ({ ...old, attempts: 1 }));
  const ttlUs = Math.max(...plan.clients.map((peer) => peer.ttlUs));
  const { think } = plan.bounds;
  return client.sections.flatMap((section) => {
    const waitUs = (client.attempts - 1) * client.backoffUs;
    const later = [section.thinkUs + ttlUs, section.thinkUs + waitUs, think.maxUs];
    const key = { client: name, section: section.id };
    return [...new Set(later.map((us) => clamp(us, think)))].map((thinkUs) =>
      changeSection(once, key, (old) => ({ ...old, thinkUs })),
    );
  });
}

export const renumberValues: Pass = tryingEach('make written values small', (plan) => {
  let count = 0;
  const numbered = changeWork(plan, (work) => {
    if (work.kind === 'transfer') return { ...work, amount: 1 };
    if (work.kind === 'increment') {
      // adds or subtracts 1, or still adds 0
      const { by, ...plain } = work;
      return by === undefined || by > 0 ? plain : { ...plain, by: by < 0 ? -1 : 0 };
    }
    if (work.kind !== 'write' && work.kind !== 'memoize') return work;
    count += 1;
    return { ...work, value: count };
  });
  return [numbered];
});

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
  const { lastBelowGaps = [] } = first;
  yield* search.attemptFirst(lastBelowGaps.map((us) => first.write(search.current, us)));
  for (;;) {
    const parameter = parameterAt(search.current, path);
    if (parameter === undefined) return;
    const middle = roundestBetween(holds, parameter.value);
    if (middle === null || digitsOf(middle) > digitsOf(parameter.value)) return;
    if (!(yield* search.attempt(parameter.write(search.current, middle)))) holds = middle;
  }
}

/** Maximum number of parameters for which pairs are tried. */
const MAX_PAIRED = 6;

/**
 * Lowers several numbers by the same amount. A pause, and the wait of a client that acts during the
 * pause, can often decrease only together.
 */
export const lowerTogether: Pass = {
  name: 'lower numbers together',
  *run(search: Search): Steps<void> {
    // Numbers that determine when things begin.
    const starts = parametersOf(search.current)
      .filter(({ kind, path }) => kind === 'instant' || /\.sections\[0\]\.thinkUs$/.test(path))
      .map(({ path }) => path);
    yield* lowerBySame(search, starts);
    const paths = parametersOf(search.current)
      .filter(({ kind, value, range }) => kind !== 'count' && value > range.minUs)
      .map(({ path }) => path);
    if (paths.length > MAX_PAIRED) return;
    for (const [at, path] of paths.entries()) {
      for (const other of paths.slice(at + 1)) yield* lowerBySame(search, [path, other]);
    }
  },
};

function* lowerBySame(search: Search, paths: readonly string[]): Steps<void> {
  const found = parametersOf(search.current).filter(({ path }) => paths.includes(path));
  if (found.length < 2) return;
  const most = Math.min(...found.map(({ value, range }) => value - range.minUs));
  if (most <= 0) return;
  const less = roundestBetween(0, most);
  const steps = less === null ? [most] : [most, less];
  const lowered = steps.map((by) =>
    found.reduce((plan, { value, write }) => write(plan, value - by), search.current),
  );
  yield* search.attemptFirst(lowered);
}

const GRIDS_US = [10_000, 5_000, 1_000] as const;

export const roundNumbers: Pass = {
  name: 'round numbers',
  *run(search: Search): Steps<void> {
    const plan = search.current;
    const times = parametersOf(plan).filter(({ kind }) => kind !== 'rate' && kind !== 'count');
    const rounded = GRIDS_US.map((gridUs) =>
      times.reduce(
        (next, { value, range, write }) => write(next, roundTo(value, gridUs, range)),
        plan,
      ),
    );
    yield* search.attemptFirst(rounded);
    for (const { path } of parametersOf(search.current)) yield* round(search, path);
  },
};

function* round(search: Search, path: string): Steps<void> {
  const parameter = parameterAt(search.current, path);
  if (parameter === undefined) return;
  const plan = search.current;
  const rounder = rounderThan(parameter.value, parameter.range);
  yield* search.attemptFirst(rounder.map((value) => parameter.write(plan, value)));
}
