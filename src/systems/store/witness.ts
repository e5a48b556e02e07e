/** Tells the observer what a store did with an access. Nothing of it has an effect on the store. */
import type { Boot, Turn } from '../../world/server.ts';
import type { StoreReply, StoreRequest } from './request.ts';

/** The store `process` answers a read. */
export function noteRead(
  process: string,
  { request, answer }: { readonly request: StoreRequest; readonly answer: StoreReply },
  turn: Turn<StoreReply>,
): void {
  turn.observe({
    kind: 'read',
    atUs: turn.atUs,
    process,
    resource: request.resource,
    key: request.key,
    value: answer.kind === 'value' ? answer.value : null,
    token: request.token,
    under: turn.under,
    client: turn.client,
    operation: turn.operation,
    issue: turn.issue,
    isAccepted: answer.kind !== 'refused',
    message: turn.message,
  });
}

/** The store `process` answers a write or an `open`; `highest` is the token it compared with. */
export function noteWrite(
  process: string,
  turn: Turn<StoreReply>,
  {
    request,
    answer,
    highest,
    atUs = turn.atUs,
  }: {
    readonly request: StoreRequest;
    readonly answer: StoreReply;
    readonly highest: number;
    /** When it took effect, if that was not as it came. */
    readonly atUs?: number;
  },
): void {
  turn.observe({
    kind: 'write',
    atUs,
    process,
    resource: request.resource,
    key: request.key,
    value: request.kind === 'write' ? request.value : null,
    token: request.token,
    under: turn.under,
    client: turn.client,
    operation: turn.operation,
    issue: turn.issue,
    isAccepted: answer.kind !== 'refused',
    highest,
    adds: turn.adds,
    message: turn.message,
  });
}

/** What the store `process` holds of a resource as it comes back, or after it forgot a key. */
export function noteContents(
  process: string,
  held: {
    readonly resource: string;
    readonly highest: number;
    readonly values: ReadonlyMap<string, number>;
  },
  boot: Boot,
): void {
  boot.observe({
    kind: 'recovered',
    atUs: boot.atUs,
    process,
    resource: held.resource,
    highest: held.highest,
    values: Object.fromEntries(held.values),
  });
}
