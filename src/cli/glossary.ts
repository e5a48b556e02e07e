/**
 * Describes the words of fencepost that are in no registry, in alphabetical order, and each kind of
 * trace event. A row has other forms of the word in parentheses, then one or two sentences, then
 * references to other words. `entries.ts` combines these with the registries: claims, faults,
 * locks, stores, commands, settings and others.
 */
import type { TraceEvent } from '../core/history/events.ts';

const TERMS: Readonly<Record<string, string>> = {
  advice:
    'A line below the table of a run about something that no claim of the scenario forbids, and that you may want to know. See no-write-after-release.',
  boundary:
    'How much of something is just enough for a failure, to the microsecond: `breaks with any pause of bob over 10 ms`. The plan keeps the smallest round value beyond it. See shrunk.',
  'broken seeds': 'On how many of the seeds that ran a claim broke. See first seed, breaks.',
  'cause (kind of failure, kinds)':
    'What a failure came from: the rule that broke, and what kind of fault hit what (`pause before release`). Failures of one claim by different causes are different kinds, and shrinking never goes from one to another. See rule, shrunk.',
  claim:
    'One named property that a system promises, such as `grant-order`. Each run is judged by it: it holds, breaks, or is unknown. See holds, breaks, unknown, hazard, rule.',
  client:
    'A process that takes the lock and works under it, section by section. See section, process.',
  connection:
    'How messages travel by default, as in TCP: first in, first out, and no duplicates. What is lost resets it. See datagram, reset.',
  counterexample: 'A plan that breaks a claim. See plan, shrunk.',
  datagram:
    'The other way in which messages travel (`network: { link: datagram }`): independently. They may be lost, duplicated and reordered. See connection, duplicate.',
  digest:
    'The SHA-256 of a trace. Two runs of one plan have the same. See trace, nondeterministic.',
  drift:
    'How much faster or slower than true time a clock runs, in parts per million. See skew, clock.',
  event:
    'One thing that happened in a run, with its time. `fencepost list events` names the kinds. See trace.',
  evidence:
    'The events of a trace that contradict a claim, each with the part that it plays. See rule, trace.',
  exercised:
    'Of a claim, `exercised on 12`: its hazard arose on 12 seeds. A claim that should hold must be exercised on some seed; it counts too where a twin broke it. See hazard, hazard avoided, not judged.',
  'exhausted (exhaustive search, broken plans, first plan, not exhausted)':
    'Of a claim that held: every plan in the stated scope was run, with at most that many faults of those kinds, at every point and message, with lengths on both sides of every threshold. It is not a proof: other latencies, more clients and more faults were not tried. See threshold, plan, broken seeds.',
  'exit code':
    'What a command ends with, never a count: 0 where all is as expected. `fencepost list exits` has them. See expectation, not judged.',
  'expectation (expected, expect)':
    'What a scenario says of a system: claims that must hold on every seed, claims that must break on some, and claims that may. See holds, breaks, may, met, not met, not judged.',
  fault:
    'Something done to the world, as data in a plan: a pause, a delay, a crash, …. `fencepost list faults` names the kinds. See injected, point, swarm.',
  fence:
    'A store that remembers the highest fencing token and refuses what comes with a lower one. See fencing token, fenced, fenced-reads.',
  'fencing token (token)':
    'A number that comes with each grant and is higher than those of all grants before it. Sent along with each access, it lets a store distinguish an old holder from the current one. See fence, grant, tokens-increase.',
  'first seed':
    'The lowest seed on which a claim broke. `fencepost show <scenario> --seed N` shows its run. See seed.',
  'grant (grant number)':
    'One acquisition: the lock is given to one client, mostly for a time. The observer numbers the grants in the order in which they were given. See holder, lease, fencing token.',
  guard:
    'What asynchronous code calls, `section.guard()`, when it counts on its lock from now on. What it does until `leave` is judged. Each guard is an acquisition of its own; `guard.renew()` prolongs one. See section.',
  hazard:
    'What can break a claim. Each claim says what that is: `tested by` in `fencepost list claims`. A claim whose hazard never arose was not exercised, unless it was avoided. See exercised, not judged.',
  'hazard avoided (avoided)':
    'On the same seed a twin broke the claim, and here it held: the sections of the breach were denied, refused, stopped by a test of their lease, or ended normally. That exercises a claim, even if its hazard cannot arise because of the cure. See exercised, twin, not judged.',
  heal: 'The end of all faults: partitions lift, pauses end, servers restart. After it a probe must be served. See probe, progress.',
  history:
    'What clients saw: each operation with its call and its answer, or none. See trace, model, linearizable.',
  holder:
    'The client to which the lock is granted, until it is released or the lease ends. See grant, lease, zombie.',
  'injected (fired)':
    'A fault was injected, or fired, if it happened in the run; a fault in the plan need not. See fault, point.',
  'judged at merge':
    'Of a shard: whether its expectations are met, `fencepost merge` says once it has all of them. See shard, not judged.',
  'kept plan (keep)':
    'A counterexample in a file, mostly in git: a regression test that says which claim it breaks, and by what. See corpus, replay, cause.',
  lease:
    'A grant that expires after its ttl, even if its holder has not noticed. The holder and the lock service may disagree on the end. See ttl, lease test, lease-conservative.',
  'lease test':
    'A client looks at its own clock whether its lease still runs. A pause right after it cannot be seen by it. See lease, checksLease, pause.',
  lock: 'Lets one client work at a time. In a scenario: the protocol by which it is acquired, renewed and released; `fencepost list locks` names them. See store, system, grant.',
  mark: 'A point that a program sets itself, such as `checked`. See point.',
  measured:
    'A number that is reported of a run and not judged, since no lock could promise it: how long two clients believed to hold one lock. See holder-overlap, loss-noticed.',
  met: 'Of an expectation: what should hold held and was exercised, and what should break broke. See exercised, not met, not judged.',
  model:
    'A sequential specification, with which `linearizable` compares a history. See history, linearizable.',
  module: 'A file with a lock, store or claim of your own, which a scenario names under `use`.',
  'monotonic clock':
    'A clock that only runs forwards: a step of the time of day does not move it. See wall clock, drift.',
  never:
    'In the column `tested`: on no seed did the hazard of the claim arise, nor did a twin break it. See not judged, hazard, hazard avoided.',
  'nondeterministic (nondeterminism)':
    'Two runs of one plan gave two traces: something in the code under test is outside of the simulation. See digest.',
  'not judged (not exercised, not tested, untested)':
    'Nothing was proved either way: a claim that should hold was exercised on no seed, its verdict is unknown, or not all seeds ran. It is neither green nor red, and exits with 5. See exercised, vacuous, unknown, hazard avoided.',
  'not met':
    'A claim broke that should hold, or none of the seeds broke one that should break. See expectation, met.',
  'noted grant (GrantRecorder)':
    'A grant, release or renewal that a server itself records with a `GrantRecorder`, as those of fencepost do. Without these records, the commands of your own lock have no known meaning, and some claims are *not judged*. See no-write-after-release, owner-only-release, renew-live, no-orphan, not judged.',
  orphan:
    'A grant that its requester never learned of, since the answer was lost or late: no client releases it. See no-orphan.',
  'pin (pinned)':
    'To make a plan out of one seed in which nothing is left to chance: every latency and fault that was drawn is written down. See plan, shrunk.',
  plan: 'The complete input of one run: the system, what each client does, every fault, the seed. The same plan gives the same trace, byte for byte. See seed, trace, kept plan.',
  point:
    'A named place of a run at which a fault can be injected: `before: alice/1/write`. `fencepost show <scenario> --points` lists them. See mark, section, fault.',
  probe:
    'A fresh client that comes when the world has healed. It must get each lock within twice the ttl, and have its first write accepted. See heal, progress.',
  process:
    'Anything that runs in the simulated world, and can be paused, crashed and skewed: clients and servers. See client, server.',
  report: 'The page that a run writes, with each failure in words and as a picture.',
  rule: 'One way in which a claim can break: `grant-order` breaks by a stale write, a write after a read, or a read of what came later. See claim, cause.',
  'same plan on':
    'What the plan that broke one system does on a twin that must hold: the same clients, work and faults. See twin, plan.',
  scenario:
    'What a person writes: the systems to compare, what is expected of each, who the clients are, what they do, and which faults may happen. See system, expectation, seed.',
  'section (sections, critical section)':
    'One critical section: what a client does under one grant, from enter to leave. `alice/1` is the first of alice. See grant, client.',
  seed: 'A number from which everything that a scenario leaves open is drawn. One seed gives one plan. See plan, scenario, sweep.',
  server: 'A process that answers: a lock service or a store. See process, store.',
  shard:
    'A part of the seeds for one of several machines, `run --shard 1/4`. `fencepost merge` puts them together and judges. See sweep.',
  'shrunk (shrink, shrinking)':
    'A failing plan is made as small as it gets while the same claim breaks by the same cause: fewer clients, events and faults, and round numbers. See cause, boundary, counterexample.',
  skew: 'The difference between the wall clocks of two processes. See drift, wall clock, clock.',
  'stale write':
    'A write under a grant that is over, which comes after one of a later holder and is accepted. See zombie, fence, grant-order, fence-monotone.',
  stampede: 'Several clients compute the same missing value at once. See memoize, single-flight.',
  store:
    'The resource that a lock guards: what clients read and write. `fencepost list stores` names them. See fence, lock.',
  sweep: 'To run and judge many seeds of a scenario. See seed, shard.',
  system:
    'What is under test: a lock, a store and the program of the clients, by a name. See lock, store, scenario.',
  tested:
    'The column of a run that says on how many seeds a claim was exercised: `exercised on 12, hazard avoided on 28`. See exercised, hazard avoided, never.',
  threshold:
    'A length of a fault at which the order of things changes: its end meets a timer, the end of a lease or an arrival. An exhaustive search tries each, a microsecond less, and a microsecond more. See exhausted, boundary.',
  trace: 'The complete output of one run: every event, in order. See event, plan, digest.',
  'twin (sibling)':
    'Another system of the same scenario, usually the same lock without its check, or with it. See system, hazard avoided, same plan on.',
  unknown:
    'Of a call: no answer came, so it may have happened or not. Of a claim: it could not be judged on that run, and the reason is given. See not judged, claim.',
  vacuous:
    'Of a claim that should hold: nothing could break it. A fault never fired, no client ever had the lock, or no hazard arose. See not judged, hazard.',
  verdict:
    'What is said of one claim on one run: it holds, it breaks, or it is unknown. See holds, breaks, unknown.',
  'wall clock':
    'A clock that shows the time of day. It can be wrong, and be stepped back. See monotonic clock, skew, clock.',
  zombie:
    'A holder that goes on after its lease is over, as it was paused or held up and has not noticed. See stale write, lease test, pause.',
};

