/**
 * A leaderless store: N replicas, each with a value and a timestamp per key. The write with the
 * latest timestamp wins. A client sends a write to all replicas and continues when W have answered.
 * It reads from all replicas and takes the latest of the first R replies. A replica with a later
 * value ignores a write but answers as usual, so the late writer does not notice. After a read, the
 * client may send the latest value to the replicas with older values.
 *
 * If the timestamp starts with the fencing token, all writes of a later holder win over those of
 * earlier holders: Kleppmann and Riccomini, "Designing Data-Intensive Applications" (2nd edition),
 * "Fencing with multiple replicas". Suppose that a write with token 34 reached replicas 1 and 2.
 * They ignore a zombie's write with token 33, replica 3 accepts it, and every read of two replicas
 * prefers 34. This holds for blind writes, with R + W > N, once the new holder's first write has
 * reached W replicas. `properties/quorum-rows.test.ts` explores every order of a small model.
 *
 * Sources: DeCandia et al., "Dynamo" (SOSP 2007), 4.5; Cassandra's documentation, "Dynamo" (last
 * write wins, tunable consistency, read repair).
 */

import type { Answer } from '../../core/history/call.ts';
import { isEarlier, type Stamp, type Write } from '../../core/history/events.ts';
import { assert } from '../../core/kernel/assert.ts';
import type { Draft } from '../../core/kernel/json.ts';
import { nameOf, under } from '../../core/kernel/name.ts';
import type {
  CallSetting,
  PendingCall,
  Round,
  RoundSetting,
  ServerHost,
} from '../../core/world/calls.ts';
import type { Program, Self } from '../../core/world/program.ts';
import { answerOf, sendRound } from '../../core/world/program.ts';
import type { Server, Turn } from '../../core/world/server.ts';
import type { World } from '../../core/world/world.ts';
import { type OptionInfo, type Options, optionsFor } from '../options.ts';
import type { SeveralServers, StoreAccess } from './request.ts';

const choices = optionsFor(
  {
    replicas: { range: [1, 9], fallback: 3 },
    writeQuorum: { range: [1, 9], fallback: 2 },
    readQuorum: { range: [1, 9], fallback: 2 },
    stamp: ['token-and-clock', 'token-and-count', 'clock'],
    readRepair: ['off', 'after', 'before'],
  },
  {
    replicas: 'N: number of replicas, from 1 to 9: store-1, store-2, …',
    writeQuorum: 'W: number of answers that the client of a write waits for',
    readQuorum: 'R: number of answers that the client of a read waits for; the latest value counts',
    stamp:
      'timestamp of a write: token and wall clock of the client, token and place in its section, or clock only',
    readRepair:
      'read repair of older replicas: off, after the reader continues, or before, until W replicas have the value',
  },
);

export const quorumOptions: readonly OptionInfo[] = choices.infos;

type Chosen = ReturnType<typeof choices.read>;

/** Returns why this combination of numbers is invalid, or null if it is valid. */
export function quorumProblem(options: Options): string | null {
  const { replicas, writeQuorum, readQuorum } = choices.read(options);
  const [word, asked] =
    writeQuorum > replicas ? ['writeQuorum', writeQuorum] : ['readQuorum', readQuorum];
  return asked <= replicas ? null : `${word}: ${asked} is more than replicas: ${replicas}`;
}

/** Returns `store-1`, `store-2`, …. */
export function replicaNames(store: string, options: Options): readonly string[] {
  return Array.from({ length: options.whole('replicas') }, (_, at) => `${store}-${at + 1}`);
}

interface Cell {
  readonly value: number;
  readonly stamp: Stamp;
}

type Place = { readonly resource: string; readonly key: string };

type ReplicaRequest = Place & { readonly token: number } & (
    | { readonly kind: 'read' }
    | { readonly kind: 'write' | 'repair'; readonly value: number; readonly stamp: Stamp }
  );

type ReplicaReply =
  | { readonly kind: 'value'; readonly value: number; readonly stamp: Stamp | null }
  | { readonly kind: 'accepted' };

function describeReplicaReply(reply: ReplicaReply): Answer {
  return reply.kind === 'value' ? { kind: 'value', value: reply.value } : reply;
}

/** One replica. It is durable and does not communicate with the others. */
class Replica implements Server<ReplicaRequest, ReplicaReply> {
  private readonly store: string;
  private readonly isTimed: boolean;
  private cells: Map<string, Cell> = new Map();

