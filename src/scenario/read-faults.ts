/**
 * Reads the faults of a scenario file. Each fault is a map with one key, its kind, and may contain
 * ranges and a chance. Fields have the same names as in a plan, so that a fault can be copied from
 * a plan into a scenario. The result is a list of templates with names of processes. Reports faults
 * that are incomplete or can never be injected.
 */
import { z } from 'zod';
import { unreachable } from '../core/kernel/assert.ts';
import type { RangeUs } from '../core/plan/duration.ts';
import {
  FAULT_KINDS,
  type FaultField,
  type FaultKind,
  type FieldType,
  fieldsOfKind,
  omittable,
} from '../core/plan/fault.ts';
import { FAULT_WORDS } from '../core/plan/fault-words.ts';
import {
  closed,
  type Field,
  name,
  odds,
  parseRate,
  point,
  RATE_PATTERN,
  range,
  rangeOrNever,
  shown,
  stepRange,
} from '../core/plan/fields.ts';
import type { Verb } from '../core/plan/operation-names.ts';
import type { Odds } from '../core/plan/plan.ts';
import { suggest, type UnplacedProblem } from '../text/problem.ts';
import {
  type ClientScenario,
  type FaultTemplate,
  type Place,
  type Target,
  type TemplateField,
  targetIn,
} from './scenario.ts';

type FileValue = readonly string[] | string | RangeUs | Odds | undefined;

/** A fault as the file states it, with its fields by name. */
export interface ReadFault {
  readonly kind: FaultKind;
  readonly fields: Readonly<Record<string, FileValue>>;
}

const rateRange: Field<RangeUs> = z
  .string({ error: 'expected a rate such as 200ppm or -200ppm..200ppm' })
  .regex(new RegExp(`^${RATE_PATTERN}(\\.\\.${RATE_PATTERN})?$`), {
    error: ({ input }) => `expected a rate such as 200ppm or -200ppm..200ppm, not ${shown(input)}`,
  })
  .transform((text, context) => {
    const [first = '', second = first] = text.split('..');
    const minUs = parseRate(first);
    const maxUs = parseRate(second);
    if (minUs !== undefined && maxUs !== undefined && minUs <= maxUs) return { minUs, maxUs };
    const message = 'a range of rates must be in order, each above -1000000ppm';
    context.issues.push({ code: 'custom', input: text, message });
    return z.NEVER;
  });

const processes = z
  .union([name.transform((only) => [only]), z.array(name).min(1).max(1000)])
  .describe('clients, lock, stores, or names. Each process draws separately.');

const chance = odds.optional().describe('Probability that it fires: 1/2 or 20%. Default: always.');

type Shape = Readonly<Record<string, z.ZodType<FileValue>>>;

/**
 * Returns the fields of a scenario file for a plan field of each type. The schema of a kind lists
 * the fields in the order of this table, then `chance`.
 */
const SHAPES: { readonly [Type in FieldType]: (field: string, kind: FaultKind) => Shape } = {
  process: (field, kind) => ({
    [field]: omittable(kind).process === undefined ? processes : processes.optional(),
  }),
  group: (field) => ({ [field]: processes }),
  direction: (field) => ({
    [field]: z.enum(['both', 'one-way']).optional().describe('Default both.'),
  }),
  message: () => ({
    message: point
      .optional()
      .describe('write (of a drawn section) or alice/1/write/1/request. Default any message.'),
    leg: z
      .enum(['request', 'reply'])
      .optional()
      .describe('Which leg of a drawn call. Default request.'),
    process: processes.optional().describe('Clients whose calls are drawn. Default clients.'),
    from: processes.optional().describe('Sender of the message.'),
    to: processes.optional().describe('Receiver of the message.'),
    at: range.optional().describe('The first message of the link from this time on.'),
    chance,
  }),
  timer: () => ({
    timer: point.optional().describe('alice/1/backoff-2. Default any timer.'),
    process: processes.optional(),
    at: range.optional().describe('The first timer that the process arms from this time on.'),
  }),
  when: () => ({
    at: range
      .optional()
      .describe(
        'Time: 5ms or 0ms..100ms. Default any point, or a time in the first third of the run.',
      ),
    before: point
      .optional()
      .describe('Just before a point: write (of a drawn section), alice/1/write.'),
    after: point
      .optional()
      .describe('Just after a point: acquire (of a drawn section), bob/2/acquire.'),
  }),
  duration: (field) => ({
    [field]: range.describe(`${field === 'by' ? 'By how much' : 'For how long'}: 5ms or 1ms..5ms.`),
  }),
  clocks: (field) => ({
    [field]: z.enum(['run', 'freeze']).optional().describe('Clocks during the pause. Default run.'),
  }),
  durationOrNever: (field) => ({
    [field]: rangeOrNever.optional().describe('Time until it restarts. Default never.'),
  }),
  step: (field) => ({
    [field]: stepRange.optional().describe('Step of the wall clock. Default: within the skew.'),
  }),
  rate: (field) => ({
    [field]: rateRange
      .optional()
      .describe('Rate error of the clock, in ppm. Default: within the drift.'),
  }),
  key: (field) => ({ [field]: name }),
};

