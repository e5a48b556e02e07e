/**
 * Writes the calls of clients to one resource of one store as a recorder for `fencepost check`
 * would: JSON lines, an event each, in order. Uses only the trace, and shares no code with the
 * conversion of histories for `linearizable`.
 */
import type { Answer, Call } from '../../src/core/history/call.ts';
import type { Trace } from '../../src/core/history/trace.ts';
import type { Json } from '../../src/core/kernel/json.ts';

type StoreCall = Extract<Call, { readonly store: string }>;

interface Asked {
  readonly operation: string;
  readonly process: string;
  readonly call: StoreCall;
  readonly at: number;
}

interface Ended {
  readonly outcome: 'ok' | 'fail' | 'info';
  readonly answer: Answer | null;
  readonly at: number;
}

/** The form of a store's calls for a model of `fencepost check`. */
export interface Dialect {
  readonly form: 'register' | 'fenced' | 'versioned' | 'cas';
  /** The first version, if rows do not begin at 0. */
  readonly firstVersion: number;
}

/** Returns a text per store and resource. */
export function writtenHistories(trace: Trace, dialect: Dialect): readonly string[] {
  const asked: Asked[] = [];
  const ended = new Map<string, Ended>();
  for (const [at, event] of trace.events.entries()) {
    if (event.kind === 'invoke' && 'store' in event.call && event.call.verb !== 'fence') {
      asked.push({ operation: event.operation, process: event.process, call: event.call, at });
    } else if (event.kind === 'return') {
      ended.set(event.operation, { outcome: event.outcome, answer: event.answer, at });
    }
  }
  const places = new Set(asked.map(({ call }) => JSON.stringify([call.store, call.resource])));
  return [...places].map((place) => {
    const here = asked.filter(({ call }) => JSON.stringify([call.store, call.resource]) === place);
    return new Writing(here, ended, dialect).text();
  });
}

/** The lines for the begin and the end of a call; null if the call is left out. */
interface Lines {
  readonly invoke: Json;
  /** Null if the call never ends. */
  readonly end: Json | null;
}

class Writing {
  private readonly asked: readonly Asked[];
  private readonly ended: ReadonlyMap<string, Ended>;
  private readonly dialect: Dialect;

  constructor(asked: readonly Asked[], ended: ReadonlyMap<string, Ended>, dialect: Dialect) {
    this.asked = asked;
    this.ended = ended;
    this.dialect = dialect;
  }

  text(): string {
    const lines: { readonly at: number; readonly line: Json }[] = [];
    for (const one of this.asked) {
      const said = this.linesOf(one);
      if (said === null) continue;
      lines.push({ at: one.at, line: said.invoke });
      const end = this.ended.get(one.operation);
      if (said.end !== null && end !== undefined) lines.push({ at: end.at, line: said.end });
    }
    lines.sort((a, b) => a.at - b.at);
    return lines.map(({ line }) => `${JSON.stringify(line)}\n`).join('');
  }

  /** Each operation gets its own process, since the caller does not matter for registers. */
  private linesOf(asked: Asked): Lines | null {
    const { operation, call } = asked;
    const end = this.ended.get(operation);
    const type = end === undefined || isRepeated(end) ? 'info' : end.outcome;
    const begin = { process: operation, type: 'invoke', f: call.verb, key: call.key };
    const ending = { process: operation, type };
    const answer = type === 'ok' ? (end?.answer ?? null) : null;
    switch (this.dialect.form) {
      case 'fenced':
        return fencedLines(asked, begin, ending, answer);
      case 'register':
        return call.verb === 'open' ? null : plainLines(call, begin, ending, answer);
      case 'versioned':
        return call.verb === 'open' ? null : this.versionedLines(asked, begin, ending, answer);
      case 'cas':
        return call.verb === 'open' ? null : this.casLines(asked, begin, ending, answer);
    }
  }