  /** `store` is the name of the replicated store. */
  constructor(store: string, { stamp }: Pick<Chosen, 'stamp'>) {
    this.store = store;
    this.isTimed = stamp !== 'token-and-count';
  }

  handle(request: ReplicaRequest, turn: Turn<ReplicaReply>): ReplicaReply {
    const name = JSON.stringify([request.resource, request.key]);
    const cell = this.cells.get(name) ?? null;
    if (request.kind === 'read') {
      return { kind: 'value', value: cell?.value ?? 0, stamp: cell?.stamp ?? null };
    }
    const { value, stamp } = request;
    const isTaken = cell === null || isEarlier(cell.stamp, stamp);
    if (isTaken) this.cells.set(name, { value, stamp });
    if (request.kind === 'write') this.note(request, cell, turn);
    else if (isTaken) {
      const text = `takes ${request.key} = ${value} from ${turn.client}’s read`;
      const { atUs, server: process } = turn;
      turn.observe({ kind: 'log', atUs, process, topic: 'repair', text });
    }
    return { kind: 'accepted' };
  }

  /** `cell` is the content before the write. */
  private note(
    request: Extract<ReplicaRequest, { readonly stamp: Stamp }>,
    cell: Cell | null,
    turn: Turn<ReplicaReply>,
  ): void {
    const { resource, key, token, value } = request;
    const isAccepted = cell === null || isEarlier(cell.stamp, request.stamp);
    const event: Draft<Write> = {
      kind: 'write',
      process: turn.server,
      store: this.store,
      resource,
      key,
      token,
      under: turn.under,
      client: turn.client,
      operation: turn.operation,
      issue: turn.issue,
      message: turn.message,
      isAccepted,
      atUs: turn.atUs,
      value,
      highest: cell?.stamp[0] ?? 0,
      adds: turn.adds,
      stamp: this.sinceStart(request.stamp, turn),
    };
    if (!isAccepted) {
      event.refusal = { kind: 'stamp', found: this.sinceStart(cell.stamp, turn) };
    }
    turn.observe(event);
  }

  private sinceStart([high, low, write]: Stamp, turn: Turn<ReplicaReply>): Stamp {
    return [high, this.isTimed ? turn.trueTimeOf('right', low) : low, write];
  }

  snapshot(): () => void {
    const cells = new Map(this.cells);
    return () => {
      this.cells = new Map(cells);
    };
  }
}

type ReplicaHost = ServerHost<ReplicaRequest, ReplicaReply>;
/** Adds the replicas of these stores to the world, and returns their client. */
export function buildReplicas(
  world: World,
  stores: readonly string[],
  options: Options,
): SeveralServers {
  const chosen = choices.read(options);
  const replicas = stores.map((store) => {
    const hosts = replicaNames(store, options).map((name) =>
      world.addServer({ name, role: 'store' }, new Replica(store, chosen)),
    );
    return [store, hosts] as const;
  });
  return new QuorumClient(new Map(replicas), options);
}

type ReplicaCall = PendingCall<ReplicaRequest, ReplicaReply>;
type ReplicaRound = Round<ReplicaRequest, ReplicaReply>;

interface AskedOfAll
  extends Pick<RoundSetting<ReplicaRequest, ReplicaReply>, 'needs' | 'conclude'> {
  readonly request: ReplicaRequest;
}

/** The client's side of replicated stores. */
class QuorumClient implements SeveralServers {
  private readonly replicas: ReadonlyMap<string, readonly ReplicaHost[]>;
  private readonly chosen: Chosen;

  /** `replicas`: the servers by the name of their store. */
  constructor(replicas: ReadonlyMap<string, readonly ReplicaHost[]>, options: Options) {
    this.replicas = replicas;
    this.chosen = choices.read(options);
  }

  *ask(self: Self, access: StoreAccess): Program<ReplicaRound> {
    const round = yield* this.send(self, access);
    yield* answerOf(round);
    if (access.call.verb === 'read') yield* this.repair(self, access, round);
    return round;
  }