const TYPES = Object.keys(SHAPES);

function schemaOf(kind: FaultKind): z.ZodType<ReadFault | undefined> {
  const fields = [...fieldsOfKind(kind)].sort(
    (a, b) => TYPES.indexOf(a.type) - TYPES.indexOf(b.type),
  );
  const shape: Shape = Object.fromEntries([
    ...fields.flatMap(({ type, inFiles }) => Object.entries(SHAPES[type](inFiles, kind))),
    ['chance', chance],
  ]);
  return closed('field', shape)
    .transform((read): ReadFault => ({ kind, fields: read }))
    .optional()
    .describe(FAULT_WORDS[kind].about);
}

/** The schema of a fault in a scenario file. */
export const readFaultSchema: z.ZodType<ReadFault> = closed(
  'fault',
  Object.fromEntries(FAULT_KINDS.map((kind) => [kind, schemaOf(kind)])),
).transform((entry, context): ReadFault => {
  const [only, ...others] = Object.values(entry).filter((fault) => fault !== undefined);
  if (only !== undefined && others.length === 0) return only;
  context.issues.push({ code: 'custom', input: entry, message: 'a fault is a map of one key' });
  return z.NEVER;
});

/** Returns the range in this field, or undefined if the file has none. */
export function rangeIn({ fields }: ReadFault, field: string): RangeUs | undefined {
  const value = fields[field];
  return typeof value === 'object' && 'minUs' in value ? value : undefined;
}

function textIn({ fields }: ReadFault, field: string): string | undefined {
  const value = fields[field];
  return typeof value === 'string' ? value : undefined;
}

function namesIn({ fields }: ReadFault, field: string): readonly string[] | undefined {
  const value = fields[field];
  return isList(value) ? value : undefined;
}

function isList(value: FileValue): value is readonly string[] {
  return Array.isArray(value);
}

/** The processes, operations and clock bounds that faults can refer to. */
export interface Cast {
  readonly clients: readonly ClientScenario[];
  readonly stores: readonly string[];
  /** The lock servers of all systems. */
  readonly locks: readonly string[];
  /** Operation labels that only some systems have. */
  readonly operations: readonly string[];
  readonly healAtUs: number;
  readonly isDatagram: boolean;
  /** Bounds on the clock error. A clock fault without values is drawn within them. */
  readonly clocks: { readonly skew?: number | undefined; readonly drift?: number | undefined };
}

export interface BuiltFaults {
  readonly faults: readonly FaultTemplate[];
  readonly findings: readonly UnplacedProblem[];
}

/** Builds the templates, in file order. */
export function buildFaults(read: readonly ReadFault[], cast: Cast): BuiltFaults {
  const findings: UnplacedProblem[] = [];
  const drawn = new Set<FaultKind>();
  const faults = read.map((fault, index): FaultTemplate => {
    const { kind } = fault;
    const report = (field: string | null, text: string): void => {
      const path = ['faults', index, kind, ...(field === null ? [] : [field])];
      findings.push({ path, isKey: field === null, what: text });
    };
    if (kind === 'duplicate' && !cast.isDatagram) {
      report(null, 'a connection never duplicates messages; use network: { link: datagram }');
    }
    const template = new FaultBuilder(fault, cast, report).build();
    const target = targetIn(template);
    if (target?.value.kind !== 'any') return template;
    if (template.odds === null) report(null, `needs a chance, or the name of a ${target.type}`);
    if (drawn.has(kind)) report(null, `only one ${kind} may omit its ${target.type}`);
    drawn.add(kind);
    return template;
  });
  return { faults, findings };
}

