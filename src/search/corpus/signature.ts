/**
 * Defines the kind of failure that a kept plan shows: the claim, the shape of the plan, and the
 * roles of the events in the evidence. A corpus keeps one plan per kind.
 *
 * The shape of a plan is the plan without times, names and seeds. Plans of one shape do the same
 * things in the same places. If they break the same claim, they show the same bug.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { ASIDE_ROLES } from '../../check/evidence.ts';
import type { Verdict } from '../../check/verdict.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type {
  ChancePlan,
  ClientPlan,
  Plan,
  SectionPlan,
  StepOfMachine,
  Work,
} from '../../core/plan/plan.ts';

export interface Signature {
  readonly claim: string;
  readonly shape: string;
  /**
   * The roles in the evidence, in trace order, without roles that only add context. Null if the
   * claim did not break, as in a plan that guards a fix.
   */
  readonly roles: readonly string[] | null;
}

export function signatureOf(plan: Plan, verdict: Verdict): Signature {
  const shown = verdict.kind === 'invalid' ? verdict.evidence.map(({ role }) => role) : null;
  const roles = shown?.filter((role) => !ASIDE_ROLES.has(role)) ?? null;
  return { claim: verdict.claim, shape: shapeOf(plan), roles };
}

/**
 * Returns true if two plans show the same failure. A guard breaks nothing, so it never equals a
 * plan that breaks the claim.
 */
export function isSameKind(a: Signature, b: Signature): boolean {
  return textOf(a) === textOf(b);
}

/** Returns eight hexadecimal digits that identify a signature. */
export function idOf(signature: Signature): string {
  return bytesToHex(sha256(utf8ToBytes(textOf(signature)))).slice(0, 8);
}

function textOf({ claim, shape, roles }: Signature): string {
  return JSON.stringify([claim, shape, roles]);
}

/** Up to this many clients, all client orders are compared. More clients are sorted by work. */
const MOST_PERMUTED = 5;

/**
 * Returns one line, such as `lock-service/unfenced; A: write; B: write; pause A before A/1/write`.
 * Plans have the same line if they differ only in names, times, values, seeds and the order of
 * clients and faults.
 */
export function shapeOf(plan: Plan): string {
  const shapes = ordersOf(plan.clients).map((clients) => shapeInOrder({ ...plan, clients }));
  return shapes.reduce((least, shape) => (shape < least ? shape : least));
}

function shapeInOrder(plan: Plan): string {
  const names = new Names(plan);
  const clients = plan.clients.map((client) => clientShape(client, names));
  const faults = plan.faults
    .map((fault) => ({ fault, rough: shapeOfFault(fault, names.rough()) }))
    .sort((a, b) => (a.rough < b.rough ? -1 : a.rough > b.rough ? 1 : 0))
    .map(({ fault }) => shapeOfFault(fault, names));
  const options = Object.entries(plan.system.options).sort(([a], [b]) => (a < b ? -1 : 1));
  const words = options.map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [
    [`${plan.system.lock}/${plan.system.store}`, ...words].join(' '),
    ...(plan.network.link === 'connection' ? [] : [plan.network.link]),
    ...clients,
    ...queueShape(plan, names),
    ...faults,
    ...chanceShape(plan.chance),
  ].join('; ');
}

function clientShape(client: ClientPlan, names: Names): string {
  const traits = traitsOf(client);
  const letter = names.process(client.name);
  const head = traits.length === 0 ? letter : `${letter} (${traits.join(', ')})`;
  const sections = client.sections.map((section) => {
    const where = names.numbered('lock', section.lock);
    const steps = section.work.map((step) => stepShape(step, names)).join(', ');
    return `${where === 1 ? '' : `in lock ${where}: `}${steps === '' ? 'lock only' : steps}`;
  });
  return `${head}: ${sections.length === 0 ? 'nothing' : sections.join(' | ')}`;
}

/** Describes the messages of a queue, without times. Machines are numbered like locks. */
function queueShape({ queue }: Plan, names: Names): readonly string[] {
  if (queue === undefined) return [];
  const wordOf = (kind: string, { machine, steps, retries }: StepOfMachine): string => {
    const where = names.numbered('lock', machine);
    const again = retries === 0 ? '' : ` retry ${retries}`;
    return `${kind} ${steps}${again}${where === 1 ? '' : ` in lock ${where}`}`;
  };
  return [
    ...queue.messages.map((message) => wordOf('message', message)).sort(),
    ...queue.copies.map((copy) => wordOf('copy', copy)).sort(),
  ];
}

