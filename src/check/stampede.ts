/**
 * Decides who computed a memoized value when, and measures what a lock around it is for: how many
 * programs compute the same value at once. The claim on it is `single-flight`.
 */
import type { Read } from '../core/history/server-events.ts';
import type { FaultStrikes, Invoke, Log, Mark } from '../core/history/trace.ts';
import type { GrantLog, Numbered, Survey } from './survey.ts';

/** Over all keys of a run. */
export interface Stampede {
  /** How often a value was computed, from the beginning or to the end. */
  readonly computations: number;
  /** Programs that computed one value at once, at most. */
  readonly most: number;
}

/** A program begins to compute the value of `key`. */
export interface Computation {
  readonly began: Numbered<Mark>;
  readonly key: string;
  /** The grant under which it computes; undefined without one. */
  readonly grant: GrantLog | undefined;
  /** Where it says that it goes on without the lock, if it does. */
  readonly without: Numbered<Log> | undefined;
  /** Those by others, of the same value, that had begun and not ended, the first one first. */
  readonly rivals: readonly Computation[];
}

export interface Computations {
  readonly all: readonly Computation[];
  /** How many of them another program missed the value of, before they began or meanwhile. */
  readonly contested: number;
}

/** What is known of each program while the trace is read. */
interface Program {
  /** The last key that its section asked for: the one that it computes. */
  place: string;
  key: string;
  grant: GrantLog | undefined;
  without: Numbered<Log> | undefined;
}

/**
 * A computation is open from its mark `computing` to its mark `computed`, or the crash of its
 * program, and of the key that its section read last.
 */
export function computationsOf(survey: Survey): Computations {
  const reader = new Reader();
  let index = 0;
  for (const event of survey.trace.events) {
    switch (event.kind) {
      case 'invoke':
        reader.asks(event);
        break;
      case 'enter': {
        const program = reader.programOf(event.process);
        program.grant = survey.locks.get(event.lock)?.byOrdinal.get(event.ordinal);
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
  /** By place: the programs that found no value there when they looked last. */
  private readonly missing: Map<string, Set<string>> = new Map();
  /** By place and program. */
  private readonly open: Map<string, Map<string, Computation>> = new Map();

  programOf(process: string): Program {
    const known = this.programs.get(process);
    if (known !== undefined) return known;
    const fresh = { place: '', key: '', grant: undefined, without: undefined };
    this.programs.set(process, fresh);
    return fresh;
  }

  asks({ process, call }: Invoke): void {
    if (call.verb !== 'read') return;
    const program = this.programOf(process);
    program.place = placeOf([call.store, call.resource, call.key]);
    program.key = call.key;
  }

  looks({ process, resource, key, client, value }: Read): void {
    const place = placeOf([process, resource, key]);
    const missing = this.missing.get(place) ?? new Set();
    this.missing.set(place, missing);
    if (value !== 0) {
      missing.delete(client);
      return;
    }
    missing.add(client);
    for (const [program, computation] of this.open.get(place) ?? []) {
      if (program !== client) this.contested.add(computation);
    }
  }

  crashes({ fault, processes }: FaultStrikes): void {
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
    const { place, key, grant, without } = this.programOf(process);
    const running = this.open.get(place) ?? new Map<string, Computation>();
    const computation = { began, key, grant, without, rivals: [...running.values()] };
    this.open.set(place, running.set(process, computation));
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

export function measureStampede(survey: Survey): Stampede {
  const { all } = computationsOf(survey);
  let most = 0;
  for (const { rivals } of all) most = Math.max(most, rivals.length + 1);
  return { computations: all.length, most };
}
