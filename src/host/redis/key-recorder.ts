/**
 * Records which client takes which key as a lock, and reports changes of such keys to the observer.
 * Never affects the node. A client takes an absent key by SET with NX or an expiry, by SETNX,
 * SETEX, PSETEX or HSETNX, by a script, or by any SET if it has had the key before. Keys written in
 * other ways, such as counters and queues, have no holder and are not reported. If the node has
 * configured lock keys, only these are reported.
 *
 * A client holds a key while the node keeps the entry. An entry that expired, was evicted or was
 * lost has no holder. Holdings belong to entries, so a replica that takes over has the holdings of
 * the entries it received.
 */
import type { KeyChange } from '../../core/history/events.ts';
import { sectionOf } from '../../core/kernel/name.ts';
import type { Boot, Turn } from '../../core/world/server.ts';
import type { KeyEntry } from './keyspace.ts';
import { type RedisCommand, textOf } from './reply.ts';

/** The client whose command is executed, as reported to the observer. */
export type Actor = Pick<Turn, 'atUs' | 'client' | 'message' | 'observe' | 'server' | 'trueTimeOf'>;

type Entry = KeyEntry<unknown>;

/** The keys of a database. */
export interface Keys {
  readonly database: number;
  readonly get: (key: string) => Entry | null;
}

interface Holding {
  readonly client: string;
  /** The message that took the key. */
  readonly message: string;
}

interface Script {
  readonly text: string;
  readonly keys: readonly string[];
}

/** A key before and after one write. */
export interface KeyWrite {
  readonly database: number;
  readonly key: string;
  readonly before: Entry | null;
  readonly after: Entry | null;
}

type KeyPlace = Pick<KeyWrite, 'database' | 'key'>;

function placeName({ database, key }: KeyPlace): string {
  return `${database} ${key}`;
}

function fieldsOf(value: unknown): ReadonlyMap<unknown, unknown> | null {
  if (typeof value !== 'object' || value === null || !('fields' in value)) return null;
  return value.fields instanceof Map ? value.fields : null;
}

function addsTo(before: Entry | null, after: Entry): boolean {
  const [old, fields] = [fieldsOf(before?.value), fieldsOf(after.value)];
  if (old === null || fields === null) return false;
  return [...old].every(([field, value]) => fields.get(field) === value);
}

/** A release may leave the key in place with another value. */
function isRewritten(before: Entry | null, after: Entry): boolean {
  return fieldsOf(after.value) === null
    ? before?.value !== after.value
    : [...(fieldsOf(before?.value) ?? [])].some(
        ([field, value]) => fieldsOf(after.value)?.get(field) !== value,
      );
}

function takingOf({ client }: Actor, { database, key }: KeyPlace): string {
  return `${client} ${database} ${key}`;
}

const TAKES = /^(?:h?setnx|p?setex)$/i;
const REMOVES = /\b(del|unlink|hdel)\b/i;
/** Commands by which a script takes an absent key. */
const CREATES = /^(?:set|setex|psetex|hset|hmset|hsetnx|hincrby)$/i;
/** Commands that only change the expiry of a key. */
const ENDS = /^(?:p?expire(?:at)?|persist|getex)$/i;
const PROLONGS = /\bp?expire\b/i;
/** Finds commands of `CREATES` and `TAKES` in the text of a script. */
const MAY_CREATE = /\b(?:set(?:nx|ex)?|psetex|hset(?:nx)?|hmset|hincrby)\b/i;

export class KeyRecorder {
  /** Matchers of the node's configured lock keys, or null if none are configured. */
  private readonly named: readonly ((key: string) => boolean)[] | null;
  private readonly holdings: WeakMap<Entry, Holding> = new WeakMap();
  /** The message by which each client last took each key of a database. */
  private readonly takings: Map<string, string> = new Map();
  /** Held keys by place, each with the entry written last. */
  private readonly held: Map<string, { readonly place: KeyPlace; readonly entry: Entry }> =
    new Map();
  /** The holding that last kept a client from taking a key, by client and key. */
  private readonly rivals: Map<string, Holding> = new Map();
  private server: string | null = null;
  private actor: Actor | null = null;
  private command: RedisCommand = [];
  private script: Script | null = null;
  private readonly reported: Set<string> = new Set();

