/**
 * The timers of one incarnation of a process: alarms on its clock, named by kind and delay, such as
 * `alice/timeout-30ms-2`. Timers due at the same instant fire in the order in which they were set.
 */
import { type Name, under } from '../../core/kernel/name.ts';
import { Alarm, type AlarmParts, type Process } from '../../core/world/process.ts';
import { shareExports } from './reachable.ts';

const IMMEDIATE_US = 1;

interface Armed {
  readonly alarm: Alarm;
  /** The timer's own name, from which the names of later rounds derive. */
  readonly name: Name;
  readonly round: number;
}

export class Timers {
  private readonly process: Process;
  private readonly parts: AlarmParts;
  private readonly root: Name;
  private readonly tiedAs: Name;
  private readonly run: (code: () => void) => void;
  private readonly armed: Map<VirtualTimer, Armed> = new Map();
  private readonly unreferenced: Set<VirtualTimer> = new Set();
  private readonly counts: Map<string, number> = new Map();
  /** Timers whose numeric ids have been requested. */
  private readonly numbered: Map<number, VirtualTimer> = new Map();

  /** `run` runs the code of a timer that is due. */
  constructor(
    process: Process,
    parts: AlarmParts,
    { root, run }: { readonly root: Name; readonly run: (code: () => void) => void },
  ) {
    this.process = process;
    this.parts = parts;
    this.root = root;
    this.tiedAs = under(root, 'timers');
    this.run = run;
  }

  set(setting: TimerSetting): VirtualTimer {
    const timer = new VirtualTimer(setting, this);
    this.armAs(timer, { name: this.nameFor(setting), round: 1 });
    return timer;
  }

  /** Number of timers that keep their process alive. */
  get referenced(): number {
    return this.armed.size - this.unreferenced.size;
  }

  private nameFor({ kind, delayMs }: TimerSetting): Name {
    const label = kind === 'immediate' ? kind : `${kind}-${delayMs}ms`;
    const count = (this.counts.get(label) ?? 0) + 1;
    this.counts.set(label, count);
    return under(this.root, count === 1 ? label : `${label}-${count}`);
  }

  private armAs(timer: VirtualTimer, { name, round }: Omit<Armed, 'alarm'>): void {
    const { kind, delayMs } = timer.setting;
    const delayUs = kind === 'immediate' ? IMMEDIATE_US : delayMs * 1000;
    const alarmName = round === 1 ? name : under(name, String(round));
    const alarm = new Alarm(
      this.process,
      {
        name: alarmName,
        waitUs: this.parts.choices.waitUs(alarmName, delayUs),
        action: () => this.ring(timer, { name, round }),
        tiedAs: this.tiedAs,
      },
      this.parts,
    );
    this.armed.set(timer, { alarm, name, round });
  }

  private ring(timer: VirtualTimer, { name, round }: Omit<Armed, 'alarm'>): void {
    const { kind, callback } = timer.setting;
    if (kind !== 'interval') {
      this.forget(timer);
      this.run(callback);
      return;
    }
    this.run(callback);
    // Repeats an interval, unless its code cleared it or set it again.
    if (this.armed.get(timer)?.round === round) this.armAs(timer, { name, round: round + 1 });
  }

  /** Restarts a timer as if it had just been set. */
  arm(timer: VirtualTimer): void {
    const armed = this.armed.get(timer);
    armed?.alarm.cancel();
    const name = armed?.name ?? this.nameFor(timer.setting);
    this.armAs(timer, { name, round: (armed?.round ?? 0) + 1 });
  }

  drop(timer: VirtualTimer): void {
    this.armed.get(timer)?.alarm.cancel();
    this.forget(timer);
  }

  private forget(timer: VirtualTimer): void {
    this.armed.delete(timer);
    this.unreferenced.delete(timer);
  }

  /** Sets whether the timer keeps its process alive. */
  setRef(timer: VirtualTimer, hasRef: boolean): void {
    if (hasRef || !this.armed.has(timer)) this.unreferenced.delete(timer);
    else this.unreferenced.add(timer);
  }

  idOf(timer: VirtualTimer): number {
    for (const [id, known] of this.numbered) if (known === timer) return id;
    const id = this.numbered.size + 1;
    this.numbered.set(id, timer);
    return id;
  }

  timerOf(id: number): VirtualTimer | undefined {
    return this.numbered.get(id);
  }

  clear(): void {
    for (const { alarm } of this.armed.values()) alarm.cancel();
    this.armed.clear();
    this.unreferenced.clear();
  }
}

export interface TimerSetting {
  readonly kind: 'timeout' | 'interval' | 'immediate';
  /** Whole milliseconds; 0 for an immediate. */
  readonly delayMs: number;
  readonly callback: () => void;
}

type TimerKeeper = Pick<Timers, 'setRef' | 'arm' | 'drop' | 'idOf'>;

export class VirtualTimer {
  // Private, so that inspecting a timer does not show these fields.
  readonly #setting: TimerSetting;
  readonly #keeper: TimerKeeper;
  #isReferenced = true;

  constructor(setting: TimerSetting, keeper: TimerKeeper) {
    this.#setting = setting;
    this.#keeper = keeper;
  }

  get setting(): TimerSetting {
    return this.#setting;
  }

  ref(): this {
    this.#keeper.setRef(this, true);
    this.#isReferenced = true;
    return this;
  }

  unref(): this {
    this.#keeper.setRef(this, false);
    this.#isReferenced = false;
    return this;
  }

  hasRef(): boolean {
    return this.#isReferenced;
  }

  refresh(): this {
    this.#keeper.arm(this);
    return this;
  }

  close(): this {
    this.#keeper.drop(this);
    return this;
  }

  [Symbol.toPrimitive](): number {
    return this.#keeper.idOf(this);
  }
}

/** Converts a delay to whole milliseconds as Node does, or to 1 if it is out of range. */
export function delayOf(value: unknown): number {
  const delay = Number(value);
  return delay >= 1 && delay <= 0x7fffffff ? Math.trunc(delay) : 1;
}

shareExports('a timer', VirtualTimer.prototype);