  private versionedLines(
    { call }: Asked,
    begin: Begin,
    ending: Ending,
    answer: Answer | null,
  ): Lines {
    const counted = (version: number | null | undefined): number =>
      version === null || version === undefined ? 0 : version - this.dialect.firstVersion;
    if (call.verb === 'read') {
      const version = answer?.kind === 'value' ? counted(answer.version) : 0;
      return plainLines(call, begin, { ...ending, version }, answer);
    }
    const hasVersion = call.version !== undefined;
    const expected = hasVersion ? { expected: counted(call.version) } : {};
    const invoke = { ...begin, value: call.value, ...expected };
    if (answer?.kind === 'accepted') {
      return { invoke, end: { ...ending, version: counted(answer.version) } };
    }
    if (answer?.kind !== 'refused') return { invoke, end: ending };
    const hasVersionValue =
      hasVersion && answer.version !== undefined && answer.check === undefined;
    // The refusal has another reason than the version: it states only that nothing happened.
    if (!hasVersionValue) return { invoke, end: { ...ending, type: 'fail' } };
    return { invoke, end: { ...ending, answer: 'refused', version: counted(answer.version) } };
  }

  /** A client that names a version expects the value that it last saw with it. */
  private casLines(asked: Asked, begin: Begin, ending: Ending, answer: Answer | null): Lines {
    const { call } = asked;
    const known = call.verb === 'write' && call.version !== undefined ? this.seenBy(asked) : null;
    if (known === null || known.version !== call.version) {
      return plainLines(call, begin, ending, answer);
    }
    const invoke = { ...begin, f: 'cas', value: [known.value, call.value] };
    return { invoke, end: answer?.kind === 'refused' ? { ...ending, type: 'fail' } : ending };
  }

  /** Returns the latest value and version of the key that the process knew before a call. */
  private seenBy({ process, call, at }: Asked): Seen | null {
    let seen: (Seen & { readonly at: number }) | null = null;
    for (const other of this.asked) {
      const end = this.ended.get(other.operation);
      if (other.process !== process || other.call.key !== call.key || end === undefined) continue;
      const { answer } = end;
      if (end.at >= at || end.outcome !== 'ok' || isRepeated(end) || answer === null) continue;
      if (answer.kind !== 'value' && answer.kind !== 'accepted') continue;
      const value = answer.kind === 'value' ? answer.value : other.call.value;
      if (answer.version === undefined || value === null) continue;
      if (seen === null || end.at > seen.at) seen = { version: answer.version, value, at: end.at };
    }
    return seen;
  }
}

interface Seen {
  readonly version: number | null;
  readonly value: number;
}

type Fields = { readonly [name: string]: Json };
type Begin = Fields;
type Ending = Fields;

/** "Applied before" does not state by which attempt. */
function isRepeated({ answer }: Ended): boolean {
  return answer?.kind === 'accepted' && answer.isRepeated === true;
}

/** A refused call did not happen. */
function plainLines(call: StoreCall, begin: Begin, ending: Ending, answer: Answer | null): Lines {
  const refused = answer?.kind === 'refused' ? { type: 'fail' } : {};
  if (call.verb === 'read') {
    const value = answer?.kind === 'value' ? { value: answer.value } : {};
    return { invoke: begin, end: { ...ending, ...value, ...refused } };
  }
  return { invoke: { ...begin, value: call.value }, end: { ...ending, ...refused } };
}

function fencedLines({ call }: Asked, begin: Begin, ending: Ending, answer: Answer | null): Lines {
  const { verb, resource, token, value } = call;
  const written = verb === 'write' ? { value } : {};
  const invoke = { ...begin, resource, token, ...written };
  if (answer?.kind === 'refused') return { invoke, end: { ...ending, answer: 'refused' } };
  const read = answer?.kind === 'value' ? { value: answer.value } : {};
  return { invoke, end: { ...ending, ...read } };
}
