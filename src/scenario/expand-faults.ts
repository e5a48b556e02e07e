/**
 * The faults of one plan, drawn from a scenario's templates. Each process that a template names
 * draws for itself, from its own stream and in the order of the templates.
 */
import { nameOf } from '../core/kernel/name.ts';
import type { Fault, When, Which, WhichTimer } from '../core/plan/fault.ts';
import { sectionPointsOf } from '../core/plan/operation-names.ts';
import type { ClientPlan } from '../core/plan/plan.ts';
import { Draw } from './draw.ts';
import type { FaultTemplate, Place, Target } from './scenario.ts';

export interface FaultContext {
  readonly clients: readonly ClientPlan[];
  /** The kind of store, which decides what operations there are. */
  readonly store: string;
  /** What asynchronous clients call their operations at the lock; absent for all others. */
  readonly operations?: readonly string[];
  readonly seed: number;
  readonly isWhole: boolean;
}

/**
 * All but those that are left to the run's own chance. A verb that a section lacks strikes nobody.
 */
export function expandFaults(
  templates: readonly FaultTemplate[],
  context: FaultContext,
): readonly Fault[] {
  const drawer = new FaultDrawer(context);
  return templates.flatMap((template) => drawer.draw(template));
}

class FaultDrawer {
  private readonly context: FaultContext;
  private readonly streams = new Map<string, Draw>();

  constructor(context: FaultContext) {
    this.context = context;
  }

  private stream(process: string): Draw {
    const known = this.streams.get(process);
    if (known !== undefined) return known;
    const { seed, isWhole } = this.context;
    const made = new Draw(`${seed}/${process}/faults`, isWhole);
    this.streams.set(process, made);
    return made;
  }

  draw(template: FaultTemplate): readonly Fault[] {
    const faults: Fault[] = [];
    for (const process of strikers(template)) {
      const draw = this.stream(process);
      if (!draw.happens(template.odds)) continue;
      const fault = this.fault(template, process, draw);
      if (fault !== null) faults.push(fault);
    }
    return faults;
  }

  private fault(template: FaultTemplate, process: string, draw: Draw): Fault | null {
    if ('target' in template) return this.targeted(template, process, draw);
    const when = this.when(template.place, process, draw);
    const fault = placed(template, { process, draw, when: when ?? { kind: 'at', atUs: 0 } });
    return when === null ? null : fault;
  }

  private targeted(
    template: Extract<FaultTemplate, { readonly target: Target }>,
    process: string,
    draw: Draw,
  ): Fault | null {
    const byUs = 'by' in template ? draw.time(template.by) : 0;
    const which = this.which(template.target, process, draw);
    if (which === null) return null;
    if (template.kind === 'late-timer') {
      return which.kind === 'timer' || which.kind === 'process'
        ? { kind: 'late-timer', which, byUs }
        : null;
    }
    if (which.kind === 'timer' || which.kind === 'process') return null;
    return template.kind === 'drop'
      ? { kind: 'drop', which }
      : { kind: template.kind, which, byUs };
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
        const to = draw.oneOf(target.to) ?? '';
        return { kind: 'link', from: process, to, atUs: draw.time(target.at) };
      }
      case 'verb': {
        const operation = this.operation(target.verb, process, draw);
        if (operation === null) return null;
        return { kind: 'message', message: `${operation}/1/${target.leg}` };
      }
    }
  }

  private when(place: Place, process: string, draw: Draw): When | null {
    if (place.kind === 'at') return { kind: 'at', atUs: draw.time(place.at) };
    if (place.kind === 'point') return { kind: place.side, point: place.point };
    const point = this.operation(place.verb, process, draw);
    return point === null ? null : { kind: place.side, point };
  }

  /** An operation of a drawn section of this client; for a server, of a drawn client. */
  private operation(verb: string, process: string, draw: Draw): string | null {
    const { clients, store, operations } = this.context;
    const [drawnClient, drawnSection, drawnName] = [draw.bits(), draw.bits(), draw.bits()];
    const client = clients.find(({ name }) => name === process) ?? chosen(clients, drawnClient);
    const section = client?.sections[drawnSection % Math.max(1, client.sections.length)];
    if (client === undefined || section === undefined) return null;
    const named = operations === undefined ? {} : { operations };
    const points = sectionPointsOf({ client, section, store, ...named }).filter(
      (point) => point.verb === verb,
    );
    return points[drawnName % Math.max(1, points.length)]?.point ?? null;
  }
}

const NOBODY: readonly string[] = [''];

/** Who draws whether the fault strikes; a fault that names its message draws under no name. */
function strikers(template: FaultTemplate): readonly string[] {
  if (template.kind === 'partition') return template.groups.map((group) => group.join('+'));
  if (!('target' in template)) return template.processes;
  switch (template.target.kind) {
    case 'any':
      return [];
    case 'named':
    case 'timer':
      return NOBODY;
    case 'verb':
      return template.target.clients;
    case 'link':
      return template.target.from;
    case 'process':
      return template.target.processes;
  }
}

interface Strike {
  readonly process: string;
  readonly draw: Draw;
  readonly when: When;
}

function placed(
  template: Exclude<FaultTemplate, { readonly target: Target }>,
  { process, draw, when }: Strike,
): Fault {
  switch (template.kind) {
    case 'pause': {
      const { clocks } = template;
      return { kind: 'pause', process, when, forUs: draw.time(template.for), clocks };
    }
    case 'crash': {
      const restartAfterUs = template.restart === null ? null : draw.time(template.restart);
      return { kind: 'crash', process, when, restartAfterUs };
    }
    case 'partition': {
      const { groups, to, direction } = template;
      const from = groups.find((group) => group.join('+') === process) ?? [];
      return { kind: 'partition', from, to, direction, when, forUs: draw.time(template.for) };
    }
    case 'clock': {
      const stepUs = draw.time(template.step);
      return { kind: 'clock', process, when, stepUs, ratePpm: draw.integer(template.rate) };
    }
    case 'evict':
      return { kind: 'evict', process, key: template.key, when };
    case 'failover':
      return { kind: 'failover', process, when, lagUs: draw.time(template.lag) };
    case 'reset':
      return { kind: 'reset', from: process, to: draw.oneOf(template.to) ?? '', when };
  }
}

/**
 * The client whose name and the draw have the highest mix: another's absence does not change it.
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
