/** Does the plan's faults to the world, each when its time or its point has come, and heals it at last. */
import { assert, unreachable } from '../kernel/assert.ts';
import { type Name, nameOf } from '../kernel/name.ts';
import type { Due } from '../kernel/queue.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { FaultEnds } from '../history/trace.ts';
import type { ClockFault, Crash, Failover, Fault, Partition, Pause, Reset } from '../plan/fault.ts';
import type { ClientHost } from './client.ts';
import type { Decider } from './decider.ts';
import type { Cut, Network } from './network.ts';
import type { Process } from './process.ts';
import type { Recorder } from './recorder.ts';
import type { Replaceable } from './server.ts';

/** What the injector may touch. */
export interface Reach {
  readonly scheduler: Scheduler;
  readonly recorder: Recorder;
  readonly decider: Decider;
  readonly network: Network;
  readonly processes: ReadonlyMap<string, Process>;
  readonly clients: ReadonlyMap<string, ClientHost>;
  readonly servers: ReadonlyMap<string, Replaceable>;
  readonly healAtUs: number;
}

/** An instant at which the injector does something. */
class Appointment implements Due {
  readonly name: Name;
  readonly timeUs: number;
  readonly tie: number;
  seq = 0;
  private readonly action: () => void;

  constructor(name: Name, timeUs: number, tie: number, action: () => void) {
    this.name = name;
    this.timeUs = timeUs;
    this.tie = tie;
    this.action = action;
  }

  fire(): void {
    this.action();
  }
}

export class Injector {
  private readonly faults: readonly Fault[];
  private readonly reach: Reach;
  private readonly struck = new Set<number>();
  private readonly openCuts = new Map<Cut, number>();

  constructor(faults: readonly Fault[], reach: Reach) {
    this.faults = faults;
    this.reach = reach;
  }

  /** Schedules the faults that have a time, and the healing. `afterHeal` starts what follows it. */
  begin(afterHeal: () => void): void {
    this.faults.forEach((fault, index) => {
      if (!('when' in fault) || fault.when.kind !== 'at') return;
      const subject = 'process' in fault ? fault.process : fault.from;
      const name = `${fault.kind}/${String(subject)}/${fault.when.atUs}`;
      this.at(fault.when.atUs, name, () => this.strike(index));
    });
    this.atOnce(this.reach.healAtUs, 'healed', () => {
      this.heal();
      afterHeal();
    });
  }

  private at(timeUs: number, text: string, action: () => void): void {
    const name = nameOf(text);
    const tie = this.reach.decider.tie(name);
    this.reach.scheduler.schedule(new Appointment(name, timeUs, tie, action));
  }

  /** The same, ahead of all else that happens at that instant. */
  private atOnce(timeUs: number, text: string, action: () => void): void {
    const name = nameOf(text);
    this.reach.scheduler.schedule(new Appointment(name, timeUs, Number.MIN_SAFE_INTEGER, action));
  }

  private get nowUs(): number {
    return this.reach.scheduler.nowUs;
  }

  private get isHealed(): boolean {
    return this.nowUs >= this.reach.healAtUs;
  }

