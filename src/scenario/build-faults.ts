/**
 * Turns the faults of a scenario file into templates whose processes have names, and finds those
 * that could never strike or do not say enough.
 */
import type { FaultKind } from '../core/plan/fault.ts';
import type { Verb } from '../core/plan/operation-names.ts';
import type { RangeUs } from '../core/plan/plan.ts';
import { type Finding, suggest } from '../text/problem.ts';
import type { ReadFault } from './fault-file.ts';
import type { ClientScenario, FaultTemplate, Place, Target } from './scenario.ts';
import type { ScenarioFile } from './scenario-file.ts';

/** What the faults of a scenario refer to. */
export interface Cast {
  readonly clients: readonly ClientScenario[];
  readonly stores: readonly string[];
  /** The servers of the locks of all systems. */
  readonly locks: readonly string[];
  /** What asynchronous clients call their operations. */
  readonly operations: readonly string[];
  readonly healAtUs: number;
}

export interface BuiltFaults {
  readonly faults: readonly FaultTemplate[];
  readonly findings: readonly Finding[];
}

/** The templates in the order of the file. */
export function buildFaults(file: ScenarioFile, cast: Cast): BuiltFaults {
  const findings: Finding[] = [];
  const faults: FaultTemplate[] = [];
  const drawn = new Set<FaultKind>();
  for (const [index, read] of (file.faults ?? []).entries()) {
    const report = (field: string | null, what: string): void => {
      const path = ['faults', index, read.kind, ...(field === null ? [] : [field])];
      findings.push({ path, isKey: field === null, what });
    };
    const builder = new FaultBuilder(read, cast, report);
    if (read.kind === 'duplicate' && file.network?.link !== 'datagram') {
      report(null, 'a connection never duplicates; say network: { link: datagram }');
    }
    const template = builder.build(file.clocks);
    if ('target' in template && template.target.kind === 'any') {
      if (template.odds === null)
        report(null, `needs a chance, or which ${builder.noun()} is meant`);
      if (drawn.has(template.kind)) report(null, `only one ${template.kind} may be drawn for any`);
      drawn.add(template.kind);
    }
    faults.push(template);
  }
  return { faults, findings };
}

const VERBS: readonly Verb[] = ['acquire', 'renew', 'release', 'read', 'write', 'open', 'checked'];
const NOTHING: RangeUs = { minUs: 0, maxUs: 0 };
const GROUPS: readonly string[] = ['clients', 'stores', 'locks'];

/** Reads one fault; what is wrong with it goes to `report`, with the field that is meant. */
class FaultBuilder {
  private readonly read: ReadFault;
  private readonly cast: Cast;
  private readonly report: (field: string | null, what: string) => void;

  constructor(read: ReadFault, cast: Cast, report: (field: string | null, what: string) => void) {
    this.read = read;
    this.cast = cast;
    this.report = report;
  }

  noun(): string {
    return this.read.kind === 'late-timer' ? 'timer' : 'message';
  }

  build(clocks: ScenarioFile['clocks']): FaultTemplate {
    const { read } = this;
    const odds = read.chance ?? null;
    const lasting = read.for ?? NOTHING;
    switch (read.kind) {
      case 'pause': {
        const processes = this.named('process', read.process ?? ['clients']);
        const clocksRun = read.clocks ?? 'run';
        return {
          kind: 'pause',
          odds,
          processes,
          place: this.place(),
          for: lasting,
          clocks: clocksRun,
        };
      }
      case 'crash': {
        const restart =
          read.restart === undefined || read.restart === 'never' ? null : read.restart;
        return { kind: 'crash', odds, processes: this.struck(), place: this.place(), restart };
      }
      case 'partition': {
        const [groups, to] = [this.groups(), this.named('to', read.to ?? [])];
        const direction = read.direction ?? 'both';
        return {
          kind: 'partition',
          odds,
          groups,
          to,
          direction,
          place: this.place(),
          for: lasting,
        };
      }
      case 'clock':
        return { kind: 'clock', odds, processes: this.struck(), ...this.clock(clocks) };
      case 'evict': {
        const key = read.key ?? '';
        return { kind: 'evict', odds, processes: this.struck(), place: this.place(), key };
      }
      case 'failover': {
        const lag = read.lag ?? NOTHING;
        return { kind: 'failover', odds, processes: this.struck(), place: this.place(), lag };
      }
      case 'reset': {
        const processes = this.named('from', read.from ?? []);
        const to = this.named('to', read.to ?? []);
        return { kind: 'reset', odds, processes, to, place: this.place() };
      }
      case 'drop':
        return { kind: 'drop', odds, target: this.messageTarget() };
      case 'late-timer':
        return { kind: 'late-timer', odds, target: this.timerTarget(), by: read.by ?? NOTHING };
      default:
        return { kind: read.kind, odds, target: this.messageTarget(), by: read.by ?? NOTHING };
    }
  }

  private struck(): readonly string[] {
    return this.named('process', this.read.process ?? []);
  }

  /** The processes that words and names stand for. */
  private named(field: string, words: readonly string[]): readonly string[] {
    const clients = this.cast.clients.map(({ name }) => name);
    const { locks, stores } = this.cast;
    const servers = [...locks, ...stores];
    const found = words.flatMap((word) => {
      if (word === 'clients') return clients;
      if (word === 'stores') return stores;
      if (word === 'locks') return locks;
      if (clients.includes(word) || servers.includes(word)) return [word];
      const known = [...GROUPS, ...servers, ...clients];
      this.report(field, `unknown process "${word}"; known: ${listed(known)}`);
      return [];
    });
    return [...new Set(found)];
  }

