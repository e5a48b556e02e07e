/** A timer of a simulated process, as its own code sees it: what `setTimeout` gives in Node. */

export interface TimerSetting {
  readonly kind: 'timeout' | 'interval' | 'immediate';
  /** Whole milliseconds; 0 for an immediate. */
  readonly delayMs: number;
  readonly callback: () => void;
}

/** What keeps a timer and lets it go. */
export interface TimerKeeper {
  /** From now on again, as if it had just been set. */
  arm(timer: VirtualTimer): void;
  drop(timer: VirtualTimer): void;
  /** Its process may end while it is set, or may not any more. */
  setRef(timer: VirtualTimer, hasRef: boolean): void;
  idOf(timer: VirtualTimer): number;
}

export class VirtualTimer {
  readonly setting: TimerSetting;
  private readonly keeper: TimerKeeper;
  private isReferenced = true;

  constructor(setting: TimerSetting, keeper: TimerKeeper) {
    this.setting = setting;
    this.keeper = keeper;
  }

  ref(): this {
    this.keeper.setRef(this, true);
    this.isReferenced = true;
    return this;
  }

  unref(): this {
    this.keeper.setRef(this, false);
    this.isReferenced = false;
    return this;
  }

  hasRef(): boolean {
    return this.isReferenced;
  }

  refresh(): this {
    this.keeper.arm(this);
    return this;
  }

  close(): this {
    this.keeper.drop(this);
    return this;
  }

  [Symbol.toPrimitive](): number {
    return this.keeper.idOf(this);
  }
}

/** What Node makes of a delay: whole milliseconds, 1 for what is too short or too long. */
export function delayOf(given: unknown): number {
  const delay = Number(given);
  return delay >= 1 && delay <= 0x7fffffff ? Math.trunc(delay) : 1;
}