  constructor(named: readonly ((key: string) => boolean)[] | null) {
    this.named = named;
  }

  /** Begins a command of a client. `actor` is null if the caller is not observed. */
  begin(actor: Actor | null): void {
    this.actor = actor;
    if (actor !== null) this.server = actor.server;
  }

  /** Runs a command, a transaction or a script. Also reports attempts that left a key unchanged. */
  carryOut<T>(command: RedisCommand, kept: Keys, run: () => T): T {
    this.command = command;
    if (this.script === null) this.reported.clear();
    const result = run();
    if (this.script !== null) return result;
    const [name = '', ...keys] = command;
    if (/^(del|unlink)$/i.test(name)) this.noteMiss(keys, 'removed', kept);
    else if (/^p?expire(at)?$/i.test(name)) this.noteMiss(keys.slice(0, 1), 'prolonged', kept);
    else if (this.isTaking()) this.deny(keys.slice(0, 1), kept);
    return result;
  }

  during<T>(script: Script, kept: Keys, run: () => T): T {
    this.script = script;
    const result = run();
    this.script = null;
    if (REMOVES.test(script.text)) this.noteMiss(script.keys, 'removed', kept);
    else if (MAY_CREATE.test(script.text)) this.deny(script.keys, kept);
    else if (PROLONGS.test(script.text)) this.noteMiss(script.keys, 'prolonged', kept);
    return result;
  }

  /** Records that the node wrote a key. */
  note(write: KeyWrite): void {
    const { actor } = this;
    if (actor === null) return;
    const { before, after } = write;
    const holding = before === null ? undefined : this.holdings.get(before);
    if (before === null && after !== null && (this.isTaking() || this.isRetaking(actor, write))) {
      this.take(actor, write, after);
      this.noteChange(actor, { place: write, entry: after, change: 'taken', isDone: true });
      return;
    }
    if (holding === undefined) return;
    const isOwner = holding.client === actor.client;
    const isEndless = before?.end === null && after?.end === null;
    if (after === null) {
      this.held.delete(placeName(write));
      this.noteChange(actor, { place: write, entry: before, change: 'removed', isDone: true });
    } else if (isOwner ? isEndless && isRewritten(before, after) : this.isUnclear(before, after)) {
      this.held.delete(placeName(write));
      this.noteChange(actor, {
        place: write,
        entry: after,
        holding,
        change: 'untracked',
        isDone: true,
      });
    } else if (this.isKept(holding, before, after)) {
      this.hold(write, after, holding);
      this.noteChange(actor, { place: write, entry: after, change: 'prolonged', isDone: true });
    } else {
      this.noteChange(actor, {
        place: write,
        entry: after,
        holding,
        change: 'overwritten',
        isDone: true,
      });
      this.take(actor, write, after);
    }
  }

  /**
   * Returns true if another client added to the hash. Also true if a script may have read an expiry
   * and stored it in the value.
   */
  private isUnclear(before: Entry | null, after: Entry): boolean {
    return addsTo(before, after) || (before?.end === null && this.script !== null);
  }

  /**
   * Returns true if the holder keeps the key. A command that changes only the expiry keeps it. So
   * does a write by the holder, if the same section took the key, the value is unchanged, or the
   * value is a hash.
   */
  private isKept({ client, message }: Holding, before: Entry | null, after: Entry): boolean {
    const { actor } = this;
    if (ENDS.test(this.command[0] ?? '')) return true;
    if (client !== actor?.client) return false;
    if (sectionOf(message) === sectionOf(actor.message)) return true;
    return before?.value === after.value || fieldsOf(after.value) !== null;
  }

  /** Returns true if the key is a configured lock key, or null if no lock keys are configured. */
  private isNamed(key: string): boolean | null {
    return this.named?.some((isOne) => isOne(key)) ?? null;
  }