const VERBS: readonly Verb[] = ['acquire', 'renew', 'release', 'read', 'write', 'open', 'checked'];
const NOTHING: RangeUs = { minUs: 0, maxUs: 0 };
const GROUPS: readonly string[] = ['clients', 'stores', 'locks'];

/** Builds the template of one fault. Calls `report` with each problem and its field. */
class FaultBuilder {
  private readonly read: ReadFault;
  private readonly cast: Cast;
  private readonly report: (field: string | null, text: string) => void;

  constructor(read: ReadFault, cast: Cast, report: (field: string | null, text: string) => void) {
    this.read = read;
    this.cast = cast;
    this.report = report;
  }

  build(): FaultTemplate {
    const { kind } = this.read;
    const [subject] = fieldsOfKind(kind);
    const fields = fieldsOfKind(kind).map((field) => this.field(field, field === subject));
    const value = this.read.fields['chance'];
    const odds = typeof value === 'object' && 'numerator' in value ? value : null;
    return { kind, odds, fields };
  }

  private field({ name: called, type, inFiles }: FaultField, isSubject: boolean): TemplateField {
    switch (type) {
      case 'process':
        return { name: called, type, value: this.processes(inFiles) };
      case 'group':
        return { name: called, type, value: this.groups(inFiles, isSubject) };
      case 'message':
        return { name: called, type, value: this.messageTarget() };
      case 'timer':
        return { name: called, type, value: this.timerTarget() };
      case 'when':
        return { name: called, type, value: this.place() };
      case 'duration':
        return { name: called, type, value: rangeIn(this.read, inFiles) ?? NOTHING };
      case 'durationOrNever':
        return { name: called, type, value: rangeIn(this.read, inFiles) ?? null };
      case 'step':
        return { name: called, type, value: this.step(inFiles) };
      case 'rate':
        return { name: called, type, value: this.reading(inFiles, this.cast.clocks.drift) };
      case 'key':
        return { name: called, type, value: textIn(this.read, inFiles) ?? '' };
      case 'direction': {
        const isOneWay = textIn(this.read, inFiles) === 'one-way';
        return { name: called, type, value: isOneWay ? 'one-way' : 'both' };
      }
      case 'clocks': {
        const isFrozen = textIn(this.read, inFiles) === 'freeze';
        return { name: called, type, value: isFrozen ? 'freeze' : 'run' };
      }
      default:
        return unreachable(type);
    }
  }

  private processes(field: string): readonly string[] {
    const omitted = omittable(this.read.kind).process;
    const words = namesIn(this.read, field) ?? (omitted === undefined ? [] : [omitted]);
    return this.named(field, words);
  }

  private named(field: string, words: readonly string[]): readonly string[] {
    const clients = this.cast.clients.map(({ name }) => name);
    const { locks, stores } = this.cast;
    const servers = [...locks, ...stores];
    const others = ['stores', 'clients', ...stores, ...clients];
    const found = words.flatMap((word) => {
      if (word === 'clients') return clients;
      if (word === 'stores') return stores;
      if (word === 'locks') {
        const none = 'no system of this scenario has a lock server';
        if (locks.length === 0) this.report(field, `${none}; there are: ${listed(others)}`);
        return locks;
      }
      if (clients.includes(word) || servers.includes(word)) return [word];
      const known = [...GROUPS, ...servers, ...clients];
      // No suggestion for a name that ends in a number: `lock-1` is not a misspelling of `lock-4`.
      const near = /\d$/.test(word) ? '' : suggest(word, known);
      const hint = near.includes('did you mean') ? near : '';
      const there = hint === '' ? '; known' : `${hint} Known`;
      this.report(field, `unknown process "${word}"${there}: ${listed(known)}`);
      return [];
    });
    return [...new Set(found)];
  }

