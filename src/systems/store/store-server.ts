/**
 * Stores as simulated servers, which answer accesses and record them for the observer.
 * - `StoreServer` compares tokens, by the rules of `store.ts`.
 * - `askingServer` asks the lock service before each write whether the token belongs to a live
 *   lease. It refuses a token that it cannot verify. Chubby's sequencers are checked in this way.
 *   The lease may have ended by the time the answer arrives.
 * - `VersionServer` accepts a write if the row still has the expected version, which is a count or
 *   the time of the last change.
 */
import type { Refusal, RowVersion, WriteVersion } from '../../core/history/events.ts';
import type { Draft } from '../../core/kernel/json.ts';
import { type Boot, LATER, type Server, type Turn } from '../../core/world/server.ts';
import type { CheckToken } from '../protocol.ts';
import type { StoreReply, StoreRequest } from './request.ts';
import { type FenceRule, Store } from './store.ts';
import { StoreRecorder } from './store-recorder.ts';
import { type Cell, MemoryTable, type VersionOutcome, type VersionTable } from './version-table.ts';

/** A server for a store with this rule, which records accesses for the observer. */
export class StoreServer implements Server<StoreRequest, StoreReply> {
  private readonly store: Store;
  private readonly recorder: StoreRecorder;

  constructor(name: string, rule: FenceRule) {
    this.store = new Store(rule, { takesAnyToken: true });
    this.recorder = new StoreRecorder(name, (resource) => this.store.contents(resource));
  }

  handle(request: StoreRequest, turn: Turn<StoreReply>): StoreReply {
    const highest = this.store.highest(request);
    if (request.kind === 'fence') return { kind: 'value', value: highest };
    const answer = this.answer(request);
    const refusal = this.whyRefused(request, answer);
    if (request.kind === 'read') this.recorder.read(turn, { request, answer, refusal });
    else this.recorder.write(turn, { request, answer, highest, refusal });
    return answer;
  }

  private whyRefused(request: StoreRequest, answer: StoreReply): Refusal | undefined {
    if (answer.kind !== 'refused') return undefined;
    const refusal = this.store.whyRefused(request);
    if (refusal !== null) return refusal;
    // A write event already has the token that the write was compared with.
    return request.kind === 'read' ? { kind: 'lower', highest: answer.highest } : undefined;
  }

  private answer(request: StoreRequest): StoreReply {
    if (request.kind === 'write') return this.store.write(request, request.value);
    return request.kind === 'open' ? this.store.open(request) : this.store.read(request);
  }

  restart(boot: Boot): void {
    this.store.crash();
    this.recorder.restart(boot);
  }

  snapshot(): () => void {
    return this.store.snapshot();
  }

  evict(key: string, boot: Boot): boolean {
    return this.recorder.evict(this.store.forget(key), boot);
  }
}

type WriteRequest = Extract<StoreRequest, { kind: 'write' }>;

export function askingServer(name: string, check: CheckToken): Server<StoreRequest, StoreReply> {
  const table = new MemoryTable();
  const recorder = tableRecorder(name, table);
  const finish = (request: WriteRequest, isCurrent: boolean): StoreReply => {
    if (!isCurrent) return { kind: 'refused', highest: 0 };
    const { resource, key, value } = request;
    table.commit({ cell: { resource, key }, value, adds: null, stamp: 0, once: null });
    return { kind: 'accepted' };
  };
  return {
    handle(request, turn) {
      if (request.kind === 'write') {
        const { resource: lock, token } = request;
        check(turn, { lock, token }, (isCurrent, atUs) => {
          const answer = finish(request, isCurrent === true);
          const refusal = answer.kind === 'refused' ? ({ kind: 'lease' } as const) : undefined;
          recorder.write(turn, { request, answer, atUs, refusal });
          turn.answer(answer);
        });
        return LATER;
      }
      if (request.kind !== 'read') return { kind: 'accepted' };
      const answer = { kind: 'value', value: table.find(request).value } as const;
      recorder.read(turn, { request, answer });
      return answer;
    },
    restart: (boot) => recorder.restart(boot),
    snapshot: () => table.snapshot(),
    evict: (key, boot) => recorder.evict(table.forget(key), boot),
  };
}

/** A table has no tokens. */
function tableRecorder(name: string, table: VersionTable): StoreRecorder {
  return new StoreRecorder(name, (resource) => ({ highest: 0, values: table.contents(resource) }));
}

