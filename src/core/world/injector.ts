/**
 * Injects the plan's faults at their times and points, and heals the world at the end. `network.ts`
 * and `process.ts` inject the faults of messages and timers.
 */
import type { FaultEnds } from '../history/events.ts';
import { assert, unreachable } from '../kernel/assert.ts';
import { type Fault, type FaultOf, type PlacedFault, processesNamed } from '../plan/fault.ts';
import type { Agenda } from './agenda.ts';
import type { Client } from './client.ts';
import type { Network, Partition } from './network.ts';
import type { Process } from './process.ts';
import type { Recorder } from './recorder.ts';
import type { Replaceable } from './server.ts';

interface Reach {
  readonly agenda: Agenda;
  readonly recorder: Recorder;
  readonly network: Network;
  readonly processes: ReadonlyMap<string, Process>;
  readonly clients: ReadonlyMap<string, Client>;
  readonly servers: ReadonlyMap<string, Replaceable>;
  readonly healAtUs: number;
}

interface Effect {
  readonly untilUs?: number | null;
  readonly amount?: number;
  readonly target?: string;
}

export class Injector {
  private readonly faults: readonly Fault[];
  private readonly reach: Reach;
  private readonly injected = new Set<number>();

  constructor(faults: readonly Fault[], reach: Reach) {
    this.faults = faults;
    this.reach = reach;
  }

  /**
   * Schedules the faults that have a time, and the healing. A fault at time 0 precedes everything
   * else, so a skewed clock is wrong from the start. `afterHeal` runs right after the healing.
   */
  begin(afterHeal: () => void): void {
    const { agenda } = this.reach;
    this.faults.forEach((fault, index) => {
      if (!('when' in fault) || fault.when.kind !== 'at') return;
      const { atUs } = fault.when;
      const subject = 'process' in fault ? fault.process : fault.from;
      const name = `${fault.kind}/${String(subject)}/${atUs}`;
      if (atUs === 0 && fault.kind === 'clock') this.fire(index);
      else if (atUs === 0) agenda.atOnce(atUs, name, () => this.fire(index));
      else agenda.at(atUs, name, () => this.fire(index));
    });
    agenda.atOnce(this.reach.healAtUs, 'healed', () => {
      this.heal();
      afterHeal();
    });
  }

  /** Injects fault `index` of the plan now, unless the world has healed. */
  fire(index: number): void {
    const fault = this.faults[index];
    assert(
      fault !== undefined && 'when' in fault,
      'a fault without a time or place was to be injected now',
    );
    if (this.reach.agenda.nowUs >= this.reach.healAtUs || !this.namesProcesses(fault)) return;
    if (this.inject(fault, index)) this.injected.add(index);
  }

  private namesProcesses(fault: PlacedFault): boolean {
    const { processes } = this.reach;
    if ('process' in fault) return processes.has(fault.process);
    return processesNamed(fault)
      .flat()
      .every((name) => processes.has(name));
  }

  /** Resets all clock rates. Chance and all other lasting faults end at this time, too. */
  private heal(): void {
    const { recorder, agenda, processes } = this.reach;
    recorder.record({ kind: 'healed', atUs: agenda.nowUs });
    for (const process of processes.values()) {
      if (process.clock.ratePpm !== 0) process.setClockRate(agenda.nowUs, 0);
    }
  }

  /** Describes each fault that was never injected by its process, point or time. */
  unmatched(): string[] {
    return this.faults.flatMap((fault, index) => {
      if (!('when' in fault) || this.injected.has(index)) return [];
      if ('process' in fault && !this.reach.processes.has(fault.process)) return [fault.process];
      if (fault.when.kind !== 'at') return [fault.when.point];
      return [`${fault.kind} at ${fault.when.atUs} µs`];
    });
  }

  /** Returns false if the fault has nothing to affect. */
  private inject(fault: PlacedFault, index: number): boolean {
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
    this.note(fault, index, { untilUs, amount: fault.forUs });
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
    this.note(fault, index, { untilUs, amount: fault.restartAfterUs ?? 0 });
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

  /**
   * Returns the restart time, or null if the process stays down. A server restarts at the healing
   * at the latest; a client restarts only before the healing.
   */
  private restartOf({ process, restartAfterUs }: FaultOf<'crash'>): number | null {
    const { servers, healAtUs } = this.reach;
    const untilUs = restartAfterUs === null ? null : this.nowUs + restartAfterUs;
    if (servers.has(process)) return Math.min(untilUs ?? healAtUs, healAtUs);
    return untilUs === null || untilUs >= healAtUs ? null : untilUs;
  }

  private tearConnectionsTo(server: string): void {
    for (const host of this.reach.clients.values()) {
      this.reach.network.tear(host.connectionsTo(server), { server, client: host.name });
    }
  }

  private partition(fault: FaultOf<'partition'>, index: number): boolean {
    const untilUs = this.endOf(fault.forUs);
    this.note(fault, index, { untilUs, amount: fault.forUs });
    const partition: Partition = {
      from: new Set(fault.from),
      to: new Set(fault.to),
      isBothWays: fault.direction === 'both',
      untilUs,
    };
    this.reach.network.partition(partition);
    this.reach.agenda.atOnce(untilUs, 'heal', () => {
      this.noteEnd('heal', index, [...fault.from, ...fault.to]);
      this.reach.network.heal(partition);
    });
    return true;
  }

  /** Records two events if a fault changes both the offset and the rate. */
  private clock(fault: FaultOf<'clock'>, index: number): boolean {
    const process = this.process(fault.process);
    const { stepUs, ratePpm } = fault;
    if (stepUs !== 0) {
      this.note(fault, index, { amount: stepUs, target: 'step' });
      process.clock.step(stepUs);
    }
    if (stepUs === 0 || ratePpm !== 0) {
      this.note(fault, index, { amount: ratePpm, target: 'rate' });
      process.setClockRate(this.nowUs, ratePpm);
    }
    return true;
  }

  private evict(fault: FaultOf<'evict'>, index: number): boolean {
    const events = this.reach.servers.get(fault.process)?.evict(fault.key) ?? null;
    if (events === null) return false;
    this.note(fault, index, { target: fault.key });
    for (const event of events) this.reach.recorder.record(event);
    return true;
  }

  /** Fails over even if the server is down or paused, because the replica is neither. */
  private failover(fault: FaultOf<'failover'>, index: number): boolean {
    const server = this.reach.servers.get(fault.process);
    if (server === undefined) return false;
    this.note(fault, index, { amount: fault.lagUs });
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
    this.note(fault, index, {});
    network.reset(connections);
    return true;
  }

  private get nowUs(): number {
    return this.reach.agenda.nowUs;
  }

  private endOf(forUs: number): number {
    return Math.min(this.nowUs + forUs, this.reach.healAtUs);
  }

  private process(name: string): Process {
    const process = this.reach.processes.get(name);
    assert(process !== undefined, `the plan names a process ${name} that does not exist`);
    return process;
  }

  private note(fault: PlacedFault, index: number, effect: Effect): void {
    const { untilUs = null, target = '', amount = 0 } = effect;
    this.reach.recorder.record({
      kind: 'fault',
      atUs: this.nowUs,
      fault: fault.kind,
      index,
      processes: processesNamed(fault).flat(),
      untilUs,
      target,
      amount,
    });
  }

  private noteEnd(kind: FaultEnds['kind'], index: number, processes: readonly string[]): void {
    this.reach.recorder.record({ kind, atUs: this.nowUs, index, processes });
  }
}