  /**
   * Returns the groups of a field. A list is one group. In a fault's first field, a word such as
   * `clients` yields one group per process.
   */
  private groups(field: string, isSubject: boolean): readonly (readonly string[])[] {
    const words = namesIn(this.read, field) ?? [];
    const names = this.named(field, words);
    const [only, ...others] = words;
    const isWord = others.length === 0 && only !== undefined && GROUPS.includes(only);
    return isSubject && isWord ? names.map((member) => [member]) : [names];
  }

  /**
   * Returns the place of the fault. Default: any point, or a time in the first third of the run,
   * which contains most of the work.
   */
  private place(): Place {
    const at = rangeIn(this.read, 'at');
    const [before, after] = [textIn(this.read, 'before'), textIn(this.read, 'after')];
    if ([at, before, after].filter((value) => value !== undefined).length > 1) {
      this.report(null, 'needs at most one of at, before and after');
    }
    if (before !== undefined) return this.pointPlace('before', before);
    if (after !== undefined) return this.pointPlace('after', after);
    const isAtStart = omittable(this.read.kind).when !== undefined;
    if (at !== undefined) return { kind: 'at', at };
    return isAtStart ? { kind: 'at', at: NOTHING } : { kind: 'anywhere', at: this.anyTime() };
  }

  private pointPlace(side: 'before' | 'after', point: string): Place {
    const verb = this.verb(side, point);
    return verb === null ? { kind: 'point', side, point } : { kind: 'verb', side, verb };
  }

  /** Returns the verb, or null for a full name. Reports an unknown client or section. */
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
      this.report(field, `${first} has sections 1 to ${client.sections}, not "${section}"`);
    }
    return null;
  }

  private step(field: string): RangeUs {
    const { skew, drift } = this.cast.clocks;
    if (!this.saysReading() && skew === undefined && drift === undefined) {
      this.report(null, 'needs a step or a rate, or clocks: { skew, drift } to draw them from');
    }
    return this.reading(field, skew);
  }

  /** Returns the step or rate. If the file states neither, both are drawn within their bounds. */
  private reading(field: string, bound = 0): RangeUs {
    return this.saysReading()
      ? (rangeIn(this.read, field) ?? NOTHING)
      : { minUs: 0 - bound, maxUs: bound };
  }

  private saysReading(): boolean {
    const { step, rate } = this.read.fields;
    return step !== undefined || rate !== undefined;
  }

  private messageTarget(): Target {
    const { from, to, process } = this.read.fields;
    const [message, at] = [textIn(this.read, 'message'), rangeIn(this.read, 'at')];
    const leg = textIn(this.read, 'leg');
    if (from !== undefined || to !== undefined || at !== undefined) {
      if (message !== undefined || from === undefined || to === undefined) {
        this.report(null, 'needs either a message, or from and to');
      }
      const senders = this.processes('from');
      return { kind: 'link', from: senders, to: this.processes('to'), at: at ?? this.anyTime() };
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
    if (verb === 'checked') this.report('message', 'checked is a mark, not a message');
    const clients = this.named('process', namesIn(this.read, 'process') ?? ['clients']);
    return { kind: 'verb', clients, verb, leg: leg === 'reply' ? 'reply' : 'request' };
  }

  private timerTarget(): Target {
    const { process } = this.read.fields;
    const [timer, at] = [textIn(this.read, 'timer'), rangeIn(this.read, 'at')];
    if (timer !== undefined) {
      if (process !== undefined || at !== undefined) {
        this.report(null, 'needs either a timer, or process and at');
      }
      return { kind: 'timer', name: timer };
    }
    if (process === undefined && at === undefined) return { kind: 'any' };
    if (process === undefined) this.report(null, 'needs the process that owns the timer');
    return { kind: 'process', processes: this.processes('process'), at: at ?? this.anyTime() };
  }

  private anyTime(): RangeUs {
    return { minUs: 0, maxUs: Math.floor(this.cast.healAtUs / 3) };
  }
}

function listed(known: readonly string[]): string {
  return [...known.slice(0, 20), ...(known.length > 20 ? ['…'] : [])].join(', ');
}