  /** Strikes fault `index` of the plan now, unless the world has healed. */
  strike(index: number): void {
    const fault = this.faults[index];
    assert(fault !== undefined, 'a fault that is not in the plan was to strike');
    if (this.isHealed || ('process' in fault && !this.reach.processes.has(fault.process))) return;
    this.struck.add(index);
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
        return this.evict(fault.process, fault.key, index);
      case 'failover':
        return this.failover(fault, index);
      case 'reset':
        return this.reset(fault, index);
      case 'delay':
      case 'drop':
      case 'duplicate':
      case 'late-timer':
        return; // the network and the timers ask the decider for these
      default:
        return unreachable(fault);
    }
  }

  private pause(fault: Pause, index: number): void {
    const process = this.process(fault.process);
    if (!process.isUp) return;
    const untilUs = Math.min(this.nowUs + fault.forUs, this.reach.healAtUs);
    this.note(index, { processes: [fault.process], untilUs, amount: fault.forUs });
    if (fault.clocks === 'freeze') {
      process.clock.freeze(untilUs - this.nowUs);
      this.rearm(process);
    }
    if (process.isPaused && process.pausedUntilUs >= untilUs) return;
    process.isPaused = true;
    process.pausedUntilUs = untilUs;
    this.at(untilUs, `resume/${fault.process}`, () => {
      if (!process.isPaused || process.pausedUntilUs !== untilUs) return;
      this.noteEnd('resume', index, [fault.process]);
      process.resume();
    });
  }

  private crash(fault: Crash, index: number): void {
    const process = this.process(fault.process);
    if (!process.isUp) return;
    const isServer = this.reach.servers.has(fault.process);
    const backUs = fault.restartAfterUs === null ? null : this.nowUs + fault.restartAfterUs;
    const untilUs = isServer ? Math.min(backUs ?? this.reach.healAtUs, this.reach.healAtUs) : backUs;
    this.note(index, {
      processes: [fault.process],
      untilUs,
      amount: fault.restartAfterUs ?? 0,
    });
    process.crash();
    this.resetConnectionsOf(fault.process);
    if (untilUs === null || (!isServer && untilUs >= this.reach.healAtUs)) return;
    this.at(untilUs, `restart/${fault.process}`, () => {
      this.noteEnd('restart', index, [fault.process]);
      process.restart();
    });
  }

  /** Clients learn of a server that went away after one latency. */
  private resetConnectionsOf(server: string): void {
    for (const client of this.reach.clients.values()) {
      for (const connection of client.connectionsTo(server)) {
        const name = nameOf(`${client.name}/${server}/reset`);
        this.reach.network.reset(connection, name, this.reach.network.baseLatencyUs);
      }
    }
  }

  private partition(fault: Partition, index: number): void {
    const untilUs = Math.min(this.nowUs + fault.forUs, this.reach.healAtUs);
    this.note(index, { processes: [...fault.from, ...fault.to], untilUs, amount: fault.forUs });
    const cut: Cut = {
      from: new Set(fault.from),
      to: new Set(fault.to),
      isBothWays: fault.direction === 'both',
      untilUs,
    };
    this.reach.network.cut(cut);
    this.openCuts.set(cut, index);
    this.atOnce(untilUs, 'heal', () => this.healCut(cut));
  }

  private healCut(cut: Cut): void {
    const index = this.openCuts.get(cut);
    if (index === undefined) return;
    this.openCuts.delete(cut);
    this.noteEnd('heal', index, [...cut.from, ...cut.to]);
    this.reach.network.heal(cut);
  }

  private clock(fault: ClockFault, index: number): void {
    const process = this.process(fault.process);
    const amount = fault.stepUs === 0 ? fault.ratePpm : fault.stepUs;
    const target = fault.stepUs === 0 ? 'rate' : 'step';
    this.note(index, { processes: [fault.process], untilUs: null, amount, target });
    process.clock.step(fault.stepUs);
    process.clock.setRate(this.nowUs, fault.ratePpm);
    this.rearm(process);
  }

  private rearm(process: Process): void {
    for (const alarm of process.alarms) alarm.arm(this.reach.scheduler);
  }

  private evict(server: string, key: string, index: number): void {
    const hadKey = this.reach.servers.get(server)?.evict(key) ?? false;
    if (!hadKey) return;
    this.note(index, { processes: [server], untilUs: null, amount: 0, target: key });
  }

  private failover(fault: Failover, index: number): void {
    this.note(index, { processes: [fault.process], untilUs: null, amount: fault.lagUs });
    this.resetConnectionsOf(fault.process);
    this.reach.servers.get(fault.process)?.failover(fault.lagUs);
  }

  private reset(fault: Reset, index: number): void {
    this.note(index, { processes: [fault.from, fault.to], untilUs: null, amount: 0 });
    for (const [here, there] of [
      [fault.from, fault.to],
      [fault.to, fault.from],
    ] as const) {
      const open = this.reach.clients.get(here)?.connectionsTo(there) ?? [];
      const name = nameOf(`${here}/${there}/reset`);
      for (const connection of open) this.reach.network.reset(connection, name, 0);
    }
  }

  private process(name: string): Process {
    const process = this.reach.processes.get(name);
    assert(process !== undefined, `the plan names a process ${name} that does not exist`);
    return process;
  }

  private note(
    index: number,
    strike: {
      processes: readonly string[];
      untilUs: number | null;
      amount: number;
      target?: string;
    },
  ): void {
    const fault = this.faults[index];
    assert(fault !== undefined, 'a fault that is not in the plan strikes');
    this.reach.recorder.record({
      kind: 'fault',
      atUs: this.nowUs,
      fault: fault.kind,
      index,
      target: '',
      ...strike,
    });
  }

  private noteEnd(kind: FaultEnds['kind'], index: number, processes: readonly string[]): void {
    this.reach.recorder.record({ kind, atUs: this.nowUs, index, processes });
  }

  /** Chance faults stop, partitions lift, rates return to 1; pauses and restarts were cut to this time. */
  private heal(): void {
    this.reach.recorder.record({ kind: 'healed', atUs: this.nowUs });
    for (const cut of this.openCuts.keys()) this.healCut(cut);
    for (const process of this.reach.processes.values()) {
      process.clock.setRate(this.nowUs, 0);
      this.rearm(process);
    }
  }

  /** The faults that have a time of their own and did not strike. */
  unmatched(): string[] {
    return this.faults.flatMap((fault, index) =>
      'when' in fault && fault.when.kind === 'at' && !this.struck.has(index)
        ? [`${fault.kind} at ${fault.when.atUs} µs`]
        : [],
    );
  }
}
