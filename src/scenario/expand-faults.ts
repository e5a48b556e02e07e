/**
 * Draws the faults of one plan from a scenario's templates. Each process in a template draws from
 * its own stream, in template order. The place of a fault is drawn first, and its message or timer
 * last. A different order would change the meaning of every seed.
 */
import { unreachable } from '../core/kernel/assert.ts';
import { entryOf } from '../core/kernel/entries.ts';
import { nameOf } from '../core/kernel/name.ts';
import type { RangeUs } from '../core/plan/duration.ts';
import {
  type Fault,
  type FieldType,
  type FieldTypes,
  faultWith,
  type When,
  type Which,
  type WhichTimer,
} from '../core/plan/fault.ts';
import { isLockServer, sectionPointsOf, type Verb } from '../core/plan/operation-names.ts';
import type { ClientPlan } from '../core/plan/plan.ts';
import { Draw } from './draw.ts';
import {
  type FaultTemplate,
  type Place,
  type SystemScenario,
  type Target,
  type TemplateField,
  targetIn,
} from './scenario.ts';

export interface FaultContext {
  readonly clients: readonly ClientPlan[];
  /** The kind of store, which determines the operations. */
  readonly store: string;
  /** Labels of the clients' operations at the lock. Default: `acquire` and `release`. */
  readonly operations?: readonly string[];
  readonly seed: number;
  readonly isInMilliseconds: boolean;
}

/**
 * Returns the drawn faults. Omits faults that the run itself draws, and faults at a verb that the
 * drawn section lacks.
 */
export function expandFaults(
  templates: readonly FaultTemplate[],
  context: FaultContext,
): readonly Fault[] {
  const drawer = new FaultDrawer(context);
  return templates.flatMap((template) => drawer.draw(template));
}

/** Restricts the fault to the processes that `system` has. */
export function inSystem(
  { servers, absent = [], spared = {} }: SystemScenario,
  fault: FaultTemplate,
): FaultTemplate {
  const safe = spared[fault.kind] ?? [];
  const isThere = (name: string): boolean =>
    isLockServer(name) ? servers.includes(name) : !absent.includes(name);
  return onlyOn((name) => isThere(name) && !safe.includes(name), fault);
}

/**
 * Returns true if a fault can affect a system. Every fault in the file can. A fault of `faults:
 * all` needs a process that the system has.
 */
export function canAffect(system: SystemScenario, fault: FaultTemplate): boolean {
  if (system.spared === undefined) return true;
  return inSystem(system, fault).fields.every(({ type, value }) => {
    return (type !== 'process' && type !== 'group') || value.length > 0;
  });
}

/** Restricts the fault to the processes for which `isThere` returns true. */
export function onlyOn(isThere: (name: string) => boolean, fault: FaultTemplate): FaultTemplate {
  const here = (names: readonly string[]): readonly string[] => names.filter(isThere);
  const fields = fault.fields.map((field): TemplateField => {
    switch (field.type) {
      case 'process':
        return { ...field, value: here(field.value) };
      case 'group':
        return { ...field, value: field.value.map(here).filter((group) => group.length > 0) };
      case 'message':
      case 'timer':
        return { ...field, value: targetOn(field.value, here) };
      default:
        return field;
    }
  });
  return { ...fault, fields };
}

function targetOn(target: Target, here: (names: readonly string[]) => readonly string[]): Target {
  if (target.kind === 'verb') return { ...target, clients: here(target.clients) };
  if (target.kind === 'link') return { ...target, from: here(target.from), to: here(target.to) };
  if (target.kind === 'process') return { ...target, processes: here(target.processes) };
  return target;
}

type Value = FieldTypes[FieldType];

class FaultDrawer {
  private readonly context: FaultContext;
  private readonly streams = new Map<string, Draw>();

  constructor(context: FaultContext) {
    this.context = context;
  }

  private stream(process: string): Draw {
    const { seed, isInMilliseconds } = this.context;
    return entryOf(
      this.streams,
      process,
      () => new Draw(`${seed}/${process}/faults`, isInMilliseconds),
    );
  }

  draw(template: FaultTemplate): readonly Fault[] {
    return subjectsOf(template).flatMap((subject) => {
      const draw = this.stream(subject);
      return draw.happens(template.odds) ? this.fault(template, subject, draw) : [];
    });
  }

  /**
   * Returns no fault if the drawn section lacks the point, or if the system lacks the process. The
   * other values are still drawn.
   */
  private fault(template: FaultTemplate, subject: string, draw: Draw): readonly Fault[] {
    const values = new Map<string, Value>();
    const fields = [...template.fields].sort((a, b) => turnOf(a) - turnOf(b));
    for (const field of fields) {
      const isSubject = field === template.fields[0];
      const value = this.value(field, isSubject ? subject : null, { draw, process: subject });
      if (value !== undefined) values.set(field.name, value);
    }
    if (values.size < fields.length) return [];
    return [faultWith(template.kind, ({ name }) => values.get(name) ?? null)];
  }

