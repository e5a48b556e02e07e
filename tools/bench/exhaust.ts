/**
 * Measures exhaustive searches over small scopes on one thread: counts and numbers the plans of a
 * scope, then runs and judges each.
 */
import { builtIn } from '../../src/catalogue.ts';
import { examine } from '../../src/harness.ts';
import { watchAsync } from '../../src/host/async/run-async.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { countPlans, NumberedPlans } from '../../src/search/exhaust/exhaust.ts';
import { narrowed } from '../../src/search/exhaust/narrowed.ts';
import { claimsJudged } from '../../src/search/sweep/examiner.ts';
import { measure, type Row, rates, type Subject } from './measure.ts';
import { scenarioOf } from './workload.ts';

/** Two lengths of each fault, one below and one above the ttl. */
const LENGTHS = ['6ms', '14ms'];
const DELAYS = LENGTHS.map((by) => `\n  - delay: { by: ${by}, chance: 1/2 }`);
/** A pause before each operation or at any point, and a delay of any message. */
const BEFORE = ['acquire', 'write', 'release'].flatMap((before) =>
  LENGTHS.map((length) => `\n  - pause: { process: clients, before: ${before}, for: ${length} }`),
);
const ANYWHERE = LENGTHS.map((length) => `\n  - pause: { process: clients, for: ${length} }`);

/** One scope of a search. */
interface Scope {
  readonly clients: number;
  readonly sections: number;
  /** Maximum number of faults. */
  readonly faults: number;
  readonly target: string;
}

const TWO_CLAIMS = ['grant-order', 'linearizable'];

/** The faults to place and the claims to judge. */
interface Searched {
  readonly kinds: string;
  readonly faults: readonly string[];
  readonly claims: readonly string[];
}

async function* rows(): AsyncIterable<Row> {
  const before = {
    kinds: 'pause before, delay',
    faults: [...BEFORE, ...DELAYS],
    claims: TWO_CLAIMS,
  };
  yield await rowOf({ clients: 2, sections: 1, faults: 3, target: '< 5 s' }, before);
  yield await rowOf({ clients: 2, sections: 2, faults: 2, target: '< 1.5 s' }, before);
  yield await rowOf({ clients: 3, sections: 2, faults: 2, target: '< 10 s' }, before);
  const anywhere = { kinds: 'pause, delay', faults: [...ANYWHERE, ...DELAYS], claims: TWO_CLAIMS };
  yield await rowOf({ clients: 2, sections: 1, faults: 2, target: '' }, anywhere);
  const all = { kinds: 'all kinds', faults: [' all'], claims: claimsJudged([]) };
  yield await rowOf({ clients: 2, sections: 1, faults: 1, target: '' }, all);
}

/**
 * Loads a scenario with the faults of all texts. A text can declare one delay for any message, so
 * each length has its own text.
 */
function scenarioWith({ clients, sections, faults }: Scope, texts: readonly string[]): Scenario {
  const scenarios = texts.map((text) =>
    scenarioOf(
      `
name: exhausted
systems:
  unfenced:
    lock: lock-service
    store: unfenced
    clients: { checksLease: true }
    expect: { breaks: [grant-order] }
clients: { count: ${clients}, ttl: 10ms, sections: ${sections}, think: 0ms..0ms, backoff: 5ms }
workload: { kind: blind-writes }
network: { latency: 1ms }
probe: false
faults:${text}
`,
      'exhausted.yaml',
    ),
  );
  const [first] = scenarios;
  if (first === undefined) throw new Error('no faults are given');
  const all = { ...first, faults: scenarios.flatMap((scenario) => scenario.faults) };
  return narrowed(all, { faults, ties: 0, clients: null, sections: null });
}

async function rowOf(scope: Scope, { kinds, faults, claims }: Searched): Promise<Row> {
  const scenario = scenarioWith(scope, faults);
  const watching = { catalogue: builtIn, watch: watchAsync };
  let [plans, broken] = [0, 0];
  const search = async (): Promise<void> => {
    const count = await countPlans(scenario, 'unfenced', watching);
    const numbered = new NumberedPlans(scenario, 'unfenced', count.blocks);
    plans = count.plans;
    broken = 0;
    for (let number = 0; number < plans; number += 1) {
      const { verdicts } = examine(numbered.planOf(number), claims);
      if (verdicts[0]?.kind === 'invalid') broken += 1;
    }
  };
  const took = await measure({ search }, 1);
  const rate = rates(plans, took('search')).cpu;
  const size = `${scope.clients} × ${scope.sections}, ≤ ${scope.faults} faults`;
  return {
    what: `all plans of ${size} of ${kinds}, ${claims.length} claims`,
    cpu: `${(took('search').cpuMs / 1_000).toFixed(1)} s`,
    wall: `${(took('search').wallMs / 1_000).toFixed(1)} s`,
    ratio: `${plans} plans, ${broken} broken, ${rate}`,
    target: scope.target,
  };
}

export const exhaust: Subject = {
  name: 'exhaust',
  about: 'exhaustive searches over small scopes, counting and judging all plans',
  isLong: true,
  rows,
};