  send(self: Self, access: StoreAccess): Program<ReplicaRound> {
    const { call, operation } = access;
    const { verb, resource, key, token, value } = call;
    const { writeQuorum, readQuorum, stamp: by } = this.chosen;
    if (verb === 'read') {
      const conclude = (answered: readonly ReplicaCall[]): ReplicaReply =>
        this.serve(self, access, answered);
      const request = { kind: verb, resource, key, token } as const;
      return sendRound(self, this.roundOf(access, { request, needs: readQuorum, conclude }));
    }
    assert(verb === 'write' && value !== null, 'a replica is asked for a value, or given one');
    const low = by === 'token-and-count' ? self.nextIssue : self.wallUs();
    const stamp: Stamp = [by === 'clock' ? 0 : token, low, operation.text];
    const request = { kind: verb, resource, key, token, value, stamp } as const;
    const asked = { request, needs: writeQuorum, conclude: accepted };
    return sendRound(self, this.roundOf(access, asked));
  }

  private roundOf(
    { operation, call, timeoutUs, tries }: StoreAccess,
    { request, needs, conclude }: AskedOfAll,
  ): RoundSetting<ReplicaRequest, ReplicaReply> {
    const hosts = this.replicas.get(call.store);
    assert(hosts !== undefined, `there is no store ${call.store}`);
    const describe = describeReplicaReply;
    const calls = hosts.map((target, at) => {
      const setting: Draft<CallSetting<ReplicaRequest, ReplicaReply>> = {
        operation,
        call,
        target,
        request,
        timeoutUs,
        tries,
        describe,
      };
      if (at > 0) setting.part = target.name;
      return setting;
    });
    return { operation, call, calls, needs, conclude, describe };
  }

  /** Returns the answer with the latest timestamp, and records its replica. */
  private serve(
    self: Self,
    { operation, call }: StoreAccess,
    answered: readonly ReplicaCall[],
  ): ReplicaReply {
    const newest = newestOf(answered);
    const { reply } = newest;
    assert(reply?.kind === 'value', 'a read is answered with a value');
    self.quorum.serve({
      kind: 'read',
      process: newest.setting.target.name,
      store: call.store,
      resource: call.resource,
      key: call.key,
      token: call.token,
      under: newest.under,
      client: self.name,
      operation: operation.text,
      issue: newest.issue,
      message: newest.attempt?.requestName.text ?? '',
      isAccepted: true,
      value: reply.value,
      written: reply.stamp?.[2] ?? '',
    });
    return reply;
  }

  /** Sends the value of a read to the replicas with an older value. */
  private *repair(self: Self, access: StoreAccess, read: ReplicaRound): Program<void> {
    const { readRepair, writeQuorum } = this.chosen;
    const { reply } = read;
    if (readRepair === 'off' || reply?.kind !== 'value' || reply.stamp === null) return;
    const { value, stamp } = reply;
    const having = new Set(
      read.calls.filter((call) => {
        const callStamp = stampOf(call);
        return callStamp !== null && !isEarlier(callStamp, stamp) && !isEarlier(stamp, callStamp);
      }),
    );
    const needs = writeQuorum - having.size;
    const isAwaited = readRepair === 'before' && needs > 0;
    const lacking = read.calls.filter(
      (call) => !having.has(call) && (isAwaited || call.state === 'answered'),
    );
    if (lacking.length === 0) return;
    const { operation, call, timeoutUs, tries } = access;
    const { resource, key, token } = call;
    const request = { kind: 'repair', resource, key, token, value, stamp } as const;
    // The repair of `alice/1/read` is `alice/1/read-repair`.
    const at = operation.text.lastIndexOf('/');
    const section = nameOf(operation.text.slice(0, at));
    const name = under(section, `${operation.text.slice(at + 1)}-repair`);
    const repairing = { operation: name, call, timeoutUs, tries };
    const all = this.roundOf(repairing, { request, needs, conclude: accepted });
    const names = new Set(lacking.map(({ setting: { target } }) => target.name));
    const calls = all.calls.filter(({ target }) => names.has(target.name));
    const round = yield* sendRound(self, Object.assign(all, { call: null, calls }));
    if (isAwaited) yield* answerOf(round);
  }
}

function accepted(): ReplicaReply {
  return { kind: 'accepted' };
}

function stampOf({ reply }: ReplicaCall): Stamp | null {
  return reply?.kind === 'value' ? reply.stamp : null;
}

function newestOf(answered: readonly ReplicaCall[]): ReplicaCall {
  const [first, ...others] = answered;
  assert(first !== undefined, 'at least one replica has answered');
  return others.reduce((newest, call) => {
    const [stamp, last] = [stampOf(call), stampOf(newest)];
    return stamp !== null && (last === null || isEarlier(last, stamp)) ? call : newest;
  }, first);
}
