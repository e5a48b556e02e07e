/** The steps of one section: which keys and stores they use, and the values that they write. */
import { WORK_DEFAULTS, type Work } from '../core/plan/plan.ts';
import { byField, givesUp, type ReadStep } from '../core/plan/work-text.ts';
import { transferStores } from './build-clients.ts';
import type { Draw } from './draw.ts';
import type { ClientScenario, Workload } from './scenario.ts';

/**
 * Every write of a run has its own value, in digits that say whose it is: client, section and,
 * where sections have several, step. Alice's second section writes 12, its third step 123.
 */
export interface ValueScale {
  readonly client: number;
  readonly section: number;
}

/** The powers of ten that keep the values of these clients apart. */
export function valueScale(clients: readonly ClientScenario[]): ValueScale {
  let sections = 1;
  let steps = 1;
  for (const client of clients) {
    sections = Math.max(sections, client.sections);
    const { workload } = client;
    for (const [at, { id }] of workload.steps.entries()) steps = Math.max(steps, id ?? at + 1);
    steps = Math.max(steps, workload.writesPerGrant);
  }
  const section = steps === 1 ? 1 : powerAbove(steps);
  return { section, client: section * powerAbove(sections) };
}

/** The least power of ten that is larger than `count`. */
function powerAbove(count: number): number {
  let power = 10;
  while (power <= count) power *= 10;
  return power;
}

interface WorkContext {
  readonly draw: Draw;
  readonly values: {
    readonly scale: ValueScale;
    readonly client: number;
    readonly section: number;
  };
  readonly ttlUs: number;
}

export function expandWork(workload: Workload, context: WorkContext): readonly Work[] {
  if (workload.kind === 'steps') {
    return workload.steps.map((step, at) => expandStep(step, at + 1, { workload, ...context }));
  }
  const work: Work[] = [];
  for (let id = 1; id <= workload.writesPerGrant; id += 1) {
    work.push(oneStep(workload, id, context));
  }
  return work;
}

function oneStep(workload: Workload, id: number, context: WorkContext): Work {
  const { draw } = context;
  const key = draw.oneOf(workload.keys) ?? WORK_DEFAULTS.key;
  if (workload.kind === 'transfer') {
    const [first = '', second = ''] = workload.stores;
    const isForth = draw.below(2) === 0;
    const [from, to] = isForth ? [first, second] : [second, first];
    return { kind: 'transfer', id, from, to, key, amount: WORK_DEFAULTS.amount };
  }
  const store = draw.oneOf(workload.stores) ?? WORK_DEFAULTS.store;
  if (workload.kind === 'read-modify-write') return { kind: 'increment', id, store, key };
  const { awaits } = workload;
  return { kind: 'write', id, store, key, value: writtenValue(id, context), awaits };
}

function writtenValue(step: number, { values: { scale, client, section } }: WorkContext): number {
  return client * scale.client + section * scale.section + (scale.section === 1 ? 0 : step);
}

interface StepContext extends WorkContext {
  readonly workload: Workload;
}

/** A step as written, with what was left out drawn. */
function expandStep(step: ReadStep, place: number, context: StepContext): Work {
  const { draw, workload, ttlUs } = context;
  const id = step.id ?? place;
  switch (step.kind) {
    case 'compute':
    case 'transition':
      return { kind: step.kind, id, forUs: step.forUs };
    case 'renew':
      return { kind: 'renew', id, ttlUs: step.ttlUs ?? ttlUs };
    case 'transfer': {
      const [from, to] = transferStores(step, workload.stores);
      const key = step.key ?? draw.oneOf(workload.keys) ?? WORK_DEFAULTS.key;
      return { kind: 'transfer', id, from, to, key, amount: step.amount ?? WORK_DEFAULTS.amount };
    }
    case 'lock':
      return { kind: 'lock', id, lock: step.lock };
    case 'job': {
      const tick = step.tick ?? context.values.section;
      return { kind: 'job', id, tick, retries: step.retries ?? 0, forUs: step.forUs };
    }
    default: {
      const store = step.store ?? draw.oneOf(workload.stores) ?? WORK_DEFAULTS.store;
      const key = step.key ?? draw.oneOf(workload.keys) ?? WORK_DEFAULTS.key;
      if (step.kind === 'memoize') {
        const value = step.value ?? writtenValue(id, context);
        const { forUs, pieces = WORK_DEFAULTS.pieces } = step;
        return { kind: 'memoize', id, store, key, value, forUs, pieces, ...givesUp(step) };
      }
      if (step.kind === 'read') return { kind: 'read', id, store, key };
      if (step.kind === 'increment') {
        return { kind: 'increment', id, store, key, ...byField(step.by) };
      }
      const value = step.value ?? writtenValue(id, context);
      return { kind: 'write', id, store, key, value, awaits: step.awaits ?? workload.awaits };
    }
  }
}
