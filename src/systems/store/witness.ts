/**
 * Tells the observer what a store did with an access, and what it holds when it comes back. Nothing
 * of it has an effect on the store.
 */
import type {
  Recovered,
  Refusal,
  RowVersion,
  WriteVersion,
} from '../../core/history/server-events.ts';
import type { TraceEvent } from '../../core/history/trace.ts';
import type { Boot, Turn } from '../../core/world/server.ts';
import type { StoreReply, StoreRequest } from './request.ts';

/** What a store holds of a resource. */
export interface Contents {
  /** The highest token; 0 where it goes by none. */
  readonly highest: number;
  readonly values: ReadonlyMap<string, number>;
}

/** What the trace says of every access. */
type Access = Pick<
  Extract<TraceEvent, { readonly kind: 'write' }>,
  | 'process'
  | 'resource'
  | 'key'
  | 'token'
  | 'under'
  | 'client'
  | 'operation'
  | 'issue'
  | 'message'
  | 'isAccepted'
>;

export class StoreWitness {
  private readonly process: string;
  private readonly contentsOf: (resource: string) => Contents;
  /** Every resource that the store was ever asked for. */
  private readonly known: Set<string> = new Set();

  /** `process` is the store's name. */
  constructor(process: string, contentsOf: (resource: string) => Contents) {
    this.process = process;
    this.contentsOf = contentsOf;
  }

  /** The store answers a read. */
  read(
    turn: Turn<StoreReply>,
    {
      request,
      answer,
      ...went
    }: {
      readonly request: StoreRequest;
      readonly answer: StoreReply;
      readonly version?: RowVersion;
      readonly refusal?: Refusal;
    },
  ): void {
    this.known.add(request.resource);
    const value = answer.kind === 'value' ? answer.value : null;
    const access = this.accessOf(turn, request, answer);
    turn.observe({ kind: 'read', ...access, atUs: turn.atUs, value, ...went });
  }

  /** The store answers a write or an `open`; `highest` is the token it compared with. */
  write(
    turn: Turn<StoreReply>,
    {
      request,
      answer,
      highest = 0,
      atUs = turn.atUs,
      value = request.kind === 'write' ? request.value : null,
      ...went
    }: {
      readonly request: StoreRequest;
      readonly answer: StoreReply;
      readonly highest?: number;
      /** When it took effect, if that was not as it came. */
      readonly atUs?: number;
      /** What stands there now, if the store did not take the value as it came. */
      readonly value?: number | null;
      readonly version?: WriteVersion;
      /** Why it was refused, where that is not that its token is below the highest. */
      readonly refusal?: Refusal;
    },
  ): void {
    this.known.add(request.resource);
    const access = this.accessOf(turn, request, answer);
    turn.observe({ kind: 'write', ...access, atUs, value, highest, adds: turn.adds, ...went });
  }

  /** The store is asked for a key that it has had from the beginning. */
  begin(turn: Turn<StoreReply>, resource: string, begins: NonNullable<Recovered['begins']>): void {
    this.known.add(resource);
    const { atUs } = turn;
    turn.observe({ kind: 'recovered', atUs, ...this.heldOf(resource), begins });
  }

  /** The store comes back after a crash, or as a replica. */
  restart(boot: Boot): void {
    for (const resource of this.known) this.note(resource, boot);
  }

  /** The store forgot a key of these resources; false where there are none. */
  evict(resources: readonly string[], boot: Boot): boolean {
    for (const resource of resources) this.note(resource, boot);
    return resources.length > 0;
  }

  private note(resource: string, boot: Boot): void {
    boot.observe({ kind: 'recovered', atUs: boot.atUs, ...this.heldOf(resource) });
  }

  private heldOf(resource: string): Pick<Recovered, 'process' | 'resource' | 'highest' | 'values'> {
    const { highest, values } = this.contentsOf(resource);
    return { process: this.process, resource, highest, values: Object.fromEntries(values) };
  }

  private accessOf(turn: Turn<StoreReply>, request: StoreRequest, answer: StoreReply): Access {
    const { resource, key, token } = request;
    const { under, client, operation, issue, message } = turn;
    return {
      ...{ process: this.process, resource, key, token },
      ...{ under, client, operation, issue, message },
      isAccepted: answer.kind !== 'refused',
    };
  }
}