/** Returns the settings that affect a client's behavior, without counts and durations. */
function traitsOf(client: ClientPlan): readonly string[] {
  const { countsLeaseFrom, leaseEnds } = client;
  return [
    ...(client.checksLease ? [] : ['tests no lease']),
    ...(countsLeaseFrom === 'sent' ? [] : [`counts from ${countsLeaseFrom}`]),
    ...(leaseEnds === 'at' ? [] : [`lease ends ${leaseEnds}`]),
    ...(client.pool === 1 ? [] : ['pool']),
    ...(client.tries === 1 ? [] : ['tries again']),
    ...(client.releases ? ['releases'] : []),
  ];
}

function stepShape(step: Work, names: Names): string {
  const at = (store: string, key: string): string => {
    const [s, k] = [names.numbered('store', store), names.numbered('key', key)];
    return `${k === 1 ? '' : ` key ${k}`}${s === 1 ? '' : ` store ${s}`}`;
  };
  switch (step.kind) {
    case 'write':
      return `write${at(step.store, step.key)}${step.awaits ? '' : ' unawaited'}`;
    case 'read':
      return `read${at(step.store, step.key)}`;
    case 'increment':
      return `${(step.by ?? 1) < 0 ? 'decrement' : 'increment'}${at(step.store, step.key)}`;
    case 'memoize':
      return [
        `memoize${at(step.store, step.key)}`,
        ...(step.pieces === 1 ? [] : ['in pieces']),
        ...(step.withoutLock === undefined ? [] : ['or not at all']),
      ].join(' ');
    case 'transfer':
      return `transfer${at(step.from, step.key)} to${at(step.to, step.key)}`;
    case 'lock':
      return `lock ${names.numbered('lock', step.lock)}`;
    case 'job':
      return `job ${names.numbered('tick', String(step.tick))}${step.retries > 0 ? ' again' : ''}`;
    case 'compute':
    case 'renew':
    case 'transition':
      return step.kind;
  }
}

function chanceShape(chance: ChancePlan | null): readonly string[] {
  if (chance === null) return [];
  const drawn = (['latency', 'delay', 'drop', 'duplicate', 'lateTimer', 'jitter'] as const).filter(
    (kind) => chance[kind] !== null,
  );
  return [`chance: ${drawn.join(', ') || 'order'}`];
}

/** Returns all client orders or, for many clients, one order by work. */
function ordersOf(clients: readonly ClientPlan[]): readonly (readonly ClientPlan[])[] {
  if (clients.length <= MOST_PERMUTED) return permutationsOf(clients);
  const alone = (client: ClientPlan): string => {
    const kinds = client.sections.map(({ work }) => work.map(({ kind }) => kind));
    return JSON.stringify([traitsOf(client), kinds, client.name]);
  };
  return [[...clients].sort((a, b) => (alone(a) < alone(b) ? -1 : 1))];
}

function permutationsOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, at) => {
    const others = [...items.slice(0, at), ...items.slice(at + 1)];
    return permutationsOf(others).map((rest) => [item, ...rest]);
  });
}

/** Describes a fault without times and sizes: `pause A before A/1/write`. */
function shapeOfFault(fault: Fault, names: Names): string {
  const parts = [
    fault.kind === 'evict' ? '' : `${fault.kind.replace('-', ' ')} `,
    subjectShape(fault, names),
  ];
  if ('clocks' in fault && fault.clocks === 'freeze') parts.push(' with frozen clocks');
  if ('restartAfterUs' in fault && fault.restartAfterUs === null) parts.push(' for good');
  if ('stepUs' in fault) {
    const { stepUs, ratePpm } = fault;
    if (stepUs !== 0) parts.push(stepUs > 0 ? ' steps forwards' : ' steps back');
    if (ratePpm !== 0) parts.push(ratePpm > 0 ? ' runs fast' : ' runs slow');
  }
  if ('key' in fault) parts.push(` forgets ${names.item(fault.key)}`);
  if ('when' in fault && fault.when.kind !== 'at') {
    parts.push(` ${fault.when.kind} ${names.point(fault.when.point)}`);
  }
  return parts.join('');
}

function subjectShape(fault: Fault, names: Names): string {
  if ('process' in fault) return names.process(fault.process);
  switch (fault.kind) {
    case 'partition': {
      const sides = [fault.from, fault.to].map((side) => {
        const group = side.map((name) => names.process(name));
        return group.sort().join('+');
      });
      return sides.join(fault.direction === 'both' ? ' and ' : ' to ');
    }
    case 'reset':
      return linkShape(fault, names);
    case 'late-timer': {
      const { which } = fault;
      if (which.kind === 'timer') return names.point(which.timer);
      return `of ${names.process(which.process)}`;
    }
    default: {
      const { which } = fault;
      return which.kind === 'message' ? names.point(which.message) : linkShape(which, names);
    }
  }
}