/**
 * `count`: increases by one with each change; `clock`: the store's wall clock in whole
 * milliseconds; `client-clock`: the client's wall clock in whole milliseconds.
 */
export type Version = 'count' | 'clock' | 'client-clock';

const US_A_TICK = 1000;

export class VersionServer implements Server<StoreRequest, StoreReply> {
  private readonly name: string;
  private readonly version: Version;
  private readonly table: VersionTable;
  private readonly recorder: StoreRecorder;

  constructor(name: string, version: Version, table: VersionTable) {
    this.name = name;
    this.version = version;
    this.table = table;
    this.recorder = tableRecorder(name, table);
  }

  handle(request: StoreRequest, turn: Turn<StoreReply>): StoreReply {
    if (request.kind === 'open') return { kind: 'accepted' };
    this.begin(request, turn);
    if (request.kind === 'write') return this.write(request, turn);
    const { value, version } = this.table.find(request);
    const answer = { kind: 'value', value, version } as const;
    this.recorder.read(turn, { request, answer, version: this.rowVersion(turn, version) });
    return answer;
  }

  /** Records a row that exists before its first write. */
  private begin({ resource, key }: Cell, turn: Turn<StoreReply>): void {
    const version = this.table.begin({ resource, key })?.version ?? null;
    if (version !== null) this.recorder.begin(turn, resource, { key, version });
  }

  private rowVersion(turn: Turn, found: number | null): Draft<RowVersion> {
    if (this.version === 'count') return { by: 'version', found };
    const epochMs = -Math.ceil(turn.trueTimeOf('right', 0) / US_A_TICK);
    return epochMs === 0 ? { by: 'timestamp', found } : { by: 'timestamp', epochMs, found };
  }

  private write(request: WriteRequest, turn: Turn<StoreReply>): StoreReply {
    const { resource, key, value, version: expected, once = null, adds = null } = request;
    const cell = { resource, key };
    const stamp = this.stampOf(request, turn);
    const { version: found } = this.table.find(cell);
    const outcome = this.table.commit({ cell, value, adds, stamp, expected, once });
    const row = this.table.find(cell);
    const answer = answerTo(outcome, row.version);
    if (outcome === 'repeated') {
      this.noteRepetition(request, turn);
      return answer;
    }
    const version: Draft<WriteVersion> = Object.assign(this.rowVersion(turn, found), {
      given: row.version,
    });
    if (expected !== undefined) version.expected = expected;
    const became = outcome === 'applied' ? row.value : value;
    const refusal = refusalOf(outcome);
    this.recorder.write(turn, { request, answer, version, value: became, refusal });
    return answer;
  }

  private stampOf({ wallUs = 0 }: WriteRequest, turn: Turn<StoreReply>): number | null {
    if (this.version === 'count') return null;
    return Math.floor((this.version === 'clock' ? turn.wallUs : wallUs) / US_A_TICK);
  }

  /** A repetition changes nothing, so it is recorded as a log line and not as a write. */
  private noteRepetition({ once }: WriteRequest, turn: Turn<StoreReply>): void {
    const text = `${once ?? ''} was applied before`;
    turn.observe({ kind: 'log', atUs: turn.atUs, process: this.name, topic: 'repeated', text });
  }

  restart(boot: Boot): void {
    this.recorder.restart(boot);
  }

  snapshot(): () => void {
    return this.table.snapshot();
  }

  evict(key: string, boot: Boot): boolean {
    return this.recorder.evict(this.table.forget(key), boot);
  }

  close(): void {
    this.table.close();
  }
}

/** The `CHECK` constraint of a table of products. */
const NONE_LEFT = 'stock >= 0';

function answerTo(outcome: VersionOutcome, version: number | null): StoreReply {
  switch (outcome) {
    case 'applied':
      return { kind: 'accepted', version };
    case 'repeated':
      return { kind: 'accepted', version, isRepeated: true };
    case 'refused':
      return { kind: 'refused', highest: 0, version };
    case 'forbidden':
      return { kind: 'refused', highest: 0, version, check: NONE_LEFT };
  }
}

function refusalOf(outcome: VersionOutcome): Refusal | undefined {
  if (outcome === 'refused') return { kind: 'version' };
  return outcome === 'forbidden' ? { kind: 'check', rule: NONE_LEFT } : undefined;
}
