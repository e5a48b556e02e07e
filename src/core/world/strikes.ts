/** What each fault with a time or a place does to the world, and how that ends. */

import type { FaultEnds } from '../history/trace.ts';
import { assert, unreachable } from '../kernel/assert.ts';
import { nameOf } from '../kernel/name.ts';
import type { Fault, FaultOf } from '../plan/fault.ts';
import type { Agenda } from './agenda.ts';
import type { Client } from './client.ts';
import type { Cut } from './cuts.ts';
import type { Network } from './network.ts';
import type { Process } from './process.ts';
import type { Recorder } from './recorder.ts';
import type { Replaceable } from './server.ts';

/** What faults may touch. */
export interface Reach {
  readonly agenda: Agenda;
  readonly recorder: Recorder;
  readonly network: Network;
  readonly processes: ReadonlyMap<string, Process>;
  readonly clients: ReadonlyMap<string, Client>;
  readonly servers: ReadonlyMap<string, Replaceable>;
  readonly healAtUs: number;
}

/** A fault that strikes at a time or a point; the others wait for a message or a timer. */
export type PlacedFault = Extract<Fault, { when: unknown }>;

/** What the trace says of a strike beside its fault. */
interface Effect {
  readonly processes: readonly string[];
  readonly untilUs: number | null;
  readonly amount: number;
  readonly target?: string;
}

export class Strikes {
  private readonly reach: Reach;

  constructor(reach: Reach) {
    this.reach = reach;
  }

  /** Does fault `index` of the plan; false when there is nothing that it could be done to. */
  take(fault: PlacedFault, index: number): boolean {
    switch (fault.kind) {
      case 'pause':
        return this.pause(fault, index);
      case 'crash':
        return this.crash(fault, index);
      case 'partition':
        return this.partition(fault, index);
      case 'clock':
        return this.clock(fault, index);
      case 'evict':
        return this.evict(fault, index);
      case 'failover':
        return this.failover(fault, index);
      case 'reset':
        return this.reset(fault, index);
      default:
        return unreachable(fault);
    }
  }

  private pause(fault: FaultOf<'pause'>, index: number): boolean {
    const process = this.process(fault.process);
    if (!process.isUp) return false;
    const untilUs = this.endOf(fault.forUs);
    this.note(fault.kind, index, { processes: [fault.process], untilUs, amount: fault.forUs });
    if (fault.clocks === 'freeze') process.freezeClock(this.nowUs, untilUs);
    process.pause(untilUs);
    this.reach.agenda.at(untilUs, `resume/${fault.process}`, () => {
      if (!process.isPaused || process.pausedUntilUs !== untilUs) return;
      this.noteEnd('resume', index, [fault.process]);
      process.resume();
    });
    return true;
  }

  private crash(fault: FaultOf<'crash'>, index: number): boolean {
    const process = this.process(fault.process);
    if (!process.isUp) return false;
    const untilUs = this.restartOf(fault);
    const amount = fault.restartAfterUs ?? 0;
    this.note(fault.kind, index, { processes: [fault.process], untilUs, amount });
    process.crash(this.nowUs);
    this.tearConnectionsTo(fault.process);
    if (untilUs === null) return true;
    this.reach.agenda.at(untilUs, `restart/${fault.process}`, () => {
      if (process.isUp) return; // a replica took over
      this.noteEnd('restart', index, [fault.process]);
      process.restart();
    });
    return true;
  }

  /** Servers are restarted when the world heals; a client that is down by then stays down. */
  private restartOf({ process, restartAfterUs }: FaultOf<'crash'>): number | null {
    const { servers, healAtUs } = this.reach;
    const untilUs = restartAfterUs === null ? null : this.nowUs + restartAfterUs;
    if (servers.has(process)) return Math.min(untilUs ?? healAtUs, healAtUs);
    return untilUs === null || untilUs >= healAtUs ? null : untilUs;
  }

