/**
 * Measures the job queue of simloop's example (github.com/dhruvl/simloop, `examples/jobqueue`),
 * reimplemented. Clients submit jobs to a broker, which leases each job to a worker, counts its
 * attempts, and gives up after three. If a lease is not renewed, it ends and the broker offers the
 * job again after a back-off that doubles. Workers commit to a shared store, which refuses tokens
 * of old leases and a second commit of a job. A worker's section lasts until the broker reports
 * that all jobs have ended. A submitter has one section per job; its think time, at most 20 ms,
 * sets how long the job takes (fifty times as long) and whether it is poison (3 of the 20
 * milliseconds).
 */
import { builtIn, type Catalogue, extend } from '../../src/catalogue.ts';
import type { Ruling } from '../../src/check/custom-claim.ts';
import type { Answer } from '../../src/core/history/call.ts';
import type { Trace } from '../../src/core/history/trace.ts';
import type { PendingCall, ServerHost } from '../../src/core/world/calls.ts';
import { inBackground, type Program, request, sleep } from '../../src/core/world/program.ts';
import { type Boot, LATER, type Server, type Turn } from '../../src/core/world/server.ts';
import { defineSystem } from '../../src/define-system.ts';
import { loadScenario } from '../../src/load.ts';
import { run } from '../../src/run.ts';
import { expand } from '../../src/scenario/expand.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { sweep } from '../../src/search/sweep/sweep.ts';
import { GrantRecorder } from '../../src/systems/grant-recorder.ts';
import { leaseEnd, questionOf } from '../../src/systems/lease.ts';
import type { LockDriver, Section } from '../../src/systems/protocol.ts';
import { measure, type Row, rates, type Subject } from './measure.ts';

const JOBS = 8;
const LEASE_US = 2_000_000;
const WAIT_US = 1_000_000;
const RENEW_US = 500_000;
const ATTEMPTS = 3;
const REQUEUE_US = 500_000;
const RETRY_US = 250_000;
const SUBMIT_TRIES = 6;
const WORKER_TRIES = 4;
/** Think times in ms, of 0 to 20, that mark a poison job. */
const POISON = [4, 10, 16];
const TOPIC = 'queue';
const SEEDS = 500;

const SCENARIO = `
name: simloop-queue
systems:
  fenced:
    lock: job-broker
    store: fenced
    expect: { holds: [no-loss, exactly-once, no-zombie-writes, convergence] }
  trusting:
    lock: job-broker
    store: fenced
    options: { effects: trusting }
    expect: { breaks: [exactly-once, no-zombie-writes], holds: [no-loss] }
clients:
  names: [c1, c2, w1, w2, w3]
  ttl: 2s
  sections: 4
  think: 1ms..20ms
  attempts: 1
  lockTimeout: 1s
workload:
  steps: [{ compute: 1ms }]
network: { latency: 10ms..50ms }
probe: false
swarm: false
time: 60s
faults:
  - partition: { from: w1, to: lock, at: 500ms..3s, for: 500ms..4s }
  - partition: { from: w2, to: lock, at: 1500ms..10s, for: 500ms..4s }
  - partition: { from: w3, to: lock, at: 2500ms..17s, for: 500ms..4s }
  - crash: { process: w1, at: 3500ms..23s, restart: 1ms, chance: 1/3 }
  - crash: { process: w2, at: 3500ms..23s, restart: 1ms, chance: 1/3 }
  - crash: { process: w3, at: 3500ms..23s, restart: 1ms, chance: 1/3 }
`;

/** A job as its client submits it. */
type Load = {
  readonly job: string;
  readonly forUs: number;
  readonly isPoison: boolean;
};

type Ask =
  | { readonly kind: 'submit'; readonly load: Load }
  | { readonly kind: 'acquire' }
  | { readonly kind: 'renew' | 'complete'; readonly job: string; readonly token: number };

type Reply =
  | { readonly kind: 'done' | 'refused' | 'empty' | 'drained' }
  | { readonly kind: 'leased'; readonly load: Load; readonly token: number };

