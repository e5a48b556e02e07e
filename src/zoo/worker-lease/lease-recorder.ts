/**
 * Records the leases of a back end for the observer. The observer identifies holders by client, but
 * a back end only knows their step and retry. A cache does not even know the purpose of a request.
 * Clients note this purpose here, for the observer only.
 */
import { GrantRecorder, type Turn } from '../../servers.ts';
import type { LeaseAsk, LeaseRecord, LeaseReturn, LeaseTerms } from './lease-rules.ts';
import { freedBy, judgedAt, takenBy, trueEndUs } from './lease-rules.ts';

export type LeaseCommand =
  | ({ readonly kind: 'acquire' } & LeaseAsk)
  | ({ readonly kind: 'release' } & LeaseReturn);

/** The lease that an operation tries to take. */
interface GrantedLease {
  readonly ttlUs: number;
  /** The earlier call that the lease depends on, if any. */
  readonly since?: { readonly sentAtUs: number };
}

export class LeaseRecorder {
  private readonly terms: LeaseTerms;
  private readonly recorder: GrantRecorder;
  private readonly commands: Map<string, LeaseCommand> = new Map();
  private readonly leases: Map<string, GrantedLease> = new Map();

  constructor(process: string, terms: LeaseTerms) {
    this.recorder = new GrantRecorder(process);
    this.terms = terms;
  }

  /** Called by a client for an operation that only reads. */
  noteRequest(operation: string, command: LeaseCommand): void {
    this.commands.set(operation, command);
  }

  /** Called by a client for an operation that tries to take a lease. */
  noteLease(operation: string, lease: GrantedLease): void {
    this.leases.set(operation, lease);
  }

  /**
   * Records a command that fails because of the record it read. The client sends no further
   * request.
   */
  looked(turn: Turn, lock: string, record: LeaseRecord | null): void {
    const command = this.commands.get(turn.operation);
    if (command === undefined) throw new Error('a client notes what it looks for');
    if (command.kind === 'release') {
      if (freedBy(record, command) === null) this.release(turn, lock, false);
      return;
    }
    const { steps, retries, timeout } = command;
    const ask = { steps, retries, now: judgedAt(this.terms, command.now, turn), timeout };
    if (takenBy(record, ask, this.terms.rules) === null) this.deny(turn, lock);
  }

  grant(turn: Turn, lock: string, record: LeaseRecord): void {
    const { client } = turn;
    const lease = this.leases.get(turn.operation);
    if (lease === undefined) throw new Error('a client notes which lease it takes');
    const untilUs = trueEndUs(this.terms, record.expires, turn);
    const { ttlUs, since = turn } = lease;
    const { sentAtUs } = since;
    this.recorder.grant(turn, { lock, client, token: record.fence, ttlUs, untilUs, sentAtUs });
  }

  deny(turn: Turn, lock: string): void {
    this.recorder.deny(turn, { lock, client: turn.client });
  }

  release(turn: Turn, lock: string, isEffective: boolean): void {
    this.recorder.release(turn, { lock, client: turn.client, isEffective });
  }

  /** Returns a function that restores the back end's grants; the clients' notes stay. */
  snapshot(restore: () => void): () => void {
    return this.recorder.snapshot(restore);
  }
}
