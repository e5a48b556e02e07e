/**
 * The words of fencepost in alphabetical order, each in a sentence or two: what `fencepost explain`
 * says of them, and `docs/glossary.md` word for word. Those of scenarios (locks, stores, claims,
 * faults, …) say themselves what they are; `entries.ts` puts all of them together.
 */
import type { TraceEvent } from '../core/history/trace.ts';

export interface Term {
  readonly about: string;
  /** Other forms of the word. */
  readonly also?: readonly string[];
  /** Where to read on: other words, claims, faults, locks or stores. */
  readonly see?: readonly string[];
}

export const TERMS: Readonly<Record<string, Term>> = {
  advice: {
    about:
      'A line below the table of a run about something that no claim of the scenario forbids, and that you may want to know.',
    see: ['no-write-after-release'],
  },
  avoided: {
    about:
      'What broke a sibling was tried here too, on the same seed and with the same faults, and the sections that it was about were denied, refused, stopped by a test of their lease, or simply came to their end. A claim that should hold counts as tested by that.',
    see: ['met', 'sibling', 'not judged'],
  },
  boundary: {
    about:
      'How much of something is just enough for a failure, to the microsecond: `breaks with any pause of bob over 10 ms`. The plan keeps the smallest round value beyond it.',
    see: ['shrunk'],
  },
  breaks: {
    about:
      'In a scenario, the claims that must break on some seed of a system. Of a run, that it contradicts the claim.',
    see: ['holds', 'claim', 'expectation'],
  },
  'broken seeds': {
    about: 'On how many of the seeds that ran a claim broke.',
    see: ['first seed', 'breaks'],
  },
  cause: {
    about:
      'What a failure came from: the rule that broke, and what kind of fault hit what (`pause before release`). Failures of one claim by different causes are different kinds, and shrinking never goes from one to another.',
    also: ['kind of failure', 'kinds'],
    see: ['rule', 'shrunk'],
  },
  claim: {
    about:
      'One named property that a system promises, such as `grant-order`. Each run is judged by it: it holds, it breaks, or nobody can tell.',
    see: ['holds', 'breaks', 'unknown', 'hazard', 'rule'],
  },
  client: {
    about: 'A process that takes the lock and works under it, section by section.',
    see: ['section', 'process'],
  },
  connection: {
    about:
      'How messages travel by default, as in TCP: first in, first out, and no duplicates. What is lost resets it.',
    see: ['datagram', 'reset'],
  },
  corpus: {
    about:
      'A folder of kept plans in git, by default `plans` beside the scenario. `run` replays those of its scenario before it sweeps.',
    see: ['kept plan', 'replay'],
  },
  counterexample: {
    about: 'A plan that breaks a claim.',
    see: ['plan', 'shrunk'],
  },
  datagram: {
    about:
      'The other way in which messages travel (`network: { link: datagram }`): each by itself. They may be lost, doubled and reordered.',
    see: ['connection', 'duplicate'],
  },
  digest: {
    about: 'The SHA-256 of a trace. Two runs of one plan have the same.',
    see: ['trace', 'nondeterministic'],
  },
  diverged: {
    about:
      'A kept plan names an operation, message or timer that its run no longer has, mostly since it was renamed. `corpus update --rename old=new` follows.',
    see: ['replay', 'kept plan'],
  },
  drift: {
    about: 'How much faster or slower than true time a clock runs, in parts per million.',
    see: ['skew', 'clock'],
  },
  epoch: {
    about: 'What every wall clock shows as a run begins.',
    see: ['wall clock'],
  },
  event: {
    about:
      'One thing that happened in a run, with its time. `fencepost list events` names the kinds.',
    see: ['trace'],
  },
  evidence: {
    about: 'The events of a trace that contradict a claim, each with the part that it plays.',
    see: ['rule', 'trace'],
  },
  exercised: {
    about:
      'How often the hazard of a claim arose. A claim that held was put to the test only where it was exercised.',
    see: ['hazard', 'met', 'not judged'],
  },
  exhausted: {
    about:
      'Of a claim that held: every plan in the scope that is named was examined, with at most so many faults of those kinds, at every point and message, with lengths on both sides of every threshold. It is no proof: other latencies, more clients and more faults were not tried.',
    also: ['exhaustive search', 'broken plans', 'first plan', 'not exhausted'],
    see: ['threshold', 'plan', 'broken seeds'],
  },
  'exit code': {
    about:
      'What a command ends with, never a count: 0 expectations met, 1 not, 2 bad usage or input, 3 the system under test failed to run, 4 nondeterminism, 5 unknown or untested, 130 interrupted. `fencepost list exits` has them.',
    see: ['expectation', 'not judged'],
  },
  expectation: {
    about:
      'What a scenario says of a system: claims that must hold on every seed, claims that must break on some, and claims that may.',
    also: ['expected', 'expect'],
    see: ['holds', 'breaks', 'may', 'met', 'not met', 'not judged'],
  },
  fault: {
    about:
      'Something done to the world, as data in a plan: a pause, a delay, a crash, …. `fencepost list faults` names the kinds.',
    see: ['injected', 'point', 'swarm'],
  },
  fence: {
    about:
      'A store that remembers the highest fencing token and refuses what comes with a lower one.',
    see: ['fencing token', 'fenced', 'fenced-reads'],
  },
  'fencing token': {
    about:
      'A number that comes with each grant and is higher than those of all grants before it. Sent along with each access, it lets a store tell an old holder from the present one.',
    also: ['token'],
    see: ['fence', 'grant', 'tokens-increase'],
  },
  'first seed': {
    about:
      'The lowest seed on which a claim broke. `fencepost show <scenario> --seed N` shows its run.',
    see: ['seed'],
  },
  fixed: {
    about: 'A kept plan whose claim holds now, although its hazard still arises.',
    see: ['replay', 'reproduced', 'inert'],
  },
  grant: {
    about:
      'One acquisition: the lock is given to one client, mostly for a time. The observer numbers the grants in the order in which they were given.',
    also: ['grant number'],
    see: ['holder', 'lease', 'fencing token'],
  },
  guard: {
    about:
      'What asynchronous code calls, `section.guard()`, when it counts on its lock from now on. What it does until `leave` is judged.',
    see: ['section'],
  },
  hazard: {
    about:
      'What can break a claim. Each claim says what that is: `tested by` in `fencepost list claims`. A claim whose hazard never arose was not tested.',
    see: ['exercised', 'met', 'not judged'],
  },
  heal: {
    about:
      'The end of all faults: partitions lift, pauses end, servers restart. After it a probe must be served.',
    see: ['probe', 'progress'],
  },
  history: {
    about: 'What clients saw: each operation with its call and its answer, or none.',
    see: ['trace', 'model', 'linearizable'],
  },
  holder: {
    about: 'The client to which the lock is granted, until it is released or the lease ends.',
    see: ['grant', 'lease', 'zombie'],
  },
  holds: {
    about:
      'In a scenario, the claims that must hold on every seed of a system, and be put to the test. Of a run, that it does not contradict the claim.',
    see: ['breaks', 'not judged', 'expectation'],
  },
  inert: {
    about:
      'A kept plan that still runs, but in which the hazard of its claim no longer arises: it guards nothing any more.',
    see: ['replay', 'hazard', 'fixed'],
  },
  injected: {
    about:
      'A fault was injected, or fired, where it really happened in the run, and not only stood in the plan.',
    also: ['fired'],
    see: ['fault', 'point'],
  },
  'kept plan': {
    about:
      'A counterexample in a file, mostly in git: a regression test that says which claim it breaks, and by what.',
    also: ['keep'],
    see: ['corpus', 'replay', 'cause'],
  },
  lease: {
    about:
      'A grant that ends by itself after its ttl, whether its holder has noticed or not. What the holder takes for the end and what the lock service does may differ.',
    see: ['ttl', 'lease test', 'lease-conservative'],
  },
  'lease test': {
    about:
      'A client looks at its own clock whether its lease still runs. A pause right after it cannot be seen by it.',
    see: ['lease', 'checksLease', 'pause'],
  },
  lock: {
    about:
      'What lets one client work at a time. In a scenario the protocol by which it is taken, kept and given back; `fencepost list locks` names them.',
    see: ['store', 'system', 'grant'],
  },
  mark: {
    about: 'A point that a program sets itself, such as `checked`.',
    see: ['point'],
  },
  may: {
    about:
      'In a scenario, the claims that may break: a break is counted and told, and fails nothing.',
    see: ['breaks', 'holds', 'expectation'],
  },
  measured: {
    about:
      'A number that is reported of a run and not judged, since no lock could promise it: how long two clients believed to hold one lock.',
    see: ['holder-overlap', 'loss-noticed'],
  },
  met: {
    about:
      'Of a claim, `met on 12`: its hazard arose on 12 seeds. Of an expectation: what should hold held and was tested, and what should break broke.',
    see: ['hazard', 'avoided', 'not met', 'not judged'],
  },
  model: {
    about: 'A sequential specification, with which `linearizable` compares a history.',
    see: ['history', 'linearizable'],
  },
  module: {
    about: 'A file with a lock, store or claim of your own, which a scenario names under `use`.',
  },
  'monotonic clock': {
    about: 'A clock that only runs forwards: a step of the time of day does not move it.',
    see: ['wall clock', 'drift'],
  },
  mutant: {
    about: 'A system with one planted mistake. `fencepost mutants` shows that each is found.',
  },
  never: {
    about:
      'In the column `tested`: on no seed did the hazard of the claim arise, and nothing that broke a sibling was avoided.',
    see: ['not judged', 'hazard', 'avoided'],
  },
  nondeterministic: {
    about:
      'Two runs of one plan gave two traces: something in the code under test is outside of the simulation.',
    also: ['nondeterminism'],
    see: ['digest'],
  },
  'not judged': {
    about:
      'Nothing was proved either way: a claim that should hold was never put to the test, its verdict is unknown, or not all seeds ran. It is neither green nor red, and exits with 5.',
    also: ['not tested', 'untested'],
    see: ['hazard', 'vacuous', 'unknown', 'avoided'],
  },
  'not met': {
    about: 'A claim broke that should hold, or none of the seeds broke one that should break.',
    see: ['expectation', 'met'],
  },
  'noted grant': {
    about:
      'A grant, release or renewal that a server itself notes in a `GrantBook`, as those of fencepost do. What a command means to a lock of your own nobody knows otherwise: there some claims are *not judged*.',
    also: ['GrantBook', 'grant book'],
    see: ['no-write-after-release', 'owner-only-release', 'renew-live', 'no-orphan', 'not judged'],
  },
  orphan: {
    about:
      'A grant that its requester was never told of, since the answer was lost or late: nobody gives it back.',
    see: ['no-orphan'],
  },
  pin: {
    about:
      'To make a plan out of one seed in which nothing is left to chance: every latency and fault that was drawn is written down.',
    also: ['pinned'],
    see: ['plan', 'shrunk'],
  },
  plan: {
    about:
      'The complete input of one run: the system, what each client does, every fault, the seed. The same plan gives the same trace, byte for byte.',
    see: ['seed', 'trace', 'kept plan'],
  },
  point: {
    about:
      'A named place of a run at which a fault can be injected: `before: alice/1/write`. `fencepost show <scenario> --points` lists them.',
    see: ['mark', 'section', 'fault'],
  },
  probe: {
    about:
      'A fresh client that comes when the world has healed. It must get each lock within twice the ttl, and have its first write accepted.',
    see: ['heal', 'progress'],
  },
  process: {
    about:
      'Anything that runs in the simulated world, and can be paused, crashed and skewed: clients and servers.',
    see: ['client', 'server'],
  },
  replay: {
    about:
      'To run a kept plan again, and see what became of its claim: reproduced, fixed, inert or diverged.',
    see: ['reproduced', 'fixed', 'inert', 'diverged', 'nondeterministic'],
  },
  report: {
    about: 'The page that a run writes, with each failure in words and as a picture.',
  },
  reproduced: {
    about:
      'A kept plan that still breaks its claim. If it does so by another cause than it was kept for, that is said.',
    see: ['replay', 'cause'],
  },
  rule: {
    about:
      'One way in which a claim can break: `grant-order` breaks by a stale write, a write after a read, or a read of what came later.',
    see: ['claim', 'cause'],
  },
  'same plan on': {
    about:
      'What the plan that broke one system does on a sibling that must hold: the same clients, work and faults.',
    see: ['sibling', 'plan'],
  },
  scenario: {
    about:
      'What a person writes: the systems to compare, what is expected of each, who the clients are, what they do, and which faults may happen.',
    see: ['system', 'expectation', 'seed'],
  },
  section: {
    about:
      'One critical section: what a client does under one grant, from enter to leave. `alice/1` is the first of alice.',
    also: ['sections', 'critical section'],
    see: ['grant', 'client'],
  },
  seed: {
    about:
      'A number from which everything that a scenario leaves open is drawn. One seed gives one plan.',
    see: ['plan', 'scenario', 'sweep'],
  },
  server: {
    about: 'A process that answers: a lock service or a store.',
    see: ['process', 'store'],
  },
  shard: {
    about:
      'A part of the seeds for one of several machines, `run --shard 1/4`. `fencepost merge` puts them together and judges.',
    see: ['sweep'],
  },
  shrunk: {
    about:
      'A failing plan is made as small as it gets while the same claim breaks by the same cause: fewer clients, events and faults, and round numbers.',
    also: ['shrink', 'shrinking'],
    see: ['cause', 'boundary', 'counterexample'],
  },
  sibling: {
    about:
      'Another system of the same scenario, as a rule the same lock without its check, or with it.',
    see: ['system', 'avoided', 'same plan on'],
  },
  skew: {
    about: 'How far the wall clocks of two processes are apart.',
    see: ['drift', 'wall clock', 'clock'],
  },
  'stale write': {
    about:
      'A write under a grant that is over, which comes after one of a later holder and is accepted.',
    see: ['zombie', 'fence', 'grant-order', 'fence-monotone'],
  },
  stampede: {
    about: 'Several clients compute the same missing value at once.',
    see: ['memoize', 'single-flight'],
  },
  store: {
    about:
      'The resource that a lock guards: what clients read and write. `fencepost list stores` names them.',
    see: ['fence', 'lock'],
  },
  swarm: {
    about:
      'Each seed enables a random part of the kinds of fault, so that a loud one does not drown the others.',
    see: ['seed', 'fault'],
  },
  sweep: {
    about: 'To run and judge many seeds of a scenario.',
    see: ['seed', 'shard'],
  },
  system: {
    about: 'What is under test: a lock, a store and the program of the clients, by a name.',
    see: ['lock', 'store', 'scenario'],
  },
  tested: {
    about:
      'The column of a run that says on how many seeds a claim was put to the test: `met on 12, avoided on 28`.',
    see: ['met', 'avoided', 'hazard', 'never'],
  },
  threshold: {
    about:
      'A length of a fault at which the order of things changes: its end meets a timer, the end of a lease or an arrival. An exhaustive search tries each, a microsecond less, and a microsecond more.',
    see: ['exhausted', 'boundary'],
  },
  trace: {
    about: 'The complete output of one run: every event, in order.',
    see: ['event', 'plan', 'digest'],
  },
  unknown: {
    about:
      'Of a call: no answer came, so it may have happened or not. Of a claim: it could not be judged on that run, and the reason is given.',
    see: ['not judged', 'claim'],
  },
  vacuous: {
    about:
      'Of what should hold: nothing was there to break it. A fault never fired, nobody ever had the lock, or no hazard arose.',
    see: ['not judged', 'hazard'],
  },
  verdict: {
    about: 'What is said of one claim on one run: it holds, it breaks, or it is unknown.',
    see: ['holds', 'breaks', 'unknown'],
  },
  'wall clock': {
    about: 'A clock that shows the time of day. It can be wrong, and be stepped back.',
    see: ['monotonic clock', 'skew', 'clock'],
  },
  workload: {
    about: 'What clients do under a grant: a kind, or a list of steps.',
    see: ['section'],
  },
  zombie: {
    about:
      'A holder that goes on after its lease is over, as it was paused or held up and has not noticed.',
    see: ['stale write', 'lease test', 'pause'],
  },
};

