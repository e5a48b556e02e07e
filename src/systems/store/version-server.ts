/**
 * A store with versions as a server of the world: a write is accepted if the row still has the
 * version that it expects. What is a version, a count or the time of the last change, is all that
 * its kinds differ in.
 */
import type { Boot, Server, Turn } from '../../world/server.ts';
import type { StoreReply, StoreRequest } from './request.ts';
import type { VersionTable } from './version-table.ts';
import { StoreWitness } from './witness.ts';

/**
 * `count`: one more with each change; `clock`: whole milliseconds of the store's wall clock;
 * `client-clock`: of the clock of the client that made the change.
 */
export type Version = 'count' | 'clock' | 'client-clock';

const US_A_TICK = 1000;

type WriteRequest = Extract<StoreRequest, { kind: 'write' }>;

export class VersionServer implements Server<StoreRequest, StoreReply> {
  private readonly name: string;
  private readonly version: Version;
  private readonly table: VersionTable;
  private readonly witness: StoreWitness;

  constructor(name: string, version: Version, table: VersionTable) {
    this.name = name;
    this.version = version;
    this.table = table;
    this.witness = new StoreWitness(name, (resource) => ({
      highest: 0,
      values: table.contents(resource),
    }));
  }

  handle(request: StoreRequest, turn: Turn<StoreReply>): StoreReply {
    if (request.kind === 'write') return this.write(request, turn);
    if (request.kind === 'open') return { kind: 'accepted' };
    const { value, version } = this.table.find(request);
    const answer = { kind: 'value', value, version } as const;
    this.witness.read(turn, { request, answer });
    return answer;
  }

  private write(request: WriteRequest, turn: Turn<StoreReply>): StoreReply {
    const { resource, key, value, version: expected = null, once = null } = request;
    const cell = { resource, key };
    const stamp = this.stampOf(request, turn);
    const outcome = this.table.commit({ cell, value, stamp, expected, once });
    const { version } = this.table.find(cell);
    const answer: StoreReply =
      outcome === 'refused'
        ? { kind: 'refused', highest: 0, version }
        : { kind: 'accepted', version };
    if (outcome !== 'repeated') this.witness.write(turn, { request, answer });
    else this.noteRepetition(request, turn);
    return answer;
  }

  private stampOf({ wallUs = 0 }: WriteRequest, turn: Turn<StoreReply>): number | null {
    if (this.version === 'count') return null;
    return Math.floor((this.version === 'clock' ? turn.wallUs : wallUs) / US_A_TICK);
  }

  /** It changes nothing: to the observer it is no write. */
  private noteRepetition({ once }: WriteRequest, turn: Turn<StoreReply>): void {
    const text = `${once ?? ''} was applied before`;
    turn.observe({ kind: 'log', atUs: turn.atUs, process: this.name, topic: 'repeated', text });
  }

  restart(boot: Boot): void {
    this.witness.restart(boot);
  }

  snapshot(): () => void {
    return this.table.snapshot();
  }

  evict(key: string, boot: Boot): boolean {
    return this.witness.evict(this.table.forget(key), boot);
  }

  /** The run is over. */
  close(): void {
    this.table.close();
  }
}
