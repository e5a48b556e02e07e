/** Records a store's accesses for the observer. */
import type { Read, Recovered, TraceEvent, Write } from '../../core/history/events.ts';
import type { Draft } from '../../core/kernel/json.ts';
import type { Boot, Turn } from '../../core/world/server.ts';
import type { StoreReply, StoreRequest } from './request.ts';

/**
 * Records a store's accesses, and its contents after a restart, for the observer. Without these
 * records, no claim about the data is tested. Recording does not affect the store.
 */
export class StoreRecorder {
  private readonly process: string;
  private readonly contentsOf: ConstructorParameters<typeof StoreRecorder>[1];
  /** Every resource that was ever accessed. */
  private readonly known: Set<string> = new Set();

  /**
   * `process` is the store's name. `contentsOf` returns a resource's highest token (0 without
   * tokens) and the resource's values by key.
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

  /** Records the reply to a read. `refusal` is the reason if the read was refused. */
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

  /**
   * Records the reply to a write or an `open`. `highest` is the token that the request was compared
   * with. `refusal` is the reason, unless the token was below `highest`.
   */
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
    }: Omit<Parameters<StoreRecorder['read']>[1], 'version'> & {
      readonly version?: Extract<TraceEvent, { readonly kind: 'write' }>['version'] | undefined;
      readonly highest?: number;
      /** Time at which the write took effect. Default: when it arrived. */
      readonly atUs?: number;
      /** The stored value, if it differs from the value sent. */
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

  /** Records, at its first access, a key that the store had from the start. */
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

  /** Records the contents after a crash, or after a replica took over. */
  restart(boot: Boot): void {
    for (const resource of this.known) this.note(resource, boot);
  }

  /** Records the resources that lost an evicted key. Returns false if there are none. */
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
