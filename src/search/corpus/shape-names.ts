/**
 * The names that a shape uses instead of a plan's own: clients become letters in their order,
 * locks, stores, keys and ticks numbers in the order in which they first appear, and servers that
 * are told apart by a number only (`lock-2`) are numbered anew.
 */
import type { ClientPlan, Plan, SectionPlan } from '../../core/plan/plan.ts';

type NameKind = 'lock' | 'store' | 'key' | 'tick' | 'server';

/** Labels of operations whose number is that of a step; `acquire-2` is a second attempt. */
const STEP_LABELS: ReadonlySet<string> = new Set([
  ...['read', 'write', 'read-from', 'read-to', 'write-from', 'write-to', 'fence'],
  ...['renew', 'lock', 'unlock', 'job', 'compute'],
]);

/** A timer of asynchronous code, below its process, perhaps of a later life; and its round. */
const TIMER = /^(?:life-\d+\/)?(?:(timeout|interval)-[\d.]+ms|(immediate))(?:-\d+)?(?:\/\d+)?$/;

/** Grows as names are asked for, so ask in the order of the shape. */
export class Names {
  private readonly clients: readonly ClientPlan[];
  private readonly numbers = new Map<string, number>();
  private readonly counts = new Map<NameKind, number>();
  private readonly isRough: boolean;

  constructor(plan: Pick<Plan, 'clients'>, isRough = false) {
    this.clients = plan.clients;
    this.isRough = isRough;
  }

  /** The same names, but all servers that differ by their number only are called alike. */
  rough(): Names {
    const names = new Names({ clients: this.clients }, true);
    for (const [name, number] of this.numbers) names.numbers.set(name, number);
    for (const [kind, count] of this.counts) names.counts.set(kind, count);
    return names;
  }

  /** From 1, in the order of first use. */
  numbered(kind: NameKind, name: string): number {
    const key = `${kind} ${name}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    const next = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, next);
    this.numbers.set(key, next);
    return next;
  }

  /** Of a client its letter, of a store its number, of a server its kind. */
  process(name: string): string {
    const at = this.clients.findIndex((client) => client.name === name);
    if (at >= 0) return letterOf(at);
    const store = this.numbers.get(`store ${name}`);
    if (store !== undefined) return `store ${store}`;
    const [, kind, number] = /^(.*)-(\d+)$/.exec(name) ?? [];
    if (kind === undefined || number === undefined) return name;
    return `${kind} ${this.isRough ? '*' : this.numbered('server', name)}`;
  }

  /** What a server may be made to forget: a key or a lock that the plan names, or as it is. */
  item(name: string): string {
    for (const kind of ['key', 'lock'] as const) {
      const number = this.numbers.get(`${kind} ${name}`);
      if (number !== undefined) return `${kind} ${number}`;
    }
    return name;
  }

  /** `bob/3/write-2/1/request` as `A/1/write/1/request`, `bob/timeout-30ms-2` as `A/timeout`. */
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

/** A step's number is its place among the section's steps, so `write-2` may become `write`. */
function partOf(part: string, { work }: SectionPlan): string {
  const [, label = part, number = '1'] = /^(.*)-(\d+)$/.exec(part) ?? [];
  if (!STEP_LABELS.has(label)) return part;
  const place = work.findIndex(({ id }) => String(id) === number) + 1;
  return place <= 1 ? label : `${label}-${place}`;
}

/** `A` to `Z`, then `A26`, `A27`, …. */
function letterOf(at: number): string {
  return at < 26 ? String.fromCharCode(65 + at) : `A${at}`;
}
