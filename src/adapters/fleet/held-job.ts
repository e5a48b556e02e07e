/**
 * A job that this worker holds under a lock. It is ours to renew the lock while the job is done,
 * and to know when it is lost: what comes of the job then is no answer to it any more.
 */
import type { AnyJob } from './connection.ts';

export interface Hold {
  readonly job: AnyJob;
  /** Under which it was taken; another one each time. */
  readonly token: string;
  /** Who does not renew for so long has lost the job to others. */
  readonly lockMs: number;
}

export class HeldJob {
  readonly id: string;
  readonly data: unknown;
  /** Why it must not be done but given up, as the queue says; null where it may. */
  readonly whyGivenUp: string | null;
  private readonly hold: Hold;
  private readonly timer: NodeJS.Timeout;
  private wasLost = false;

  /** Renews the lock until it is released. */
  constructor(hold: Hold) {
    const { job, lockMs } = hold;
    this.hold = hold;
    this.id = job.id ?? '';
    this.data = job.data;
    this.whyGivenUp = job.deferredFailure ?? null;
    // Where the queue does not answer the lock may be held or not: it is asked again at the end.
    this.timer = setInterval(() => void this.renew().catch(() => {}), lockMs / 3);
  }

  /** Looks whether the lock is still held, and renews it. */
  async renew(): Promise<boolean> {
    const { job, token, lockMs } = this.hold;
    if (!this.wasLost) this.wasLost = (await job.extendLock(token, lockMs)) !== 1;
    return !this.wasLost;
  }

  /** Ends it with a result; false where the lock is lost, and nothing is done then. */
  async complete(result: object): Promise<boolean> {
    if (!(await this.renew())) return false;
    try {
      await this.hold.job.moveToCompleted(result, this.hold.token, false);
      return true;
    } catch (error) {
      if (await this.renew()) throw error;
      return false;
    }
  }

  /** Ends this attempt; the queue tries again, unless there were enough or the error forbids it. */
  async fail(error: Error): Promise<void> {
    if (!(await this.renew())) return;
    try {
      await this.hold.job.moveToFailed(error, this.hold.token, false);
    } catch (refused) {
      if (await this.renew()) throw refused;
    }
  }

  release(): void {
    clearInterval(this.timer);
  }
}
