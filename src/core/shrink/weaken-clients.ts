/**
 * Makes clients plainer: one connection, one try, one attempt, no release, answers awaited. A
 * client that no longer attempts again has to come later instead. One that works without the lock
 * when it waited in vain keeps its attempts: with fewer of them it would be another story.
 */
import type { ClientPlan, Plan, Work } from '../plan/plan.ts';
import { changeClient, changeSection, changeWork } from './change.ts';
import { clamp } from './round.ts';
import type { Pass, Search, Steps } from './search.ts';

type Change = (client: ClientPlan) => ClientPlan;

interface Count {
  readonly read: (client: ClientPlan) => number;
  readonly write: (client: ClientPlan, count: number) => ClientPlan;
}

const counts: readonly Count[] = [
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
  withoutRelease,
  awaitingAll,
];

function worksWithoutLock({ sections }: ClientPlan): boolean {
  return sections.some(({ work }) =>
    work.some((step) => step.kind === 'memoize' && step.withoutLock === undefined),
  );
}

function withoutRelease(client: ClientPlan): ClientPlan {
  return { ...client, releases: false };
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

/** Bisects down to the smallest count that still breaks; that 1 does not was found before. */
function* lowerCount(search: Search, name: string, { read, write }: Count): Steps<void> {
  let holds = 1;
  for (;;) {
    const client = search.current.clients.find((one) => one.name === name);
    if (client === undefined) return;
    const middle = Math.floor((holds + read(client)) / 2);
    if (middle <= holds) return;
    const next = changeClient(search.current, name, (one) => write(one, middle));
    if (!(yield* search.attempt(next))) holds = middle;
  }
}

export const waitInsteadOfRetrying: Pass = {
  name: 'wait instead of retrying',
  *run(search: Search): Steps<void> {
    for (const client of search.current.clients) {
      const { name, attempts } = client;
      if (attempts === 1 || worksWithoutLock(client)) continue;
      for (const candidate of latecomers(search.current, name)) {
        if (yield* search.attempt(candidate)) break;
      }
    }
  },
};

/** `plan` where the client attempts once, after others' leases are over, as far as bounds allow. */
function latecomers(plan: Plan, name: string): readonly Plan[] {
  const client = plan.clients.find((one) => one.name === name);
  if (client === undefined) return [];
  const once = changeClient(plan, name, (one) => ({ ...one, attempts: 1 }));
  const ttlUs = Math.max(...plan.clients.map((one) => one.ttlUs));
  const { think } = plan.bounds;
  return client.sections.flatMap((section) => {
    const waitUs = (client.attempts - 1) * client.backoffUs;
    const later = [section.thinkUs + ttlUs, section.thinkUs + waitUs, think.maxUs];
    const key = { client: name, section: section.id };
    return [...new Set(later.map((us) => clamp(us, think)))].map((thinkUs) =>
      changeSection(once, key, (one) => ({ ...one, thinkUs })),
    );
  });
}

export const renumberValues: Pass = {
  name: 'make written values small',
  *run(search: Search): Steps<void> {
    let count = 0;
    const numbered = changeWork(search.current, (work) => {
      if (work.kind === 'transfer') return { ...work, amount: 1 };
      if (work.kind === 'increment') return byOne(work);
      if (work.kind !== 'write' && work.kind !== 'memoize') return work;
      count += 1;
      return { ...work, value: count };
    });
    yield* search.attempt(numbered);
  },
};

/** Adds 1, or takes 1 away; what adds nothing goes on so. */
function byOne({ by, ...work }: Extract<Work, { readonly kind: 'increment' }>): Work {
  return by === undefined || by > 0 ? work : { ...work, by: by < 0 ? -1 : 0 };
}
