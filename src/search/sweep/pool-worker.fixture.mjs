// A worker of the pool that behaves as the scenario's name specifies, and examines nothing.
import { readlinkSync } from 'node:fs';
import { parentPort, threadId, workerData } from 'node:worker_threads';

const { seedCell, examinerUrl, stopCell, beacon } = workerData;
if (examinerUrl === 'dies') throw new Error('no examiner');

const [USER_CODE, FENCEPOST_CODE] = [1, 2];
const head = new Int32Array(beacon, 0, 6);
head[3] = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
head[4] = threadId + 1;

/** Publishes the number of changes, the current activity and its place, as a worker does. */
function say(activity, what) {
  const text = new TextEncoder().encode(what);
  new Uint8Array(beacon, 24).set(text);
  Atomics.store(head, 2, text.length);
  Atomics.store(head, 1, activity);
  Atomics.add(head, 0, 1);
}

function eat() {
  for (const kept = []; ; ) kept.push(Array(1e4).fill(1.5));
}

/** CPU time of the process: that of this thread if the others are idle. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Performs the task that `title` names, and reports that it runs user code meanwhile. */
function perform({ title = 'dies' }) {
  if (title === 'dies early') throw new Error('dies before it says anything');
  if (title !== 'idles') say(title === 'fencepost code' ? FENCEPOST_CODE : USER_CODE, title);
  if (title === 'exits') process.exit();
  if (title === 'eats') eat();
  if (title === 'dies') throw new Error('dies of a task');
  if (title === 'waits') while (Atomics.load(stopCell, 0) === 0);
  const untilMs = performance.now() + 900;
  if (title === 'fencepost code') while (performance.now() < untilMs);
  if (title === 'hangs' || title === 'stays') for (;;);
  parentPort.postMessage({ kind: 'threw', error: title });
}

parentPort.on('message', async ({ scenario, chunk, task }) => {
  if (task !== undefined) return perform(task);
  let seeds = 0;
  for (let seed = chunk.from; seed <= chunk.to; seed += 1) {
    if (chunk.skip.includes(seed)) continue;
    seedCell[0] = seed;
    say(USER_CODE, `seed ${seed}`);
    if (scenario.name === 'events' && seed === 3)
      for (const untilMs = cpuMs() + 600; cpuMs() < untilMs; ) head[5]++;
    if (scenario.name === 'eats' && seed % 10 === 3) eat();
    if (scenario.name === 'reused' && chunk.isReusing && seed === 15) for (;;);
    if (scenario.name === 'hangs' && seed % 10 === 3) for (;;);
    if (scenario.name === 'dies' && seed % 10 === 4) throw new Error(`dies of ${seed}`);
    if (scenario.name === 'keeps' && chunk.isReusing && seed === 15) throw new Error('kept');
    seeds += 1;
  }
  const claims = {};
  const sections = {
    began: 0,
    entered: 0,
    gaveUp: 0,
    refused: 0,
    crashed: 0,
    unguarded: 0,
    failed: [],
    otherFailed: 0,
  };
  const coverage = { contested: 0, shared: 0, toWrite: 0, written: 0, readAfter: 0, readBack: 0 };
  const leases = { shortestUs: null, ofKey: false, early: 0, firstEarly: null };
  const counts = {
    seeds,
    events: threadId,
    broken: 0,
    unknown: 0,
    claims,
    faults: {},
    failures: [],
    overlap: { seeds: 0, longestUs: 0 },
    losses: { seeds: 0, longestUs: 0 },
    stampede: { seeds: 0, computations: 0, most: 0 },
    sections,
    coverage,
    leases,
    unsimulated: { found: [], others: 0 },
    failed: 0,
    killed: 0,
  };
  parentPort.postMessage({
    counts,
    difference: null,
    milliseconds: scenario.name === 'slow' ? 1000 : 0.5,
  });
});
