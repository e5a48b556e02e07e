/** The steps of one section: which keys and stores they use, and the values that they write. */
import { assert } from '../core/kernel/assert.ts';
import { WORK_DEFAULTS, type Work } from '../core/plan/plan.ts';
import { completeStep, type Otherwise } from '../core/plan/work-text.ts';
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
    const otherwise = otherwiseDrawn(workload, context);
    return workload.steps.map((step, at) => {
      const work = completeStep(step, at + 1, otherwise);
      assert(work !== undefined, 'a scenario has a value for all that a step leaves out');
      return work;
    });
  }
  const work: Work[] = [];
  for (let id = 1; id <= workload.writesPerGrant; id += 1) {
    work.push(oneStep(workload, id, context));
  }
  return work;
}

/** What a step has that its scenario leaves out: what is drawn, and values of its own. */
function otherwiseDrawn(workload: Workload, context: WorkContext): Otherwise {
  const { draw, values, ttlUs } = context;
  return {
    store: () => draw.oneOf(workload.stores) ?? WORK_DEFAULTS.store,
    key: () => draw.oneOf(workload.keys) ?? WORK_DEFAULTS.key,
    value: (_, id) => writtenValue(id, context),
    ends: (step) => transferStores(step, workload.stores),
    awaits: workload.awaits,
    tick: values.section,
    ttlUs,
  };
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