interface Job {
  readonly load: Load;
  state: 'queued' | 'leased' | 'done' | 'dead';
  token: number;
  readyUs: number;
  endUs: number;
}

class Broker implements Server<Ask, Reply> {
  private readonly jobs: Map<string, Job> = new Map();
  /** Jobs that wait for a worker. */
  private order: Job[] = [];
  /** Workers that wait for a job. */
  private waiting: Turn<Reply>[] = [];
  private readonly recorder: GrantRecorder = new GrantRecorder('lock');

  handle(ask: Ask, turn: Turn<Reply>): Reply | typeof LATER {
    switch (ask.kind) {
      case 'submit':
        return this.submit(ask.load, turn);
      case 'acquire':
        return this.acquire(turn);
      case 'renew':
        return this.renew(ask, turn);
      case 'complete':
        return this.complete(ask, turn);
    }
  }

  private submit(load: Load, turn: Turn<Reply>): Reply {
    if (this.jobs.has(load.job)) return { kind: 'done' };
    const job: Job = { load, state: 'queued', token: 0, readyUs: 0, endUs: 0 };
    this.jobs.set(load.job, job);
    this.order.push(job);
    log(turn, `submitted ${load.job}`);
    this.serve(turn);
    return { kind: 'done' };
  }

  private acquire(turn: Turn<Reply>): Reply | typeof LATER {
    if (this.isDrained()) return { kind: 'drained' };
    this.waiting.push(turn);
    turn.setTimer({ label: 'wait', afterUs: WAIT_US }, () => {
      this.waiting = this.waiting.filter((other) => other !== turn);
      turn.answer({ kind: 'empty' });
    });
    this.serve(turn);
    return LATER;
  }

  /** Leases ready jobs to waiting workers, both in order. */
  private serve(now: Boot): void {
    for (;;) {
      const job = this.order.find(({ readyUs }) => readyUs <= now.monotonicUs);
      const turn = job && this.waiting.shift();
      if (job === undefined || turn === undefined) return;
      this.order = this.order.filter((other) => other !== job);
      this.lease(job, turn, now);
    }
  }

  private lease(job: Job, turn: Turn<Reply>, now: Boot): void {
    job.state = 'leased';
    job.token += 1;
    this.prolong(job, turn, now);
    const { load, token } = job;
    this.recorder.grant(turn, { ...termsOf(job, turn), token }, now.atUs);
    turn.answer({ kind: 'leased', load, token });
  }

  private prolong(job: Job, turn: Turn<Reply>, now: Boot): void {
    job.endUs = now.monotonicUs + LEASE_US;
    const { token } = job;
    const afterUs = job.endUs - now.monotonicUs;
    turn.setTimer({ label: 'expiry', afterUs }, (boot) => this.expire(job, token, { turn, boot }));
  }

  private expire(job: Job, token: number, { turn, boot }: { turn: Turn<Reply>; boot: Boot }): void {
    if (job.state !== 'leased' || job.token !== token || job.endUs > boot.monotonicUs) return;
    if (job.token >= ATTEMPTS) {
      this.end(job, 'dead', boot);
      return;
    }
    const afterUs = REQUEUE_US * 2 ** (job.token - 1);
    job.state = 'queued';
    job.readyUs = boot.monotonicUs + afterUs;
    this.order.push(job);
    turn.setTimer({ label: 'requeue', afterUs }, (later) => this.serve(later));
  }

  private renew({ job: name, token }: { job: string; token: number }, turn: Turn<Reply>): Reply {
    const job = this.jobs.get(name);
    if (job === undefined || job.state !== 'leased' || job.token !== token) {
      return { kind: 'refused' };
    }
    this.prolong(job, turn, turn);
    this.recorder.renew(turn, { ...termsOf(job, turn), isEffective: true });
    return { kind: 'done' };
  }

