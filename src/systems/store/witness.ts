/**
 * Tells the observer what a store did with an access, and what it holds when it comes back. Nothing
 * of it has an effect on the store.
 */
import type { Read, Recovered, TraceEvent, Write } from '../../core/history/events.ts';
import type { Draft } from '../../core/kernel/json.ts';
import type { Boot, Turn } from '../../core/world/server.ts';
import type { StoreReply, StoreRequest } from './request.ts';

/**
 * Reports a store's accesses to the observer, and what it holds after a restart. Without it no
 * claim about the data is tested. It changes nothing that the store does.
 */
export class StoreWitness {
  private readonly process: string;
  private readonly contentsOf: ConstructorParameters<typeof StoreWitness>[1];
  /** Every resource that the store was ever asked for. */
  private readonly known: Set<string> = new Set();

  /**
   * `process` is the store's name. `contentsOf` returns the highest token of a resource, 0 if the
   * store has none, and its values by key.
   */
  constructor(
    process: string,
    contentsOf: (resource: string) => {
      readonly highest: number;
      readonly values: ReadonlyMap<string, number>;
    },
  ) {
    this.process = process;
    this.contentsOf = contentsOf;
  }

  /**
   * The store answers a read. `refusal` says why it refused, unless the token is below the highest.
   */
  read(
    turn: Turn<StoreReply>,
    {
      request,
      answer,
      version,
      refusal,
    }: {
      readonly request: StoreRequest;
      readonly answer: StoreReply;
      readonly version?: Extract<TraceEvent, { readonly kind: 'read' }>['version'] | undefined;
      readonly refusal?: Extract<TraceEvent, { readonly kind: 'read' }>['refusal'] | undefined;
    },
  ): void {
    this.known.add(request.resource);
    const event: Draft<Read> = {
      kind: 'read',
      process: this.process,
      resource: request.resource,
      key: request.key,
      token: request.token,
      under: turn.under,
      client: turn.client,
      operation: turn.operation,
      issue: turn.issue,
      message: turn.message,
      isAccepted: answer.kind !== 'refused',
      atUs: turn.atUs,
      value: answer.kind === 'value' ? answer.value : null,
    };
    if (version !== undefined) event.version = version;
    if (refusal !== undefined) event.refusal = refusal;
    turn.observe(event);
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
      version,
      refusal,
    }: Omit<Parameters<StoreWitness['read']>[1], 'version'> & {
      readonly version?: Extract<TraceEvent, { readonly kind: 'write' }>['version'] | undefined;
      readonly highest?: number;
      /** When it took effect, if that was not as it came. */
      readonly atUs?: number;
      /** What stands there now, if the store did not take the value as it came. */
      readonly value?: number | null;
    },
  ): void {
    this.known.add(request.resource);
    const event: Draft<Write> = {
      kind: 'write',
      process: this.process,
      resource: request.resource,
      key: request.key,
      token: request.token,
      under: turn.under,
      client: turn.client,
      operation: turn.operation,
      issue: turn.issue,
      message: turn.message,
      isAccepted: answer.kind !== 'refused',
      atUs,
      value,
      highest,
      adds: turn.adds,
    };
    if (version !== undefined) event.version = version;
    if (refusal !== undefined) event.refusal = refusal;
    turn.observe(event);
  }

  /** The store is asked for a key that it has had from the beginning. */
  begin(
    turn: Turn<StoreReply>,
    resource: string,
    begins: NonNullable<Extract<TraceEvent, { readonly kind: 'recovered' }>['begins']>,
  ): void {
    this.known.add(resource);
    const event = this.recovered(resource, turn.atUs);
    event.begins = begins;
    turn.observe(event);
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
    boot.observe(this.recovered(resource, boot.atUs));
  }

  private recovered(resource: string, atUs: number): Draft<Recovered> {
    const { process } = this;
    const { highest, values: held } = this.contentsOf(resource);
    const values = Object.fromEntries(held);
    return { kind: 'recovered', atUs, process, resource, highest, values };
  }
}
