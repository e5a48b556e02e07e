/**
 * Measures the linearizability checker on drawn histories: 10,000 operations of 20 clients, a
 * hundred short logs, and a million operations of a lock.
 */
import type { Json } from '../../src/core/kernel/json.ts';
import { checkHistory } from '../../src/linearizability/check-history.ts';
import { explainHistory } from '../../src/linearizability/explain.ts';
import type { CallData, History, Model, Operation } from '../../src/linearizability/model.ts';
import { fencedMutex } from '../../src/linearizability/models/fenced-mutex.ts';
import {
  type CasRegisterCall,
  casRegister,
  register,
} from '../../src/linearizability/models/register.ts';
import {
  drawCasRegister,
  drawLock,
  drawUniqueRegister,
  type LongShape,
} from '../oracle/long-history.ts';
import { measure, median, type Row, type Subject, timed, times } from './measure.ts';

const LARGE: LongShape = { operations: 10_000, clients: 20 };
const HUGE: LongShape = { operations: 1_000_000, clients: 20 };
const SHORT: LongShape = { operations: 80, clients: 5 };
const FEW_VALUES = 5;
const MANY_VALUES = 20;
const LOGS = 100;
const SEED = 1;

/** The reference, the median of Porcupine's newest version on a small machine, and the target. */
interface Aims {
  readonly reference: string;
  readonly target: string;
}

const LOCK: Aims = { reference: 'Porcupine 110 ms', target: '≤ 100 ms' };
const COMPARED: Aims = { reference: 'Porcupine > 10 s', target: '≤ 1000 ms' };
const UNIQUE: Aims = { reference: 'Porcupine > 10 s, 4 GB', target: '≤ 20 ms' };

async function* rows(): AsyncIterable<Row> {
  const lock = drawLock(SEED, LARGE);
  const compared = drawCasRegister(SEED, LARGE);
  const many = drawCasRegister(SEED, LARGE, MANY_VALUES);
  const unique = drawUniqueRegister(SEED, LARGE);
  const overlapped = { ...LOCK, reference: 'Porcupine > 10 s' };
  yield await rowFor('lock, valid', lock, fencedMutex(), LOCK);
  yield await rowFor('lock, a lowered token', withLoweredToken(lock), fencedMutex(), overlapped);
  yield await rowFor('CAS register, valid', compared, casRegister(0), COMPARED);
  yield await rowFor(
    'CAS register, an invented read',
    inventing(compared),
    casRegister(0),
    COMPARED,
  );
  yield await rowFor(
    'the same of 20 values, a stale read',
    outdated(many, MANY_VALUES),
    casRegister(0),
    COMPARED,
  );
  yield await rowFor('register of unique values, valid', unique, register(0), UNIQUE);
  yield await rowFor('the same, a stale read', withStaleRead(unique), register(0), UNIQUE);
  yield await shortLogsRow();
  yield await coresRow();
  yield await hugeLock();
}

async function rowFor<State extends Json, Call extends CallData>(
  label: string,
  history: History<Call>,
  model: Model<State, Call>,
  { reference, target }: Aims,
): Promise<Row> {
  const verdict = checkHistory(history, model);
  const took = await measure({ check: () => checkHistory(history, model) });
  const effort = `${verdict.kind}, ${verdict.configurations} configurations`;
  const ratio = `${effort}; ${reference}`;
  return { what: `check: ${label}, 10,000`, ...times(took('check'), 1), ratio, target };
}

/** Replaces the first operation after the middle that `change` changes. */
function withChange<Call>(
  history: History<Call>,
  change: (operation: Operation<Call>) => Operation<Call>,
): History<Call> {
  const at = history.findIndex((operation, index) => {
    return index >= history.length / 2 && change(operation) !== operation;
  });
  return history.map((operation, index) => (index === at ? change(operation) : operation));
}

function withLoweredToken(history: ReturnType<typeof drawLock>): typeof history {
  return withChange(history, (operation) => {
    const { call } = operation;
    if (call.name !== 'acquire' || call.token === null) return operation;
    return { ...operation, call: { ...call, token: call.token - 1 } };
  });
}

/** Inserts a read of a value that was never written. */
function inventing(history: ReturnType<typeof drawCasRegister>): typeof history {
  return withChange(history, (operation) => {
    const { call } = operation;
    return call.name === 'read' ? { ...operation, call: { ...call, value: 99 } } : operation;
  });
}

/** Inserts a read of an outdated value, which may have been written long before. */
function outdated(history: ReturnType<typeof drawCasRegister>, values: number): typeof history {
  return withChange(history, (operation) => {
    const { call } = operation;
    if (call.name !== 'read' || typeof call.value !== 'number') return operation;
    const value = (call.value + 1) % values;
    return { ...operation, call: { ...call, value } };
  });
}

function withStaleRead(history: ReturnType<typeof drawUniqueRegister>): typeof history {
  return withChange(history, (operation) => {
    const { call } = operation;
    if (call.name !== 'read' || typeof call.value !== 'number') return operation;
    return { ...operation, call: { ...call, value: call.value - 100 } };
  });
}

/** Logs as short as those of Jepsen; every second one has a wrong read. */
function shortLogs(): readonly History<CasRegisterCall>[] {
  return Array.from({ length: LOGS }, (_, seed) => {
    const log = drawCasRegister(seed, SHORT, FEW_VALUES);
    return seed % 2 === 0 ? log : outdated(log, FEW_VALUES);
  });
}

async function shortLogsRow(): Promise<Row> {
  const model = casRegister(0);
  const logs = shortLogs();
  const took = await measure({ check: () => logs.map((log) => checkHistory(log, model)) });
  return {
    what: `check: ${LOGS} logs of ${SHORT.operations} operations`,
    ...times(took('check'), 1),
    ratio: '',
    target: '≤ 22 ms',
  };
}

/** Measures the sizes of the explanations of invalid logs, and the time to find them. */
async function coresRow(): Promise<Row> {
  const model = casRegister(0);
  const sizes: number[] = [];
  const explainedMs: number[] = [];
  for (const log of shortLogs()) {
    const verdict = checkHistory(log, model);
    if (verdict.kind !== 'invalid') continue;
    const took = await timed(() => {
      const { core } = explainHistory(log, model, verdict);
      sizes.push(core.required.length + core.optional.length);
    });
    explainedMs.push(took.cpuMs);
  }
  return {
    what: `check: cores of the ${sizes.length} invalid ones of these`,
    cpu: `${median(sizes)} operations`,
    wall: '',
    ratio: `at most ${Math.max(...sizes)}, and ${Math.max(...explainedMs).toFixed(1)} ms`,
    target: 'median ≤ 6, each ≤ 200 ms',
  };
}

async function hugeLock(): Promise<Row> {
  const history = drawLock(SEED, HUGE);
  let kind = '';
  const took = await timed(() => {
    kind = checkHistory(history, fencedMutex()).kind;
  });
  const megabytes = process.memoryUsage.rss() / 1_000_000;
  return {
    what: 'check: try-lock, 1,000,000 operations, once',
    ...times(took),
    ratio: `${kind}, ${megabytes.toFixed(0)} MB with the history`,
    target: '≤ 5000 ms, < 1000 MB',
  };
}

export const checker: Subject = {
  name: 'checker',
  about: 'the linearizability checker on long histories',
  isLong: false,
  rows,
};