  private complete({ job: name, token }: { job: string; token: number }, turn: Turn<Reply>): Reply {
    const job = this.jobs.get(name);
    if (job?.state === 'done') return { kind: 'done' };
    const isEffective = job?.state === 'leased' && job.token === token;
    this.recorder.release(turn, { lock: name, client: turn.client, isEffective });
    if (job === undefined || !isEffective) return { kind: 'refused' };
    this.end(job, 'done', turn);
    return { kind: 'done' };
  }

  private end(job: Job, state: 'done' | 'dead', now: Boot): void {
    job.state = state;
    log(now, `${state} ${job.load.job}`);
    if (!this.isDrained()) return;
    for (const turn of this.waiting.splice(0)) turn.answer({ kind: 'drained' });
  }

  private isDrained(): boolean {
    const ended = [...this.jobs.values()].filter(
      ({ state }) => state === 'done' || state === 'dead',
    );
    return ended.length === JOBS;
  }
}

function termsOf(job: Job, turn: Turn<Reply>): Parameters<GrantRecorder['grant']>[1] {
  const { load, token, endUs } = job;
  const untilUs = turn.trueTimeOf('monotonic', endUs);
  return { lock: load.job, client: turn.client, token, ttlUs: LEASE_US, untilUs };
}

function log(boot: Boot, text: string): void {
  boot.observe({ kind: 'log', atUs: boot.atUs, process: 'lock', topic: TOPIC, text });
}

/** A store shared by all workers, like the stand-in of simloop's example. */
class Effects {
  private readonly newest: Map<string, number> = new Map();
  private readonly committed: Set<string> = new Set();
  /** If false, it accepts every write. */
  private readonly compares: boolean;

  constructor(compares: boolean) {
    this.compares = compares;
  }

  begin(job: string, token: number): boolean {
    if (this.compares && token < (this.newest.get(job) ?? 0)) return false;
    this.newest.set(job, token);
    return true;
  }

  commit(job: string, token: number): 'fresh' | 'stale' | 'repeated' {
    if (!this.begin(job, token)) return 'stale';
    if (this.compares && this.committed.has(job)) return 'repeated';
    this.committed.add(job);
    return 'fresh';
  }
}

class QueueClient implements LockDriver {
  private readonly broker: ServerHost<Ask, Reply>;
  private readonly effects: Effects;
  private isDrained = false;

  constructor(broker: ServerHost<Ask, Reply>, effects: Effects) {
    this.broker = broker;
    this.effects = effects;
  }

  *acquire(at: Section): Program<'given up'> {
    if (at.plan.name.startsWith('c')) yield* this.submit(at);
    else while (!this.isDrained) yield* this.workOnce(at);
    return 'given up';
  }

  *release(): Program<void> {}

  private *submit(at: Section): Program<void> {
    const { thinkUs } = at.section;
    const job = at.name.text;
    const load = {
      job,
      forUs: thinkUs * 50,
      isPoison: POISON.includes(Math.floor(thinkUs / 1_000)),
    };
    const call = yield* this.ask(at, { verb: 'send', ask: { kind: 'submit', load }, job });
    if (call !== null) at.self.log(TOPIC, `acknowledged ${job}`);
  }

  private *workOnce(at: Section): Program<void> {
    const [sentUs, issuedAtUs] = [at.self.monotonicUs(), at.self.wallUs()];
    const call = yield* this.ask(at, { verb: 'acquire', ask: { kind: 'acquire' }, job: 'jobs' });
    this.isDrained = call?.reply?.kind === 'drained';
    if (call?.reply?.kind !== 'leased') return;
    const { load, token } = call.reply;
    const { job: lock } = load;
    if (!this.effects.begin(lock, token)) return;
    at.end = leaseEnd(at, { sentUs, issuedAtUs, ttlUs: LEASE_US });
    at.self.enter({ section: at.name, lock, ordinal: call.granted, token, end: at.end });
    const renewing = yield* inBackground(this.renewing(at, lock, token));
    yield* this.execute(at, load, token);
    renewing.stop();
    at.self.leave();
  }

