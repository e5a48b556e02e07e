/** Measures the cost per event in a crowd: a thousand clients against ten, ten per lock. */
import type { ClientPlan, Plan } from '../../src/core/plan/plan.ts';
import { run } from '../../src/run.ts';
import { expand } from '../../src/scenario/expand.ts';
import { measure, type Row, type Subject } from './measure.ts';
import { fiveByFive, SYSTEM } from './workload.ts';

const CLIENTS_PER_LOCK = 10;
const FEW = 10;
const MANY = 1_000;

/** The plan of seed 0 with `count` clients: ten share a lock, and all share one store. */
function crowdOf(count: number, seed: number): Plan {
  const plan = expand(fiveByFive(), SYSTEM, seed);
  const clients = Array.from({ length: count }, (_, at): ClientPlan | undefined => {
    const pattern = plan.clients[at % plan.clients.length];
    const lock = `db-${Math.floor(at / CLIENTS_PER_LOCK)}`;
    return (
      pattern && {
        ...pattern,
        name: `client-${at}`,
        sections: pattern.sections.map((section) => ({ ...section, lock })),
      }
    );
  });
  return {
    ...plan,
    clients: clients.filter((client) => client !== undefined),
    faults: [],
    limits: { ...plan.limits, probe: false, maxEvents: 10_000_000 },
  };
}

async function* rows(): AsyncIterable<Row> {
  const small = Array.from({ length: MANY / FEW }, (_, seed) => crowdOf(FEW, seed));
  const large = crowdOf(MANY, 0);
  const smallEvents = small.reduce((sum, plan) => sum + run(plan).events.length, 0);
  const largeEvents = run(large).events.length;
  const took = await measure({
    small: () => small.map((plan) => run(plan).events.length),
    large: () => run(large).events.length,
  });
  const smallNs = (took('small').cpuMs * 1e6) / smallEvents;
  const among = took('large');
  const largeNs = (among.cpuMs * 1e6) / largeEvents;
  yield {
    what: `a trace event among ${MANY} clients`,
    cpu: `${largeNs.toFixed(0)} ns`,
    wall: `${((among.wallMs * 1e6) / largeEvents).toFixed(0)} ns`,
    ratio: `${(largeNs / smallNs).toFixed(2)}× one among ${FEW} (${smallNs.toFixed(0)} ns)`,
    target: '≤ 2.5×',
  };
}

export const crowd: Subject = {
  name: 'crowd',
  about: 'the cost of an event with 1,000 clients against 10',
  isLong: false,
  rows,
};
