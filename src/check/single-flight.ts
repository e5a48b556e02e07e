/**
 * Judges `single-flight` from the marks `computing` and `computed` of a memoize. A program that is
 * paused during the computation, or that loses its lock, still counts as computing. Also measures
 * the stampede that a lock should prevent: how many programs compute the same value at once.
 */
import type { FaultInjected, Invoke, Log, Mark, Read } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { entryOf } from '../core/kernel/entries.ts';
import { sectionOf } from '../core/kernel/name.ts';
import { type Claim, defineClaim } from './claim.ts';
import { breachShown, type Cause, causesSince } from './evidence.ts';
import type { GrantLog, Numbered, TraceIndex } from './trace-index.ts';
import type { Breach } from './verdict.ts';

export const singleFlight: Claim = defineClaim({
  name: 'single-flight',
  about: 'no two clients compute one memoized value at once',
  source: 'Go, golang.org/x/sync/singleflight; djblets, cache_memoize(lock=…)',
  hazard: 'computations of a value that another program had read as missing',
  needsNoLock: true,
  rules: ['computed-at-once'],
  judge: (indexed) => {
    const { all, contested } = computationsOf(indexed);
    const second = all.find(({ rivals }) => rivals.length > 0);
    const breach = second === undefined ? null : breachOf(indexed, second);
    return { exercised: contested, breach };
  },
});

/** The computations in a run, over all keys. */
export interface Stampede {
  /** Number of computations that started, finished or not. */
  readonly computations: number;
  /** Largest number of programs that computed one value at once. */
  readonly most: number;
}

export function measureStampede(indexed: TraceIndex): Stampede {
  const { all } = computationsOf(indexed);
  let most = 0;
  for (const { rivals } of all) most = Math.max(most, rivals.length + 1);
  return { computations: all.length, most };
}

interface Computation {
  readonly began: Numbered<Mark>;
  /** The grant under which the program computes, or undefined if there is none. */
  readonly grant: GrantLog | undefined;
  /** The log entry that the program continued without the lock, if any. */
  readonly without: Numbered<Log> | undefined;
  /** Computations of the same value by other programs that were in progress, earliest first. */
  readonly rivals: readonly Computation[];
}

interface Computations {
  readonly all: readonly Computation[];
  /**
   * Number of computations before or during which another program read the key and found no value.
   */
  readonly contested: number;
}

const NONE: Computations = { all: [], contested: 0 };

interface Program {
  /** The place of the key that the section requested last, and therefore computes. */
  place: string;
  grant: GrantLog | undefined;
  without: Numbered<Log> | undefined;
}

/**
 * Finds the computations of a run. A computation is about the last key that its section read, and
 * lasts until `computed` or a crash.
 */
function computationsOf(indexed: TraceIndex): Computations {
  // Checked first, since this is measured on every run and few workloads memoize.
  if (!indexed.marks.some(({ event }) => event.point.endsWith('/computing'))) return NONE;
  const reader = new Reader();
  let index = 0;
  for (const event of indexed.trace.events) {
    switch (event.kind) {
      case 'invoke':
        reader.asks(event);
        break;
      case 'enter': {
        const program = reader.programOf(event.process);
        program.grant = indexed.locks.get(event.lock)?.byNumber.get(event.ordinal);
        program.without = undefined;
        break;
      }
      case 'leave':
        reader.programOf(event.process).grant = undefined;
        break;
      case 'log':
        if (event.topic === 'memoize') reader.programOf(event.process).without = { event, index };
        break;
      case 'read':
        reader.looks(event);
        break;
      case 'fault':
        reader.crashes(event);
        break;
      case 'mark':
        reader.passes({ event, index });
        break;
    }
    index += 1;
  }
  return { all: reader.all, contested: reader.contested.size };
}