  /** A word cuts each of its processes off by itself; a list is cut off together. */
  private groups(): readonly (readonly string[])[] {
    const words = this.read.from ?? [];
    const names = this.named('from', words);
    const [only, ...others] = words;
    const isWord = others.length === 0 && only !== undefined && GROUPS.includes(only);
    return isWord ? names.map((name) => [name]) : [names];
  }

  /** Where it strikes; at any time of the first third, in which most of the work is done. */
  private place(): Place {
    const { at, before, after } = this.read;
    if ([at, before, after].filter((given) => given !== undefined).length > 1) {
      this.report(null, 'needs at most one of at, before and after');
    }
    if (before !== undefined) return this.pointPlace('before', before);
    if (after !== undefined) return this.pointPlace('after', after);
    return { kind: 'at', at: at ?? this.anyTime() };
  }

  private pointPlace(side: 'before' | 'after', point: string): Place {
    const verb = this.verb(side, point);
    return verb === null ? { kind: 'point', side, point } : { kind: 'verb', side, verb };
  }

  /** Null when `point` is a full name, of which the client and the section must exist. */
  private verb(field: string, point: string): string | null {
    const verbs: readonly string[] = [...VERBS, ...this.cast.operations];
    const verb = verbs.find((known) => known === point);
    if (verb !== undefined) return verb;
    const [first = '', section = ''] = point.split('/');
    if (!point.includes('/')) {
      const known = `${verbs.join(', ')}, or a full name such as alice/1/write`;
      this.report(
        field,
        `unknown point "${point}"${suggest(point, verbs)}`.replace(/known:.*/, known),
      );
      return null;
    }
    const client = this.cast.clients.find(({ name }) => name === first);
    if (client === undefined) {
      const names = this.cast.clients.map(({ name }) => name);
      this.report(field, `unknown client "${first}"${suggest(first, names)}`);
    } else if (!/^[1-9]\d*$/.test(section) || Number(section) > client.sections) {
      this.report(field, `${first} has sections 1 to ${client.sections}, and no "${section}"`);
    }
    return null;
  }

  private clock(clocks: ScenarioFile['clocks']): { place: Place; step: RangeUs; rate: RangeUs } {
    const { step, rate, at, before, after } = this.read;
    const isPlaced = at !== undefined || before !== undefined || after !== undefined;
    const place: Place = isPlaced ? this.place() : { kind: 'at', at: NOTHING };
    if (step !== undefined || rate !== undefined) {
      return { place, step: step ?? NOTHING, rate: rate ?? NOTHING };
    }
    if (clocks?.skew === undefined && clocks?.drift === undefined) {
      this.report(null, 'needs a step or a rate, or clocks: { skew, drift } to draw them inside');
    }
    return { place, step: around(clocks?.skew ?? 0), rate: around(clocks?.drift ?? 0) };
  }

  private messageTarget(): Target {
    const { message, from, to, at, leg, process } = this.read;
    if (from !== undefined || to !== undefined || at !== undefined) {
      if (message !== undefined || from === undefined || to === undefined) {
        this.report(null, 'needs either a message, or from and to');
      }
      const senders = this.named('from', from ?? []);
      return { kind: 'link', from: senders, to: this.named('to', to ?? []), at: this.from(at) };
    }
    if (message === undefined) {
      if (process !== undefined) this.report('process', 'needs a message, e.g. message: write');
      if (leg !== undefined) this.report('leg', 'needs a message, e.g. message: write');
      return { kind: 'any' };
    }
    const verb = this.verb('message', message);
    if (verb === null) {
      const isMessage = /\/(request|reply)$/.test(message);
      if (!isMessage && message.includes('/')) {
        this.report('message', `a message ends in /request or /reply: ${message}/1/request`);
      }
      return { kind: 'named', name: message };
    }
    if (verb === 'checked') this.report('message', 'checked is a mark, and no message');
    const clients = this.named('process', process ?? ['clients']);
    return { kind: 'verb', clients, verb, leg: leg ?? 'request' };
  }

  private timerTarget(): Target {
    const { timer, process, at } = this.read;
    if (timer !== undefined) {
      if (process !== undefined || at !== undefined) {
        this.report(null, 'needs either a timer, or process and at');
      }
      return { kind: 'timer', name: timer };
    }
    if (process === undefined && at === undefined) return { kind: 'any' };
    if (process === undefined) this.report(null, 'needs the process whose timer is meant');
    return { kind: 'process', processes: this.struck(), at: this.from(at) };
  }

  private from(at: RangeUs | undefined): RangeUs {
    return at ?? this.anyTime();
  }

  private anyTime(): RangeUs {
    return { minUs: 0, maxUs: Math.floor(this.cast.healAtUs / 3) };
  }
}

/** A near name would often be another process: `lock-1` for `lock-4`. So all are named. */
function listed(known: readonly string[]): string {
  return [...known.slice(0, 20), ...(known.length > 20 ? ['…'] : [])].join(', ');
}

function around(bound: number): RangeUs {
  return { minUs: 0 - bound, maxUs: bound };
}