  private *execute(at: Section, load: Load, token: number): Program<void> {
    const { job } = load;
    yield* sleep(at.nextName('execute'), load.forUs);
    if (load.isPoison) return;
    const effect = this.effects.commit(job, token);
    at.self.log(TOPIC, `${effect} ${job} ${token}`);
    if (effect === 'stale') return;
    yield* this.ask(at, { verb: 'release', ask: { kind: 'complete', job, token }, job });
  }

  private *renewing(at: Section, job: string, token: number): Program<void> {
    for (;;) {
      yield* sleep(at.nextName('beat'), RENEW_US);
      yield* this.ask(at, { verb: 'renew', ask: { kind: 'renew', job, token }, job });
    }
  }

  /** Repeats a request with growing delays until it is answered; returns null if it never is. */
  private *ask(
    at: Section,
    {
      verb,
      ask,
      job: lock,
    }: { verb: 'send' | 'acquire' | 'renew' | 'release'; ask: Ask; job: string },
  ): Program<PendingCall<Ask, Reply> | null> {
    const token = 'token' in ask ? ask.token : 0;
    const tries = ask.kind === 'submit' ? SUBMIT_TRIES : WORKER_TRIES;
    const question = { verb, lock, token, target: this.broker, request: ask, tries: 1, describe };
    for (let failed = 0; failed < tries; failed += 1) {
      const call = yield* request(at.self, questionOf(at, at.nextName(ask.kind), question));
      if (call.reply !== null) return call;
      yield* sleep(at.nextName('retry'), RETRY_US * 2 ** failed);
    }
    return null;
  }
}

function describe(reply: Reply): Answer {
  switch (reply.kind) {
    case 'leased':
      return { kind: 'granted', token: reply.token };
    case 'done':
      return { kind: 'accepted' };
    default:
      return { kind: 'denied', holder: '' };
  }
}

type Numbers = Map<string, number[]>;
/** Logged events of the latest trace, by word: the four claims judge one trace in succession. */
let latest: { readonly trace: Trace; readonly latest: Map<string, Numbers> } | null = null;

/** Returns the events that logged `word`, by job: `fresh` of `fresh c1/2 1`. */
function numbersOf(trace: Trace, word: string): Numbers {
  if (latest?.trace !== trace) latest = { trace, latest: indexWords(trace) };
  return latest.latest.get(word) ?? new Map();
}

function indexWords({ events }: Trace): Map<string, Numbers> {
  const byWord = new Map<string, Numbers>();
  events.forEach((event, number) => {
    if (event.kind !== 'log' || event.topic !== TOPIC) return;
    const [word = '', job = ''] = event.text.split(' ');
    const jobs: Numbers = byWord.get(word) ?? new Map();
    byWord.set(word, jobs.set(job, [...(jobs.get(job) ?? []), number]));
  });
  return byWord;
}

/** Breaks at the first job that is wrong. */
function ruling(
  byWord: Map<string, number[]>,
  { isWrong, headline }: { isWrong: (job: string, events: number[]) => boolean; headline: string },
): Ruling {
  const [wrong] = [...byWord].filter(([job, events]) => isWrong(job, events));
  if (wrong === undefined) return { exercised: byWord.size };
  const evidence = wrong[1].map((event) => ({ event, role: 'told' }));
  return { exercised: byWord.size, breach: { headline, evidence } };
}

function endedIn(trace: Trace, word: string, headline: string): Ruling {
  const [done, dead] = [numbersOf(trace, 'done'), numbersOf(trace, 'dead')];
  const isWrong = (job: string): boolean => !done.has(job) && !dead.has(job);
  return ruling(numbersOf(trace, word), { isWrong, headline });
}

/** The four invariants that the example checks at the end of a run. */
const CLAIMS = {
  'no-loss': {
    about: 'each job that was acknowledged ends done or dead',
    judge: (trace: Trace) => endedIn(trace, 'acknowledged', 'An acknowledged job was lost'),
  },
  'exactly-once': {
    about: 'each job that is done was committed once, and no job twice',
    judge: (trace: Trace) => {
      const fresh = numbersOf(trace, 'fresh');
      const twice = (_: string, events: number[]): boolean => events.length > 1;
      const committed = ruling(fresh, { isWrong: twice, headline: 'A job was committed twice' });
      if (committed.breach !== undefined) return committed;
      const isWrong = (job: string): boolean => !fresh.has(job);
      return ruling(numbersOf(trace, 'done'), { isWrong, headline: 'Done, and never committed' });
    },
  },
  'no-zombie-writes': { about: 'no commit under an old lease is accepted', judge: noZombie },
  convergence: {
    about: 'nothing is left queued or leased',
    judge: (trace: Trace) => endedIn(trace, 'submitted', 'A job never ended'),
  },
};

