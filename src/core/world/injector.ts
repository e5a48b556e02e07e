/**
 * Strikes the plan's faults, each when its time or its point has come, and heals the world at last.
 */
import { assert } from '../kernel/assert.ts';
import type { Fault } from '../plan/fault.ts';
import { type PlacedFault, type Reach, Strikes } from './strikes.ts';

export class Injector {
  private readonly faults: readonly Fault[];
  private readonly reach: Reach;
  private readonly strikes: Strikes;
  private readonly struck = new Set<number>();

  constructor(faults: readonly Fault[], reach: Reach) {
    this.faults = faults;
    this.reach = reach;
    this.strikes = new Strikes(reach);
  }

  /**
   * Schedules the faults that have a time, and the healing. What strikes at time 0 was so from the
   * start: it comes before all else. `afterHeal` starts what follows the healing.
   */
  begin(afterHeal: () => void): void {
    const { agenda } = this.reach;
    this.faults.forEach((fault, index) => {
      if (!('when' in fault) || fault.when.kind !== 'at') return;
      const { atUs } = fault.when;
      const subject = 'process' in fault ? fault.process : fault.from;
      const name = `${fault.kind}/${String(subject)}/${atUs}`;
      if (atUs === 0) agenda.atOnce(atUs, name, () => this.strike(index));
      else agenda.at(atUs, name, () => this.strike(index));
    });
    agenda.atOnce(this.reach.healAtUs, 'healed', () => {
      this.heal();
      afterHeal();
    });
  }

  /** Strikes fault `index` of the plan now, unless the world has healed. */
  strike(index: number): void {
    const fault = this.faults[index];
    assert(
      fault !== undefined && 'when' in fault,
      'a fault was to strike that has no time or place',
    );
    if (this.reach.agenda.nowUs >= this.reach.healAtUs || !this.namesProcesses(fault)) return;
    if (this.strikes.take(fault, index)) this.struck.add(index);
  }

  /** Whether every process that it names exists. */
  private namesProcesses(fault: PlacedFault): boolean {
    const { processes } = this.reach;
    if ('process' in fault) return processes.has(fault.process);
    if (fault.kind === 'reset') return processes.has(fault.from) && processes.has(fault.to);
    const exists = (name: string): boolean => processes.has(name);
    return fault.from.every(exists) && fault.to.every(exists);
  }

  /** Clock rates return to 1; chance stops by itself, and all that lasts was cut to this time. */
  private heal(): void {
    const { recorder, agenda, processes } = this.reach;
    recorder.record({ kind: 'healed', atUs: agenda.nowUs });
    for (const process of processes.values()) {
      if (process.clock.ratePpm !== 0) process.setClockRate(agenda.nowUs, 0);
    }
  }

  /** Of the faults that never struck: the process or point that they name, or their time. */
  unmatched(): string[] {
    return this.faults.flatMap((fault, index) => {
      if (!('when' in fault) || this.struck.has(index)) return [];
      if ('process' in fault && !this.reach.processes.has(fault.process)) return [fault.process];
      if (fault.when.kind !== 'at') return [fault.when.point];
      return [`${fault.kind} at ${fault.when.atUs} µs`];
    });
  }
}