/** A word that is in no registry. */
export interface Term {
  readonly name: string;
  /** Other forms of the word. */
  readonly also: readonly string[];
  readonly about: string;
  /** References to other words, claims, faults, locks or commands. */
  readonly see: readonly string[];
}

export const terms: readonly Term[] = Object.entries(TERMS).map(([head, text]) => {
  const [, name = head, also = ''] = /^(.*?)(?: \((.*)\))?$/.exec(head) ?? [];
  const [, about = text, see = ''] = /^(.*?)(?: See ([^.]*)\.)?$/.exec(text) ?? [];
  return { name, also: listed(also), about, see: listed(see) };
});

function listed(names: string): readonly string[] {
  return names === '' ? [] : names.split(', ');
}

/** Describes each kind of trace event. A new kind without a row does not type-check. */
export const EVENTS: Readonly<Record<TraceEvent['kind'], string>> = {
  send: 'A message leaves.',
  receive: 'A message is handled by the process that it was sent to.',
  lose: 'A message will never be handled: it was dropped, cut off, reset, or came too late.',
  invoke: 'A call of a client leaves: the begin of an operation.',
  return: 'A client learns how its call ended: ok, fail (it never happened) or info (unknown).',
  fault: 'A fault is injected.',
  resume: 'A pause is over.',
  heal: 'A partition is over.',
  restart: 'A process that crashed runs again.',
  healed: 'The world heals: from here on no fault is injected.',
  mark: 'A program passes a point that it named itself.',
  enter: 'A grant reaches a client: it believes from now on that it holds the lock.',
  leave: 'A client stops believing: it releases, gives up, or learns of an abort.',
  'lease-test': 'A client tests its lease by its own clock.',
  job: 'The body of a job begins, ends, or is skipped, since it ran before.',
  log: 'A program or a server writes a line to its log.',
  grant: 'The lock service gives the lock to a client.',
  deny: 'The lock service denies it, because of the holder that it has.',
  renew: 'The lock service prolongs a lease, or denies to.',
  release: 'The lock service is given a lock back, or denies that it was held.',
  'grant-end': 'The lock service ends a grant of its own accord, and says why.',
  deadlock: 'The lock service finds clients that wait for one another in a circle.',
  deliver: 'A queue delivers a message to a worker, and hides it for a time.',
  write: 'A store handles a write: it accepts or refuses it.',
  read: 'A store handles a read: it serves or refuses it.',
  recovered: 'A store comes back after a crash or failover, or forgot a key.',
  'key-change':
    'A server that keeps keys handles a command on one that was taken as locks are: whose it is.',
};