class Reader {
  readonly all: Computation[] = [];
  readonly contested: Set<Computation> = new Set();
  private readonly programs: Map<string, Program> = new Map();
  /** By place, the programs whose last read found no value. */
  private readonly missing: Map<string, Set<string>> = new Map();
  /** The computations in progress, by place and program. */
  private readonly open: Map<string, Map<string, Computation>> = new Map();

  programOf(process: string): Program {
    const fresh = { place: '', grant: undefined, without: undefined };
    return entryOf(this.programs, process, () => fresh);
  }

  asks({ process, call }: Invoke): void {
    if (call.verb !== 'read') return;
    const program = this.programOf(process);
    program.place = placeOf([call.store, call.resource, call.key]);
  }

  looks({ process, resource, key, client, value }: Read): void {
    const place = placeOf([process, resource, key]);
    const missing = entryOf(this.missing, place, () => new Set());
    if (value !== 0) {
      missing.delete(client);
      return;
    }
    missing.add(client);
    for (const [program, computation] of this.open.get(place) ?? []) {
      if (program !== client) this.contested.add(computation);
    }
  }

  crashes({ fault, processes }: FaultInjected): void {
    if (fault !== 'crash') return;
    for (const process of processes) {
      this.ends(process);
      this.programs.delete(process);
      for (const missing of this.missing.values()) missing.delete(process);
    }
  }

  passes(began: Numbered<Mark>): void {
    const { process, point } = began.event;
    if (point.endsWith('/computed')) {
      this.ends(process);
      this.programOf(process).without = undefined;
      this.missing.get(this.programOf(process).place)?.delete(process);
    }
    if (!point.endsWith('/computing')) return;
    const { place, grant, without } = this.programOf(process);
    const running = entryOf(this.open, place, () => new Map());
    const computation = { began, grant, without, rivals: [...running.values()] };
    running.set(process, computation);
    this.all.push(computation);
    const missing = this.missing.get(place);
    if (missing !== undefined && missing.size > (missing.has(process) ? 1 : 0)) {
      this.contested.add(computation);
    }
  }

  private ends(process: string): void {
    for (const running of this.open.values()) running.delete(process);
  }
}

function placeOf(names: readonly [store: string, resource: string, key: string]): string {
  return JSON.stringify(names);
}

function breachOf(indexed: TraceIndex, later: Computation): Breach<'computed-at-once'> {
  const [earlier] = later.rivals;
  const without = [earlier, later].flatMap((rival): readonly Cause[] =>
    rival?.without === undefined ? [] : [[withoutRole(indexed, rival.without), rival.without]],
  );
  return breachShown(
    'computed-at-once',
    {
      'earlier grant': earlier?.grant,
      'earlier computation': earlier?.began,
      'later grant': later.grant,
      'later computation': later.began,
    },
    [
      ...without,
      ...(earlier?.grant === undefined ? [] : causesSince(indexed, earlier.grant, later.began)),
    ],
  );
}

/**
 * Returns `denied once` if the client continued without the lock after a single denial, and `wait
 * in vain` otherwise.
 */
function withoutRole(indexed: TraceIndex, without: Numbered<Log>): string {
  const { process } = without.event;
  const before = indexed.trace.events.slice(0, without.index);
  const asked = before.flatMap((event) =>
    event.kind === 'invoke' && event.process === process && event.call.verb === 'acquire'
      ? [event.operation]
      : [],
  );
  const section = sectionOf(asked.at(-1) ?? '');
  const asks = asked.filter((operation) => sectionOf(operation) === section);
  const wasDenied = before.some(
    (event) =>
      event.kind === 'return' && event.operation === asks[0] && event.answer?.kind === 'denied',
  );
  return asks.length === 1 && wasDenied ? 'denied once' : 'wait in vain';
}

/** Returns the key that the computing section read last. */
export function keyComputed(trace: Trace, computing: Mark): string {
  let key = '';
  for (const event of trace.events) {
    if (event === computing) break;
    if (event.kind !== 'invoke' || event.process !== computing.process) continue;
    if (event.call.verb === 'read') key = event.call.key;
  }
  return key;
}
