/**
 * A store with versions as a server of the world: a write is accepted if the row still has the
 * version that it expects. What is a version, a count or the time of the last change, is all that
 * its kinds differ in.
 */
import type { Boot, Server, Turn } from '../../world/server.ts';
import type { StoreReply, StoreRequest } from './request.ts';
import type { VersionTable } from './version-table.ts';
import { noteContents, noteRead, noteWrite } from './witness.ts';

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
  /** For the observer: every resource that it was ever asked for. */
  private readonly known: Set<string> = new Set();

  constructor(name: string, version: Version, table: VersionTable) {
    this.name = name;
    this.version = version;
    this.table = table;
  }

  handle(request: StoreRequest, turn: Turn<StoreReply>): StoreReply {
    this.known.add(request.resource);
    if (request.kind === 'write') return this.write(request, turn);
    if (request.kind === 'open') return { kind: 'accepted' };
    const { value, version } = this.table.find(request);
    const answer = { kind: 'value', value, version } as const;
    noteRead(this.name, { request, answer }, turn);
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
    if (outcome !== 'repeated') noteWrite(this.name, turn, { request, answer, highest: 0 });
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
    for (const resource of this.known) this.noteContents(resource, boot);
  }

  private noteContents(resource: string, boot: Boot): void {
    const values = this.table.contents(resource);
    noteContents(this.name, { resource, highest: 0, values }, boot);
  }

  snapshot(): () => void {
    return this.table.snapshot();
  }

  evict(key: string, boot: Boot): boolean {
    const forgetful = this.table.forget(key);
    for (const resource of forgetful) this.noteContents(resource, boot);
    return forgetful.length > 0;
  }

  /** The run is over. */
  close(): void {
    this.table.close();
  }
}
