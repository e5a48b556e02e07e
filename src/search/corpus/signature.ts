/**
 * What makes two kept plans the same kind of failure: the claim, the shape of the plan, and the
 * parts that the events of the evidence play. A corpus keeps one plan per kind.
 *
 * The shape of a plan is what remains of it without times, names and seeds. Two plans of one shape
 * do the same things in the same places, so where they break the same claim they show the same bug.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Verdict } from '../../check/verdict.ts';
import type {
  ChancePlan,
  ClientPlan,
  Plan,
  SectionPlan,
  StepOfMachine,
  Work,
} from '../../core/plan/plan.ts';
import { Names } from './shape-names.ts';
import { shapeOfFault } from './shape-of-fault.ts';

export interface Signature {
  readonly claim: string;
  readonly shape: string;
  /**
   * The roles of the evidence, in the order of the trace; null where the claim did not break, as on
   * a plan that is kept as a guard.
   */
  readonly roles: readonly string[] | null;
}

/** The signature of a plan that `verdict` is about. */
export function signatureOf(plan: Plan, verdict: Verdict): Signature {
  const roles = verdict.kind === 'invalid' ? verdict.evidence.map(({ role }) => role) : null;
  return { claim: verdict.claim, shape: shapeOf(plan), roles };
}

/**
 * Whether two plans show the same failure. A guard, which breaks nothing, is never the same as a
 * plan that does: it does not see what the other shows.
 */
export function isSameKind(a: Signature, b: Signature): boolean {
  return textOf(a) === textOf(b);
}

/** Eight hexadecimal digits of a signature, to tell kinds apart at a glance. */
export function idOf(signature: Signature): string {
  return bytesToHex(sha256(utf8ToBytes(textOf(signature)))).slice(0, 8);
}

function textOf({ claim, shape, roles }: Signature): string {
  return JSON.stringify([claim, shape, roles]);
}

/** With more clients than this they are ordered by what they do, not by every order of them. */
const MOST_PERMUTED = 5;

/**
 * One line, equal for plans that differ only in names, times, values, seeds and the order of their
 * clients and faults: `lock-service/unfenced; A: write; B: write; pause A before A/1/write`.
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
  return [
    systemShape(plan),
    ...(plan.network.link === 'connection' ? [] : [plan.network.link]),
    ...clients,
    ...queueShape(plan, names),
    ...faults,
    ...chanceShape(plan.chance),
  ].join('; ');
}

function systemShape({ system }: Plan): string {
  const options = Object.entries(system.options).sort(([a], [b]) => (a < b ? -1 : 1));
  const words = options.map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [`${system.lock}/${system.store}`, ...words].join(' ');
}

function clientShape(client: ClientPlan, names: Names): string {
  const traits = traitsOf(client);
  const letter = names.process(client.name);
  const head = traits.length === 0 ? letter : `${letter} (${traits.join(', ')})`;
  const sections = client.sections.map((section) => sectionShape(section, names));
  return `${head}: ${sections.length === 0 ? 'nothing' : sections.join(' | ')}`;
}

/** What a queue brings, whenever it does; the clients have given all machines their numbers. */
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

/** What a reader has to know of a client beyond what it does, without how often and how long. */
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

function sectionShape({ lock, work }: SectionPlan, names: Names): string {
  const where = names.numbered('lock', lock);
  const steps = work.map((step) => stepShape(step, names)).join(', ');
  return `${where === 1 ? '' : `in lock ${where}: `}${steps === '' ? 'lock only' : steps}`;
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
      return `memoize${at(step.store, step.key)}${memoizeShape(step)}`;
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

function memoizeShape({ pieces, withoutLock }: Extract<Work, { kind: 'memoize' }>): string {
  return `${pieces === 1 ? '' : ' in pieces'}${withoutLock === undefined ? '' : ' or not at all'}`;
}

/** What is still drawn while the run goes on; nothing in a shrunk plan. */
function chanceShape(chance: ChancePlan | null): readonly string[] {
  if (chance === null) return [];
  const drawn = (['latency', 'delay', 'drop', 'duplicate', 'lateTimer', 'jitter'] as const).filter(
    (kind) => chance[kind] !== null,
  );
  return [`chance: ${drawn.join(', ') || 'order'}`];
}

/** The orders of the clients to try; of many clients only one, by what each does. */
function ordersOf(clients: readonly ClientPlan[]): readonly (readonly ClientPlan[])[] {
  if (clients.length <= MOST_PERMUTED) return permutationsOf(clients);
  const alone = (client: ClientPlan): string => {
    const { name, ...rest } = client;
    return JSON.stringify([traitsOf(client), rest.sections.map(({ work }) => kindsOf(work)), name]);
  };
  return [[...clients].sort((a, b) => (alone(a) < alone(b) ? -1 : 1))];
}

function kindsOf(work: readonly Work[]): readonly string[] {
  return work.map(({ kind }) => kind);
}

function permutationsOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, at) => {
    const others = [...items.slice(0, at), ...items.slice(at + 1)];
    return permutationsOf(others).map((rest) => [item, ...rest]);
  });
}