/** What each kind of event of a trace says; a new one without a line does not type-check. */
export const EVENTS: Readonly<Record<TraceEvent['kind'], string>> = {
  send: 'A message leaves.',
  receive: 'A message is handled by the process that it was sent to.',
  lose: 'A message will never be handled: it was dropped, cut off, reset, or came too late.',
  invoke: 'A call of a client leaves: the begin of an operation.',
  return:
    'A client learns how its call ended: ok, fail (it never happened) or info (nobody knows).',
  fault: 'A fault is injected.',
  resume: 'A pause is over.',
  heal: 'A partition is over.',
  restart: 'A process that crashed runs again.',
  healed: 'The world heals: from here on no fault is injected.',
  mark: 'A program passes a point that it named itself.',
  enter: 'A grant reaches a client: it believes from now on that it holds the lock.',
  leave: 'A client stops believing: it releases, gives up, or is told of an abort.',
  'lease-test': 'A client tests its lease by its own clock.',
  job: 'The body of a job begins, ends, or is skipped, since it ran before.',
  log: 'A program or a server writes a line to its log.',
  grant: 'The lock service gives the lock to a client.',
  deny: 'The lock service denies it, because of the holder that it has.',
  renew: 'The lock service prolongs a lease, or denies to.',
  release: 'The lock service is given a lock back, or denies that it was held.',
  deadlock: 'The lock service finds clients that wait for one another in a circle.',
  deliver: 'A queue delivers a message to a worker, and hides it for a time.',
  write: 'A store handles a write: it accepts or refuses it.',
  read: 'A store handles a read: it serves or refuses it.',
  recovered: 'A store comes back after a crash or failover, or forgot a key.',
  'key-change':
    'A server that keeps keys handles a command on one that was taken as locks are: whose it is.',
};