  private take(actor: Actor, place: KeyPlace, entry: Entry): void {
    this.hold(place, entry, { client: actor.client, message: actor.message });
    this.takings.set(takingOf(actor, place), actor.message);
  }

  /** Returns true if a client writes a key that it has taken before, as a late renewal does. */
  private isRetaking(actor: Actor, place: KeyPlace): boolean {
    return /^set$/i.test(this.command[0] ?? '') && this.takings.has(takingOf(actor, place));
  }

  private isTaking(): boolean {
    const [name = '', , , ...options] = this.command;
    if (this.script !== null && CREATES.test(name)) return true;
    const isSet = /^set$/i.test(name);
    const takes = /^(?:nx|px|ex|pxat|exat)$/i;
    return TAKES.test(name) || (isSet && options.some((word) => takes.test(word)));
  }

  private hold(place: KeyPlace, entry: Entry, holding: Holding): void {
    this.holdings.set(entry, holding);
    this.held.set(placeName(place), { place, entry });
  }

  /** Reports held keys that the node has lost by a restart or an eviction. */
  reconcile(boot: Boot, find: (place: KeyPlace) => Entry | null): void {
    const { server } = this;
    for (const [name, { place, entry }] of this.held) {
      if (find(place) === entry) continue;
      this.held.delete(name);
      const { end } = entry;
      if (server === null || (end !== null && boot.wallUs > end * 1000)) continue;
      const actor: Actor = {
        atUs: boot.atUs,
        server,
        client: '',
        message: '',
        observe: (event) => boot.observe(event),
        trueTimeOf: (clock, us) => boot.trueTimeOf(clock, us),
      };
      this.noteChange(actor, { place, entry, change: 'lost', isDone: true });
    }
  }

  /** Reports keys that a client failed to release or extend. */
  private noteMiss(
    keys: readonly string[],
    change: 'removed' | 'prolonged',
    { database, get }: Keys,
  ): void {
    const { actor } = this;
    if (actor === null) return;
    for (const key of keys) {
      const place = { database, key };
      const isKnown = this.takings.has(takingOf(actor, place));
      if (!isKnown || this.reported.has(key)) continue;
      this.noteChange(actor, { place, entry: get(key), change, isDone: false });
    }
  }

  /** Reports held keys that a client may have tried to take, once per holding. */
  private deny(keys: readonly string[], { database, get }: Keys): void {
    const { actor } = this;
    if (actor === null) return;
    for (const key of keys) {
      const place = { database, key };
      const entry = get(key);
      const holding = entry === null ? undefined : this.holdings.get(entry);
      const wanted = takingOf(actor, place);
      if (holding === undefined || this.reported.has(key)) continue;
      if (holding.message === actor.message || this.rivals.get(wanted) === holding) continue;
      this.rivals.set(wanted, holding);
      this.noteChange(actor, { place, entry, change: 'taken', isDone: false });
    }
  }

  private noteChange(
    actor: Actor,
    noted: {
      readonly place: KeyPlace;
      readonly entry: Entry | null;
      readonly holding?: Holding;
      readonly change: KeyChange['change'];
      readonly isDone: boolean;
    },
  ): void {
    const { place, entry, change, isDone } = noted;
    const { key } = place;
    if (this.isNamed(key) === false) return;
    const { client, message, atUs } = actor;
    const holding = noted.holding ?? (entry === null ? undefined : this.holdings.get(entry));
    const end = entry?.end ?? null;
    this.reported.add(key);
    actor.observe({
      kind: 'key-change',
      atUs,
      process: actor.server,
      key: textOf(key),
      client,
      message,
      change,
      isNamed: this.named !== null,
      isDone,
      holder: holding?.client ?? '',
      taking: holding?.message ?? '',
      meant: this.takings.get(takingOf(actor, place)) ?? '',
      untilUs: end === null ? null : actor.trueTimeOf('wall', (end + 1) * 1000),
    });
  }
}