  private tearConnectionsTo(server: string): void {
    for (const host of this.reach.clients.values()) {
      const client = host.name;
      const name = nameOf(`${client}/${server}/torn`);
      this.reach.network.tear(host.connectionsTo(server), { server, client, name });
    }
  }

  private partition(fault: FaultOf<'partition'>, index: number): boolean {
    const untilUs = this.endOf(fault.forUs);
    this.note(fault.kind, index, {
      processes: [...fault.from, ...fault.to],
      untilUs,
      amount: fault.forUs,
    });
    const cut: Cut = {
      from: new Set(fault.from),
      to: new Set(fault.to),
      isBothWays: fault.direction === 'both',
      untilUs,
    };
    this.reach.network.cut(cut);
    this.reach.agenda.atOnce(untilUs, 'heal', () => {
      this.noteEnd('heal', index, [...fault.from, ...fault.to]);
      this.reach.network.heal(cut);
    });
    return true;
  }

  /** A fault that both steps and changes the rate is noted as two. */
  private clock(fault: FaultOf<'clock'>, index: number): boolean {
    const process = this.process(fault.process);
    const { stepUs, ratePpm } = fault;
    const processes = [fault.process];
    if (stepUs !== 0) {
      const step: Effect = { processes, untilUs: null, amount: stepUs, target: 'step' };
      this.note(fault.kind, index, step);
      process.clock.step(stepUs);
    }
    if (stepUs === 0 || ratePpm !== 0) {
      const rate: Effect = { processes, untilUs: null, amount: ratePpm, target: 'rate' };
      this.note(fault.kind, index, rate);
      process.setClockRate(this.nowUs, ratePpm);
    }
    return true;
  }

  private evict(fault: FaultOf<'evict'>, index: number): boolean {
    const events = this.reach.servers.get(fault.process)?.evict(fault.key) ?? null;
    if (events === null) return false;
    const strike = { processes: [fault.process], untilUs: null, amount: 0, target: fault.key };
    this.note(fault.kind, index, strike);
    for (const event of events) this.reach.recorder.record(event);
    return true;
  }

  /** Also of a server that is down or paused: the replica is neither. */
  private failover(fault: FaultOf<'failover'>, index: number): boolean {
    const server = this.reach.servers.get(fault.process);
    if (server === undefined) return false;
    this.note(fault.kind, index, {
      processes: [fault.process],
      untilUs: null,
      amount: fault.lagUs,
    });
    const process = this.process(fault.process);
    process.crash(this.nowUs);
    this.tearConnectionsTo(fault.process);
    server.loadReplica(fault.lagUs);
    process.restart();
    return true;
  }

  private reset(fault: FaultOf<'reset'>, index: number): boolean {
    const { from, to } = fault;
    const { clients, network } = this.reach;
    const connections = [
      ...(clients.get(from)?.connectionsTo(to) ?? []),
      ...(clients.get(to)?.connectionsTo(from) ?? []),
    ];
    if (!network.hasConnections || connections.length === 0) return false;
    this.note(fault.kind, index, { processes: [from, to], untilUs: null, amount: 0 });
    network.reset(connections);
    return true;
  }

  private get nowUs(): number {
    return this.reach.agenda.nowUs;
  }

  /** When a fault of that length ends: no later than the world heals. */
  private endOf(forUs: number): number {
    return Math.min(this.nowUs + forUs, this.reach.healAtUs);
  }

  private process(name: string): Process {
    const process = this.reach.processes.get(name);
    assert(process !== undefined, `the plan names a process ${name} that does not exist`);
    return process;
  }

  private note(fault: Fault['kind'], index: number, effect: Effect): void {
    const { processes, untilUs, target = '', amount } = effect;
    const { nowUs: atUs } = this;
    this.reach.recorder.record({
      kind: 'fault',
      atUs,
      fault,
      index,
      processes,
      untilUs,
      target,
      amount,
    });
  }

  private noteEnd(kind: FaultEnds['kind'], index: number, processes: readonly string[]): void {
    this.reach.recorder.record({ kind, atUs: this.nowUs, index, processes });
  }
}