function noZombie(trace: Trace): Ruling {
  const newest = new Map<string, number>();
  const [fresh, wrong] = [numbersOf(trace, 'fresh'), new Set<string>()];
  trace.events.forEach((event, number) => {
    if (event.kind === 'enter') newest.set(event.lock, event.token);
    if (event.kind !== 'log' || event.topic !== TOPIC) return;
    const [, job = '', text] = event.text.split(' ');
    const token = Number(text);
    if (fresh.get(job)?.includes(number) && token < (newest.get(job) ?? 0)) wrong.add(job);
  });
  return ruling(fresh, { isWrong: (job) => wrong.has(job), headline: 'A stale commit was taken' });
}

const EFFECTS = {
  name: 'effects',
  values: ['checked', 'trusting'],
  fallback: 'checked',
  about: 'refuse old tokens and second commits',
} as const;

export const catalogue: Catalogue = extend(
  builtIn,
  defineSystem({
    claims: CLAIMS,
    locks: {
      'job-broker': {
        about: 'a broker that leases jobs, reassigns them, and gives them up',
        options: [EFFECTS],
        build(world, options) {
          const broker = world.addServer({ name: 'lock', role: 'lock' }, new Broker());
          const effects = new Effects(options.word(EFFECTS.name) === 'checked');
          return () => new QueueClient(broker, effects);
        },
      },
    },
  }),
);

/** Loads the scenario with `faults` appended to its text. */
export function queueScenario(faults = ''): Scenario {
  const read = loadScenario(`${SCENARIO}${faults}`, 'simloop-queue.yaml', catalogue);
  if (read.kind === 'scenario') return read.scenario;
  throw new Error(`simloop-queue does not load: ${JSON.stringify(read.problems)}`);
}

async function* rows(): AsyncIterable<Row> {
  const all = queueScenario();
  const scenario = { ...all, systems: all.systems.filter(({ name }) => name === 'fenced') };
  const plans = Array.from({ length: SEEDS }, (_, seed) => expand(scenario, 'fenced', seed));
  const traces = plans.map((plan) => run(plan, catalogue));
  const events = traces.flatMap((trace) => trace.events);
  const countOf = (kind: string): number => events.filter((event) => event.kind === kind).length;
  const handled = countOf('receive');
  const took = await measure({
    sweep: async () => {
      const range = { from: 0, to: SEEDS - 1, pool: null, catalogue };
      const { countsBySystem } = await sweep(scenario, range);
      const failure = countsBySystem.get('fenced')?.failures[0];
      if (failure !== undefined) throw new Error(`seed ${failure.seed}: ${failure.error}`);
    },
    run: () => plans.map((plan) => run(plan, catalogue).events.length),
  });
  const each = (count: number): string => (count / SEEDS).toFixed(1);
  yield {
    what: `seeds of simloop's queue, ${JOBS} jobs, ${each(events.length)} events, all claims`,
    ...rates(SEEDS, took('sweep')),
    ratio: `${each(countOf('grant'))} leases, ${each(handled)} messages handled per seed`,
    target: '≥ 50 × simloop',
  };
  yield {
    what: 'messages handled in those sweeps',
    ...rates(handled, took('sweep')),
    ratio: `${((100 * took('run').cpuMs) / took('sweep').cpuMs).toFixed(0)} % of it for the runs`,
    target: '',
  };
}

export const queue: Subject = {
  name: 'queue',
  about: "simloop's example: jobs, leases, retries and dead letters",
  isLong: false,
  rows,
};
