/**
 * Measures npm's redlock on simulated Redis nodes with `fixtures/modules/npm-redlock.yaml`, from
 * the seed to the verdicts, against the built-in protocol of the same name.
 */
import { fileURLToPath } from 'node:url';
import { examineSeed } from '../../src/harness.ts';
import { examineSeedAsync } from '../../src/host/async/run-async.ts';
import { loadScenarioFile } from '../../src/host/modules/load-files.ts';
import { loadScenario } from '../../src/load.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { claimsJudged } from '../../src/search/sweep/examiner.ts';
import { formatRatio, measure, type Row, rates, type Subject } from './measure.ts';

const SEEDS = 300;
const SYSTEM = 'acquire';

/** The same clients on the built-in protocol. */
const BUILT_IN = `
name: redlock
systems: { acquire: { lock: redlock, store: unfenced, options: { nodes: 3 } } }
clients: { count: 3, ttl: 1s, sections: 2, think: 0ms..2s, backoff: 200ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
`;

async function* rows(): AsyncIterable<Row> {
  const file = fileURLToPath(new URL('../../fixtures/modules/npm-redlock.yaml', import.meta.url));
  const read = await loadScenarioFile(file);
  const loadedScenario = loadScenario(BUILT_IN, 'redlock.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  if (loadedScenario.kind === 'problems') throw new Error(JSON.stringify(loadedScenario.problems));
  const { scenario, catalogue } = read;
  const claims = claimsJudged([], catalogue);
  const examineBuiltIn = (builtIn: Scenario): void => {
    const judged = claimsJudged([]);
    for (let seed = 0; seed < SEEDS; seed += 1) examineSeed(builtIn, SYSTEM, seed, judged);
  };
  const took = await measure({
    async npm() {
      for (let seed = 0; seed < SEEDS; seed += 1) {
        await examineSeedAsync(scenario, SYSTEM, seed, claims, catalogue);
      }
    },
    builtIn: () => examineBuiltIn(loadedScenario.scenario),
  });
  yield {
    what: 'seeds of npm redlock 5, 3 clients × 2 sections, 3 nodes, all claims',
    ...rates(SEEDS, took('npm')),
    ratio: `${formatRatio(took('npm'), took('builtIn'))} the time of the protocol as a generator`,
    target: '≥ 200/s',
  };
}

export const redlock: Subject = {
  name: 'redlock',
  about: 'npm redlock, unmodified, on three simulated Redis nodes',
  isLong: false,
  rows,
};
