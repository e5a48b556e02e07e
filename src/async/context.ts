/**
 * What real asynchronous code is given beside its globals: who it is, the servers that it may call
 * over the simulated network, and marks by which the observer knows its critical sections.
 *
 * Code that reads, decides and sends without an `await` between has no point to pause at. A pause
 * `before alice/1/write` then holds back the message, which is fixed already: what it says may be
 * stale by the time it leaves. To have a point between, pass one: `await section.mark('checked')`.
 * After a pause comes first what it held back, then the messages that arrived, then the timers
 * that are due: a late reply is seen before the timeout that it missed.
 */
import type { Answer, Call } from '../history/trace.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, nameOf, under } from '../kernel/name.ts';
import type { PendingCall } from '../world/call.ts';
import type { ServerHost } from '../world/server.ts';
import type { AsyncHost } from './async-host.ts';
import { Guard, type GuardSetting } from './guard.ts';
import type { Life } from './life.ts';

/** A server of the world as clients call it, and what the trace says of a call to it. */
export interface Port<Q extends Json, R extends Json> {
  readonly host: ServerHost<Q, R>;
  readonly describeRequest: (request: Q) => Call;
  readonly describeReply: (reply: R, request: Q) => Answer;
}

/**
 * How a call ended, as far as its client can know: answered; `unknown`, so that it may have
 * happened or happen yet; or `never` executed. It is never thrown, since the world may do this.
 */
export type Outcome<R> =
  | { readonly kind: 'answered'; readonly reply: R }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'never' };

export interface CallOptions {
  /** By the client's own clock; it waits for ever if absent. */
  readonly timeoutMs?: number;
  /** How often it is sent while its outcome is unknown; 1 if absent. */
  readonly tries?: number;
  /** The grant under which it is made, by its ordinal; the one entered last if absent. */
  readonly under?: number;
}

export class Context {
  private readonly host: AsyncHost;
  private readonly life: Life;

  constructor(host: AsyncHost, life: Life) {
    this.host = host;
    this.life = life;
  }

  /** The name of its process. */
  get name(): string {
    return this.host.name;
  }

  /** 1, and one more after each restart. */
  get ordinal(): number {
    return this.life.ordinal;
  }

  /** How many sections began before: a restarted program goes on behind them. */
  get begun(): number {
    return this.host.begun;
  }

  /** Section `id` begins: what is done in it is called `alice/<id>/…`. */
  section(id: number): AsyncSection {
    if (!this.life.isOver) {
      this.host.begun += 1;
      this.host.belief.begin();
    }
    return new AsyncSection(this.host, this.life, under(nameOf(this.name), String(id)));
  }

  /** Writes a line into the trace. */
  log(topic: string, text: string): void {
    if (this.life.isOver) return;
    const { recorder, scheduler } = this.host.parts;
    const { name } = this;
    recorder.record({ kind: 'log', atUs: scheduler.nowUs, process: name, topic, text });
  }
}

/** One section of a program: take a lock, do the work, give it back. */
export class AsyncSection {
  readonly name: Name;
  private readonly host: AsyncHost;
  private readonly life: Life;
  private readonly counts: Map<string, number> = new Map();
  /** The grants that its calls were answered with and that it has not entered, by lock. */
  private readonly grants: Map<string, number> = new Map();
  private issued = 0;
  private firstSentAtUs: number | null = null;

  constructor(host: AsyncHost, life: Life, name: Name) {
    this.host = host;
    this.life = life;
    this.name = name;
  }

  /**
   * Calls a server. The operation is `alice/1/<label>`, the second of that label
   * `alice/1/<label>-2`; a plan names faults by it.
   */
  call<Q extends Json, R extends Json>(
    port: Port<Q, R>,
    { label, request }: { readonly label: string; readonly request: Q },
    options: CallOptions = {},
  ): Promise<Outcome<R>> {
    const { timeoutMs, tries = 1 } = options;
    const call = port.describeRequest(request);
    const setting = {
      operation: this.nameFor(label),
      call,
      target: port.host,
      request,
      timeoutUs: timeoutMs === undefined ? null : Math.round(timeoutMs * 1000),
      tries,
      describe: (reply: R) => port.describeReply(reply, request),
      ...(options.under === undefined ? {} : { under: options.under }),
    };
    this.issued += 1;
    this.firstSentAtUs ??= this.host.nowUs;
    const place = { setting, under: this.host.belief.ordinal, issue: this.issued };
    return new Promise((resolve) => {
      this.host.ask(this.life, place, (settled) => {
        if (settled.granted > 0 && 'lock' in call) this.grants.set(call.lock, settled.granted);
        resolve(outcomeOf(settled));
      });
    });
  }

  /** The place that the next call will have among those of this section, from 1. */
  get nextIssue(): number {
    return this.issued + 1;
  }

  /** Passes the point `alice/1/<point>`, at which a plan may place a fault. */
  mark(point: string): Promise<void> {
    return this.host.pass(this.life, under(this.name, point));
  }

  private nameFor(label: string): Name {
    const count = (this.counts.get(label) ?? 0) + 1;
    this.counts.set(label, count);
    return under(this.name, count === 1 ? label : `${label}-${count}`);
  }

  /**
   * Says that the program counts on its lock from now on, so that what it reads and writes can be
   * judged: see `Guard`. A process has one guard at a time.
   */
  enter(setting: GuardSetting): Guard {
    const given = this.grants.get(setting.lock);
    this.grants.delete(setting.lock);
    const sentAtUs = this.firstSentAtUs ?? this.host.nowUs;
    return new Guard({ host: this.host, life: this.life, section: this }, setting, {
      ordinal: given ?? null,
      sentAtUs,
    });
  }
}

function outcomeOf<Q extends Json, R extends Json>(call: PendingCall<Q, R>): Outcome<R> {
  if (call.state === 'answered' && call.reply !== null) {
    return { kind: 'answered', reply: call.reply };
  }
  return { kind: call.state === 'never' ? 'never' : 'unknown' };
}