function linkShape(link: { readonly from: string; readonly to: string }, names: Names): string {
  return `${names.process(link.from)} to ${names.process(link.to)}`;
}

type NameKind = 'lock' | 'store' | 'key' | 'tick' | 'server';

/** Labels with the number of a step. By contrast, `acquire-2` is a second attempt. */
const STEP_LABELS: ReadonlySet<string> = new Set([
  'read',
  'write',
  'read-from',
  'read-to',
  'write-from',
  'write-to',
  'fence',
  'renew',
  'lock',
  'unlock',
  'job',
  'compute',
]);

/** Matches the name of an asynchronous timer, without the process: `life-2/timeout-10ms-3/1`. */
const TIMER = /^(?:life-\d+\/)?(?:(timeout|interval)-[\d.]+ms|(immediate))(?:-\d+)?(?:\/\d+)?$/;

/**
 * Maps the names of a plan to names in its shape. Clients become letters. Locks, stores, keys and
 * ticks become numbers. Servers such as `lock-2` are renumbered. Numbers are assigned on demand, so
 * names must be requested in the order of the shape.
 */
class Names {
  private readonly clients: readonly ClientPlan[];
  private readonly numbers = new Map<string, number>();
  private readonly counts = new Map<NameKind, number>();
  private readonly isRough: boolean;

  constructor(plan: Pick<Plan, 'clients'>, isRough = false) {
    this.clients = plan.clients;
    this.isRough = isRough;
  }

  /** Returns a copy in which servers that differ only by number share one name. */
  rough(): Names {
    const names = new Names({ clients: this.clients }, true);
    for (const [name, number] of this.numbers) names.numbers.set(name, number);
    return names;
  }

  /** Returns the number of a name, from 1 in order of first use. */
  numbered(kind: NameKind, name: string): number {
    return entryOf(this.numbers, `${kind} ${name}`, () => {
      const next = (this.counts.get(kind) ?? 0) + 1;
      this.counts.set(kind, next);
      return next;
    });
  }

  /** Returns a client's letter (`A26` for the 27th), `store 1`, or a server's kind and number. */
  process(name: string): string {
    const at = this.clients.findIndex((client) => client.name === name);
    if (at >= 0) return at < 26 ? String.fromCharCode(65 + at) : `A${at}`;
    const store = this.numbers.get(`store ${name}`);
    if (store !== undefined) return `store ${store}`;
    const [, kind, number] = /^(.*)-(\d+)$/.exec(name) ?? [];
    if (kind === undefined || number === undefined) return name;
    return `${kind} ${this.isRough ? '*' : this.numbered('server', name)}`;
  }

  /** Returns `key 1` or `lock 1` for an item that a server may forget, or its unnumbered name. */
  item(name: string): string {
    for (const kind of ['key', 'lock'] as const) {
      const number = this.numbers.get(`${kind} ${name}`);
      if (number !== undefined) return `${kind} ${number}`;
    }
    return name;
  }

  /** Maps `bob/3/write-2/1/request` to `A/1/write/1/request`. A timer becomes `A/timeout`. */
  point(point: string): string {
    const [name = '', id = '', part = '', ...rest] = point.split('/');
    const [, timed, immediate] = TIMER.exec(point.slice(name.length + 1)) ?? [];
    const timer = timed ?? immediate;
    if (timer !== undefined) return `${this.process(name)}/${timer}`;
    const client = this.clients.find((candidate) => candidate.name === name);
    const at = client?.sections.findIndex((section) => String(section.id) === id) ?? -1;
    const section = client?.sections[at];
    const steps = section === undefined ? [id, part] : [`${at + 1}`, partOf(part, section)];
    const others = rest.map((step) => (/-\d+$/.test(step) ? this.process(step) : step));
    return [this.process(name), ...steps, ...others].filter((step) => step !== '').join('/');
  }
}

/** Renumbers a step by its position in the section: `write-2` may become `write`. */
function partOf(part: string, { work }: SectionPlan): string {
  const [, label = part, number = '1'] = /^(.*)-(\d+)$/.exec(part) ?? [];
  if (!STEP_LABELS.has(label)) return part;
  const place = work.findIndex(({ id }) => String(id) === number) + 1;
  return place <= 1 ? label : `${label}-${place}`;
}
