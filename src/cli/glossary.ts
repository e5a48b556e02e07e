/**
 * Describes each kind of trace event, and the words of fencepost that are in no registry. A row
 * lists other forms of the word in parentheses, explains the word, and ends with references to
 * others.
 */
import type { TraceEvent } from '../core/history/events.ts';

const TERMS: Readonly<Record<string, string>> = {
  advice:
    'A note below the table of a run about behavior that no claim of the scenario forbids. See no-write-after-release.',
  boundary:
    'The smallest value that causes a failure, to the microsecond: `breaks with any pause of bob over 10 ms`. The plan keeps the smallest round value beyond it. See shrunk.',
  'broken seeds': 'The number of seeds on which a claim broke. See first seed, breaks.',
  'cause (kind of failure, kinds)':
    'The cause of a failure: the rule that broke, and the kind of fault with the point it affected (`pause before release`). Failures of one claim by different causes are different kinds, and shrinking never goes from one to another. See rule, shrunk.',
  claim:
    'One named property that a system promises, such as `grant-order`. Each run is judged by it: it holds, breaks, or is unknown. See holds, breaks, unknown, hazard, rule.',
  client:
    'A process that acquires the lock and works under it, section by section. See section, process.',
  connection:
    'The default network link, as in TCP: messages arrive in order and once. A lost message resets it. See datagram, reset.',
  counterexample: 'A plan that breaks a claim. See plan, shrunk.',
  datagram:
    'The other network link (`network: { link: datagram }`): messages travel independently, and may be lost, duplicated and reordered. See connection, duplicate.',
  digest:
    'The SHA-256 of a trace. Two runs of one plan have the same. See trace, nondeterministic.',
  drift:
    'How much faster or slower than true time a clock runs, in parts per million. See skew, clock.',
  event:
    'One thing that happened in a run, with its time. `fencepost list events` names the kinds. See trace.',
  evidence: 'The events of a trace that contradict a claim, each with its role. See rule, trace.',
  exercised:
    'Of a claim, `exercised on 12`: its hazard arose on 12 seeds. A claim that should hold must be exercised on some seed; a seed on which a twin broke it also counts. See hazard, hazard avoided, not judged.',
  'exhausted (exhaustive search, broken plans, first plan, not exhausted)':
    'Of a claim that held: every plan in the stated scope was run, with at most that many faults of those kinds, at every point and message, with lengths on both sides of every threshold. It is not a proof: other latencies, more clients and more faults were not tried. See threshold, plan, broken seeds.',
  'exit code':
    'The result of a command, never a count: 0 if all is as expected. `fencepost list exits` lists them. See expectation, not judged.',
  'expectation (expected, expect)':
    'The claims of a system in a scenario: those that must hold on every seed, must break on some seed, or may break. See holds, breaks, may, met, not met, not judged.',
  fault:
    'A disturbance of the simulated world, as data in a plan: a pause, a delay, a crash, …. `fencepost list faults` names the kinds. See injected, point, swarm.',
  fence:
    'A store that remembers the highest fencing token and refuses requests with a lower one. See fencing token, fenced, fenced-reads.',
  'fencing token (token)':
    'A number that comes with each grant and is higher than the number of every earlier grant. Sent along with each access, it lets a store distinguish an old holder from the current one. See fence, grant, tokens-increase.',
  'first seed':
    'The lowest seed on which a claim broke. `fencepost show <scenario> --seed N` shows its run. See seed.',
  'grant (grant number)':
    'One acquisition: the lock is granted to one client, usually for a limited time. The observer numbers the grants in order. See holder, lease, fencing token.',
  guard:
    'Asynchronous code calls `section.guard()` once it relies on its lock. Its accesses until `leave` are judged. Each guard is a separate acquisition; `guard.renew()` extends it. See section.',
  hazard:
    'The situation that can break a claim: `tested by` in `fencepost list claims`. A claim whose hazard never arose was not exercised, unless it was avoided. See exercised, not judged.',
  'hazard avoided (avoided)':
    'A twin broke the claim on the same seed, but this system kept it: the sections of the breach were denied, refused, stopped by a test of their lease, or ended normally. This exercises the claim, even if the cure prevents its hazard. See exercised, twin, not judged.',
  heal: 'The end of all faults: partitions heal, pauses end, servers restart. Then a probe must be served. See probe, progress.',
  history:
    'The operations that clients observed, each with its call and its answer, or none. See trace, model, linearizable.',
  holder:
    'The client to which the lock is granted, until it is released or the lease ends. See grant, lease, zombie.',
  'injected (fired)':
    'A fault was injected, or fired, if it happened in the run; a fault in the plan need not. See fault, point.',
  'judged at merge':
    'Of a shard: `fencepost merge` judges its expectations, once it has all shards. See shard, not judged.',
  'kept plan (keep)':
    'A counterexample in a file, usually in git: a regression test that names the claim it breaks and the cause. See corpus, replay, cause.',
  lease:
    'A grant that expires after its ttl, even if its holder has not noticed. The holder and the lock service may disagree on the end. See ttl, lease test, lease-conservative.',
  'lease test':
    'A client checks by its own clock that its lease has not ended. It cannot detect a pause right after the test. See lease, checksLease, pause.',
  lock: 'Lets one client work at a time. In a scenario: the protocol by which it is acquired, renewed and released; `fencepost list locks` names them. See store, system, grant.',
  mark: 'A point that a program sets itself, such as `checked`. See point.',
  measured:
    'A number that is reported but not judged, since no lock can guarantee it: how long two clients believed to hold one lock. See holder-overlap, loss-noticed.',
  met: 'Of an expectation: claims that should hold held and were exercised, and claims that should break broke. See exercised, not met, not judged.',
  model:
    'A sequential specification, with which `linearizable` compares a history. See history, linearizable.',
  module: 'A file with a lock, store or claim of your own, which a scenario names under `use`.',
  'monotonic clock':
    'A clock that only runs forwards: a step of the time of day does not move it. See wall clock, drift.',
  never:
    'In the column `tested`: on no seed did the hazard of the claim arise, nor did a twin break it. See not judged, hazard, hazard avoided.',
  'nondeterministic (nondeterminism)':
    'Two runs of one plan gave different traces: the code under test depends on something outside the simulation. See digest.',
  'not judged (not exercised, not tested, untested)':
    'Neither passed nor failed: a claim that should hold was exercised on no seed, its verdict is unknown, or not all seeds ran. The exit code is 5. See exercised, vacuous, unknown, hazard avoided.',
  'not met':
    'A claim broke that should hold, or a claim that should break broke on no seed. See expectation, met.',
  'noted grant (GrantRecorder)':
    'A grant, release or renewal that a server itself records with a `GrantRecorder`, as those of fencepost do. Without these records, the commands of your own lock have no known meaning, and some claims are *not judged*. See no-write-after-release, owner-only-release, renew-live, no-revival, no-orphan, not judged.',
  orphan:
    'A grant that its requester never learned of, since the answer was lost or late: no client releases it. See no-orphan.',
  'pin (pinned)':
    'To turn one seed into a plan without chance, which lists every latency and fault that was drawn. See plan, shrunk.',
  plan: 'The complete input of one run: the system, what each client does, every fault, the seed. The same plan gives the same trace, byte for byte. See seed, trace, kept plan.',
  point:
    'A named place of a run at which a fault can be injected: `before: alice/1/write`. `fencepost show <scenario> --points` lists them. See mark, section, fault.',
  probe:
    'A new client that starts after the world has healed. It must get each lock within twice the ttl, and its first write must be accepted. See heal, progress.',
  process:
    'Anything that runs in the simulated world, and can be paused, crashed and skewed: clients and servers. See client, server.',
  report: 'The page that a run writes, with each failure in words and as a picture.',
  rule: 'One way in which a claim can break: `grant-order` breaks by a stale write, a write after a later read, or a read of a later value. See claim, cause.',
  'same plan on':
    'The result of a plan that broke one system on a twin that must hold, with the same clients, work and faults. See twin, plan.',
  scenario:
    'The file that you write: the systems to compare, their expectations, the clients, their work, and the faults. See system, expectation, seed.',
  'section (sections, critical section)':
    'One critical section: the work of a client under one grant, from enter to leave. `alice/1` is the first of alice. See grant, client.',
  seed: 'The number from which all choices that a scenario leaves open are drawn. One seed gives one plan. See plan, scenario, sweep.',
  server: 'A process that answers: a lock service or a store. See process, store.',
  shard:
    'A part of the seeds for one of several machines, `run --shard 1/4`. `fencepost merge` combines and judges them. See sweep.',
  'shrunk (shrink, shrinking)':
    'Of a failing plan: made as small as possible while the same claim breaks by the same cause: fewer clients, events and faults, and round numbers. See cause, boundary, counterexample.',
  skew: 'The difference between the wall clocks of two processes. See drift, wall clock, clock.',
  'stale write':
    'A write under a grant that has ended, accepted after a write of a later holder. See zombie, fence, grant-order, fence-monotone.',
  stampede: 'Several clients compute the same missing value at once. See memoize, single-flight.',
  store:
    'The resource that a lock guards: what clients read and write. `fencepost list stores` names them. See fence, lock.',
  sweep: 'To run and judge many seeds of a scenario. See seed, shard.',
  system:
    'The named combination under test: a lock, a store and the program of the clients. See lock, store, scenario.',
  tested:
    'The column with the number of seeds on which a claim was exercised: `exercised on 12, hazard avoided on 28`. See exercised, hazard avoided, never.',
  threshold:
    'A length of a fault at which the order of things changes: its end meets a timer, the end of a lease or an arrival. An exhaustive search tries each, a microsecond less, and a microsecond more. See exhausted, boundary.',
  trace: 'The complete output of one run: every event, in order. See event, plan, digest.',
  twin: 'Another system of the same scenario, usually the same lock without its check, or with it. See system, hazard avoided, same plan on.',
  unknown:
    'Of a call: no answer arrived, so it may or may not have been executed. Of a claim: not judged on that run, for the given reason. See not judged, claim.',
  vacuous:
    'Of a claim that should hold: nothing could break it. A fault never fired, no client ever had the lock, or no hazard arose. See not judged, hazard.',
  verdict:
    'The result of one claim on one run: it holds, breaks, or is unknown. See holds, breaks, unknown.',
  'wall clock':
    'A clock that shows the time of day. It can be inaccurate, and can be set back. See monotonic clock, skew, clock.',
  zombie:
    'A holder that continues after its lease has ended, because it was paused or delayed and has not noticed. See stale write, lease test, pause.',
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
  lose: 'A message will never be handled: it was dropped, partitioned, reset, or too late.',
  invoke: 'A client makes a call: an operation begins.',
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
  deny: 'The lock service denies an acquire, because another grant holds the lock.',
  renew: 'The lock service extends a lease, or denies the renew.',
  release: 'The lock service releases a lock, or denies the release.',
  'grant-end': 'The lock service ends a grant without a request, with the reason.',
  deadlock: 'The lock service detects a cycle of clients that wait for each other.',
  deliver: 'A queue delivers a message to a worker, and hides it for a time.',
  write: 'A store handles a write: it accepts or refuses it.',
  read: 'A store handles a read: it serves or refuses it.',
  recovered: 'A store comes back after a crash or failover, or forgot a key.',
  'key-change':
    'A key-value server handles a command on a key that was taken like a lock: its holder may change.',
};
