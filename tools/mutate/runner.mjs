// Runs the tests as `npm run mutation` needs them, in one process that loads all modules once. The
// first run (`reach`) records the duration of each test and the mutants that it passes. The second
// (`try`) switches on one mutant after the other, and runs the tests that pass it, quickest first,
// until one fails. Then that test must pass again without the mutant; otherwise the next mutant
// could be blamed for state that this one left behind, so the process ends itself and is restarted.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { TestRunner } from 'vitest';
import { linesOf, reachNotes } from './notes.mjs';

const FOLDER = process.env['FENCEPOST_MUTATION_FOLDER'];
const PART = process.env['FENCEPOST_MUTATION_PART'];
/** The share of the time of all tests that one mutant may take; slow tests come last. */
const SHARE_OF_TIME = 0.1;
const now = performance.now.bind(performance);
const isTrying = process.env['FENCEPOST_MUTATION_STEP'] === 'try';

/** The active mutant, how often it was passed since, and the number that counts as a loop. */
const active = { mutant: -1, hits: 0, limit: 0 };
/** By mutant: passes of its place in this test, or while modules were loaded. */
const counts = { test: new Map(), loading: new Map() };
let current = counts.loading;

/** Called by the switches that plant.mjs writes into the code. */
globalThis.fencepostMutants = {
  isOn(mutant) {
    if (mutant !== active.mutant) return false;
    active.hits += 1;
    if (active.hits > active.limit) throw new Error('an endless loop');
    return true;
  },
  passes: isTrying
    ? () => {}
    : (...mutants) => {
        for (const mutant of mutants) current.set(mutant, (current.get(mutant) ?? 0) + 1);
      },
};

class ReachRunner extends TestRunner {
  onBeforeTryTask(test) {
    super.onBeforeTryTask(test);
    counts.test.clear();
    current = counts.test;
  }

  onAfterRunTask(test) {
    super.onAfterRunTask(test);
    current = counts.loading;
    if (test.result.state !== 'pass') return;
    const passes = Object.fromEntries(counts.test);
    const title = `${test.file.name}: ${test.name}`;
    note(`reach-${process.pid}`, { test: test.id, title, ms: test.result.duration, passes });
  }

  onAfterRunFiles(files) {
    super.onAfterRunFiles(files);
    const [{ filepath }] = files;
    note(`reach-${process.pid}`, { filepath, loading: [...counts.loading.keys()] });
  }
}

class TryRunner extends TestRunner {
  /** The files that vitest has yet to run; each is followed by the file for the next step. */
  queue = [];
  tests = new Map();
  parents = new Map();
  watch = new Watch();

  onBeforeRunFiles(files) {
    const [file] = files.splice(0);
    this.register(file);
    if (file.filepath !== this.workerState.ctx.files.at(-1).filepath) return;
    this.queue = files;
    // Reporters of tests ignore the results of mutants.
    this.onTaskUpdate = () => {};
    this.steps = stepsOf(this.tests);
    this.next();
  }

  register(task) {
    for (const child of task.tasks) {
      this.parents.set(child, task);
      if (child.type === 'suite') this.register(child);
      else if (child.mode === 'run' || child.mode === 'queued') this.tests.set(child.id, child);
    }
  }

  async runTask(test) {
    try {
      await TestRunner.getTestFn(test)();
    } catch {
      // Computing the difference between two traces takes longer than the test.
      throw new Error('red');
    }
  }

  async onAfterRunSuite(suite) {
    await super.onAfterRunSuite(suite);
    if (!('filepath' in suite)) return;
    const { hits, limit } = active;
    this.watch.rest();
    active.mutant = -1;
    const isGreen = this.current.result?.state === 'pass' && hits <= limit;
    this.next({ isGreen, hits });
  }

  /** Skips all tests of a file except the one of the next step, and switches its mutant on. */
  next(ended) {
    const { value: step } = this.steps.next(ended);
    if (step === undefined) return;
    this.current = step.test;
    let task = step.test;
    Object.assign(task, { mode: 'run', result: undefined });
    for (let parent = this.parents.get(task); parent; parent = this.parents.get(parent)) {
      Object.assign(parent, { mode: 'run', result: undefined, tasks: [task] });
      task = parent;
    }
    const { mutant = -1, hits = 0 } = step;
    Object.assign(active, { mutant, hits: 0, limit: 100 * hits + 1000 });
    this.watch.expect(step);
    this.queue.push(task);
  }
}

