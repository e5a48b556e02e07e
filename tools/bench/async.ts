/**
 * Measures real asynchronous code on the virtual clock: events per second, each with the jobs that
 * it runs, the cost of detecting forbidden APIs, and complete runs of a lock client.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Plan } from '../../src/core/plan/plan.ts';
import type { Port } from '../../src/core/world/port.ts';
import type { Server } from '../../src/core/world/server.ts';
import type { AsyncProgram } from '../../src/host/async/async-host.ts';
import { virtualizeGlobals } from '../../src/host/async/globals.ts';
import { type Fill, runFilled } from '../../src/host/async/run-filled.ts';
import { expand } from '../../src/scenario/expand.ts';
import { formatRatio, measure, type Row, rates, type Subject, times } from './measure.ts';
import { fiveByFive, SYSTEM } from './workload.ts';

const EVENTS = 100_000;
const CLIENTS = 4;

/** A plan without clients or faults: only the programs run. */
function bare(): Plan {
  const plan = expand(fiveByFive(), SYSTEM, 0);
  const limits = { ...plan.limits, probe: false, maxEvents: 10 * EVENTS, endUs: 1e12 };
  return { ...plan, clients: [], faults: [], chance: null, limits };
}

/** Three nested asynchronous calls per timer. */
async function nested(depth: number): Promise<void> {
  if (depth === 0) await wait(1);
  else await nested(depth - 1);
}

const waits: AsyncProgram = async () => {
  for (let at = 0; at < EVENTS / CLIENTS; at += 1) await nested(3);
};

/** Callback timers, each with a read of the clock and of the random numbers. */
const callsBack: AsyncProgram = () =>
  new Promise((resolve) => {
    let left = EVENTS / CLIENTS;
    const tick = (): void => {
      left -= 1;
      if (left === 0) resolve();
      else setTimeout(tick, 1 + (Date.now() % 2) + Math.floor(Math.random() * 2));
    };
    tick();
  });

type Empty = Record<string, never>;

class Echo implements Server<Empty, Empty> {
  handle(): Empty {
    return {};
  }
  restart(): void {}
  snapshot(): () => void {
    return () => {};
  }
  evict(): boolean {
    return false;
  }
}

/** Two events per call: the request and the reply arrive. */
function callsOf(port: Port<Empty, Empty>): AsyncProgram {
  return async (context) => {
    const section = context.section(1);
    for (let at = 0; at < EVENTS / 2 / CLIENTS; at += 1) {
      await section.call(port, { label: 'ping', request: {} });
    }
  };
}

const callers: Fill = (_plan, world) => {
  const host = world.world.addServer({ name: 'echo', role: 'store' }, new Echo());
  const program = callsOf({
    host,
    describeRequest: () => ({ verb: 'fetch', lock: 'db', token: 0 }),
    describeReply: () => ({ kind: 'accepted' }),
  });
  for (let at = 0; at < CLIENTS; at += 1) world.addClient(`client-${at}`, program);
};

function allOf(program: AsyncProgram): Fill {
  return (_plan, world) => {
    for (let at = 0; at < CLIENTS; at += 1) world.addClient(`client-${at}`, program);
  };
}

async function* rows(): AsyncIterable<Row> {
  const plan = bare();
  const open = { detectsForbiddenApis: false };
  const took = await measure({
    waits: () => runFilled(plan, allOf(waits)),
    open: () => runFilled(plan, allOf(waits), open),
    callsBack: () => runFilled(plan, allOf(callsBack)),
    calls: () => runFilled(plan, callers),
    empty: () => runFilled(plan, () => {}),
    async hundred() {
      for (let at = 0; at < 100; at += 1) await runFilled(plan, () => {});
    },
    kept: async () => {
      const restore = virtualizeGlobals();
      for (let at = 0; at < 100; at += 1) await runFilled(plan, () => {});
      restore();
    },
  });
  yield {
    what: 'async events, three nested calls each',
    ...rates(EVENTS, took('waits')),
    ratio: `${formatRatio(took('waits'), took('open'))} the time without escapes detected`,
    target: '≥ 300 k/s, ≤ 1.10×',
  };
  yield {
    what: 'async events by callbacks, with Date and Math.random',
    ...rates(EVENTS, took('callsBack')),
    ratio: `${formatRatio(took('callsBack'), took('waits'))} the time of the nested calls`,
    target: '≥ 300 k/s',
  };
  yield {
    what: 'async events of calls to a server, traced',
    ...rates(EVENTS, took('calls')),
    ratio: `${formatRatio(took('calls'), took('waits'))} the time of the nested calls`,
    target: '≥ 300 k/s',
  };
  yield {
    what: 'globals replaced and put back, once',
    ...times(took('empty'), 2),
    ratio: `${formatRatio(took('hundred'), took('kept'))} a run that finds them replaced`,
    target: 'none',
  };
}

export const asyncCode: Subject = {
  name: 'async',
  about: 'real asynchronous code on the virtual clock, and the cost of detecting forbidden APIs',
  isLong: false,
  rows,
};