  private value(
    field: TemplateField,
    subject: string | null,
    { draw, process }: { readonly draw: Draw; readonly process: string },
  ): Value | undefined {
    switch (field.type) {
      case 'process':
        return subject ?? draw.oneOf(field.value);
      case 'group':
        return subject === null
          ? draw.oneOf(field.value)
          : field.value.find((group) => joined(group) === subject);
      case 'message':
      case 'timer':
        return this.which(field.value, process, draw) ?? undefined;
      case 'when':
        return this.when(field.value, process, draw) ?? undefined;
      case 'duration':
      case 'step':
        return draw.time(field.value);
      case 'durationOrNever':
        return field.value === null ? null : draw.time(field.value);
      case 'rate':
        return draw.integer(field.value);
      case 'key':
      case 'direction':
      case 'clocks':
        return field.value;
      default:
        return unreachable(field);
    }
  }

  private which(target: Target, process: string, draw: Draw): Which | WhichTimer | null {
    switch (target.kind) {
      case 'any':
        return null;
      case 'named':
        return { kind: 'message', message: target.name };
      case 'timer':
        return { kind: 'timer', timer: target.name };
      case 'process':
        return { kind: 'process', process, atUs: draw.time(target.at) };
      case 'link': {
        const to = draw.oneOf(target.to);
        const atUs = draw.time(target.at);
        return to === undefined ? null : { kind: 'link', from: process, to, atUs };
      }
      case 'verb': {
        const operation = this.operation(target.verb, process, draw);
        if (operation === null) return null;
        return { kind: 'message', message: `${operation}/1/${target.leg}` };
      }
    }
  }

  private when(place: Place, process: string, draw: Draw): When | null {
    switch (place.kind) {
      case 'at':
        return { kind: 'at', atUs: draw.time(place.at) };
      case 'anywhere':
        return this.anywhere(place.at, process, draw);
      case 'point':
        return { kind: place.side, point: place.point };
      case 'verb': {
        const point = this.operation(place.verb, process, draw);
        return point === null ? null : { kind: place.side, point };
      }
    }
  }

  /**
   * Draws a point of a drawn section or a time, with equal odds. Times alone would never hit a gap
   * of zero width, such as the gap between a lease test and the write that follows.
   */
  private anywhere(at: RangeUs, process: string, draw: Draw): When {
    const [isPoint, isBefore] = [draw.below(2) === 0, draw.below(2) === 0];
    const atUs = draw.time(at);
    const point = this.operation(null, process, draw);
    if (!isPoint || point === null) return { kind: 'at', atUs };
    return { kind: isBefore ? 'before' : 'after', point };
  }

  /**
   * Draws an operation of this client or, for a server, of a drawn client. A null `verb` allows any
   * operation.
   */
  private operation(verb: string | null, process: string, draw: Draw): string | null {
    const { clients, store, operations } = this.context;
    const [drawnClient, drawnSection, drawnName] = [draw.bits(), draw.bits(), draw.bits()];
    const client = clients.find(({ name }) => name === process) ?? chosen(clients, drawnClient);
    const section = client?.sections[drawnSection % Math.max(1, client.sections.length)];
    if (client === undefined || section === undefined) return null;
    const named = operations === undefined ? {} : { operations };
    const points = sectionPointsOf({ client, section, store, ...named }).filter((point) =>
      verb === null ? !OF_SOME_SYSTEMS.has(point.verb) : point.verb === verb,
    );
    return points[drawnName % Math.max(1, points.length)]?.point ?? null;
  }
}

function turnOf({ type }: TemplateField): number {
  if (type === 'when') return 0;
  return type === 'message' || type === 'timer' ? 2 : 1;
}

/** Verbs that only some systems have. A null verb excludes them: all systems get equal faults. */
const OF_SOME_SYSTEMS: ReadonlySet<string> = new Set<Verb>(['open', 'fence', 'checked']);

const NO_PROCESS: readonly string[] = [''];

/** Returns the names of the streams that draw the fault, or '' if the fault names its target. */
function subjectsOf(template: FaultTemplate): readonly string[] {
  const [first] = template.fields;
  if (first?.type === 'process') return first.value;
  if (first?.type === 'group') return first.value.map(joined);
  const target = targetIn(template)?.value;
  switch (target?.kind) {
    case 'verb':
      return target.clients;
    case 'link':
      return target.from;
    case 'process':
      return target.processes;
    case 'any':
      return [];
    default:
      return NO_PROCESS;
  }
}

function joined(group: readonly string[]): string {
  return group.join('+');
}

/**
 * Returns the client with the highest hash of its name and the draw. Removing another client does
 * not change the choice.
 */
function chosen(clients: readonly ClientPlan[], drawn: number): ClientPlan | undefined {
  let best: ClientPlan | undefined;
  let highest = -1;
  for (const client of clients) {
    const mixed = Math.imul(nameOf(client.name).hash ^ drawn, 0x9e3779b1) >>> 0;
    if (mixed > highest) [best, highest] = [client, mixed];
  }
  return best;
}