/** Ends the process if a step takes far longer than without a mutant, as in an endless loop. */
class Watch {
  /** Deadline of the step, in ms as from `Date.now`, and its mutant. */
  shared = new BigInt64Array(new SharedArrayBuffer(16));
  clock = Date.now.bind(Date);

  constructor() {
    const path = new URL('./watch.mjs', import.meta.url);
    const workerData = { shared: this.shared, file: `${FOLDER}/tried-${PART.split('/')[0]}.jsonl` };
    new Worker(path, { workerData }).unref();
  }

  expect({ ms, mutant = -1 }) {
    Atomics.store(this.shared, 1, BigInt(mutant));
    Atomics.store(this.shared, 0, BigInt(Math.round(this.clock() + 8_000 + 6 * ms)));
  }

  rest() {
    Atomics.store(this.shared, 0, 0n);
  }
}

/** Yields each run of one test, with or without a mutant, and receives whether it passed. */
function* stepsOf(tests) {
  const [part, parts] = PART.split('/').map(Number);
  const file = `tried-${part}`;
  const { mutants } = JSON.parse(readFileSync(`${FOLDER}/planted.json`, 'utf8'));
  const earlier = existsSync(`${FOLDER}/${file}.jsonl`) ? linesOf(`${FOLDER}/${file}.jsonl`) : [];
  const ended = new Set(earlier.filter(({ status }) => status).map(({ mutant }) => mutant));
  // Files with a test that fails when repeated, even without a mutant.
  const left = new Set(earlier.flatMap(({ cannotRepeat }) => cannotRepeat ?? []));
  const isLeft = (test) => left.has(tests.get(test).file.filepath);
  const vouched = new Set();
  for (const id of new Set(earlier.flatMap(({ doubt }) => doubt ?? []))) {
    if (isLeft(id)) continue;
    const test = tests.get(id);
    const { isGreen } = yield { test, ms: 60_000 };
    if (isGreen) vouched.add(id);
    else {
      note(file, { cannotRepeat: test.file.filepath });
      left.add(test.file.filepath);
    }
  }
  const crashed = earlier.at(-1)?.begun;
  if (crashed !== undefined) {
    note(file, { mutant: crashed, status: 'Timeout' });
    ended.add(crashed);
  }
  const reach = reachNotes(FOLDER).filter(({ test }) => tests.has(test));
  const mostMs = SHARE_OF_TIME * reach.reduce((sum, { ms }) => sum + ms, 0);
  const mine = mutants.filter((_, at) => at % parts === part).filter(({ id }) => !ended.has(id));
  for (const { id } of mine) {
    note(file, { begun: id });
    const passing = reach.filter(({ test, passes }) => passes[id] > 0 && !isLeft(test));
    let leftMs = mostMs;
    let status = passing.length > 0 ? 'Survived' : 'NoCoverage';
    // A module runs its top-level code only once, even if a test loaded it.
    let isOver = true;
    const from = now();
    for (const { test, ms, passes } of passing) {
      if (leftMs < 0) break;
      leftMs -= ms;
      const { isGreen, hits } = yield { test: tests.get(test), mutant: id, hits: passes[id], ms };
      isOver &&= hits === 0;
      if (isGreen) continue;
      status = 'Killed';
      const again = yield { test: tests.get(test), ms };
      if (again.isGreen) break;
      note(file, vouched.has(test) ? { mutant: id, status, by: test } : { doubt: test, of: id });
      process.kill(process.pid, 'SIGKILL');
    }
    if (status === 'Survived' && isOver) status = 'Ignored';
    note(file, { mutant: id, status, ms: Math.round(now() - from) });
  }
  note(file, { finished: true });
}

function note(file, line) {
  appendFileSync(`${FOLDER}/${file}.jsonl`, `${JSON.stringify(line)}\n`);
}

export default isTrying ? TryRunner : ReachRunner;
