/** Reads histories whose records are events, and pairs the events into operations. */
import type { Json } from '../../core/kernel/json.ts';
import { suggest } from '../../text/problem.ts';
import { ednText, isArray } from './edn.ts';
import { orderEvents } from './event-order.ts';
import {
  EVENT_TYPES,
  type EventOrder,
  type Fields,
  type FilePlace,
  type HistoryReader,
  type Malformed,
  malformed,
  NEMESIS,
  type RecordedEvent,
  type RecordedMark,
  type RecordedOperation,
  type TakeFields,
  type TakeOperation,
} from './record.ts';

interface RecordCutter {
  push(piece: string): Malformed | null;
  end(): Malformed | null;
}

/** Returns the reader of a format whose records are events; `open` cuts and reads the records. */
export function readEvents(
  take: TakeOperation,
  order: EventOrder | undefined,
  open: (takeFields: TakeFields) => RecordCutter,
): HistoryReader {
  const pairing = new Pairing(take);
  const events = orderEvents(order, (event, position) => pairing.push(event, position));
  const cutter = open((fields, place) => {
    const event = eventOf(fields, place);
    return 'what' in event ? event : events.push(event);
  });
  return {
    push: (piece) => cutter.push(piece),
    end: () => cutter.end() ?? events.end() ?? pairing.end(),
    marks: pairing.marks,
    disorder: () => events.disorder(),
  };
}

/**
 * `process`, `type` and `f` may be keywords, with or without a colon. A process may be a number.
 */
function eventOf(fields: Fields, place: FilePlace): RecordedEvent | Malformed {
  const wrong = (message: string): Malformed => malformed(place, message);
  const process = plainName(fields['process']);
  const transaction = process === NEMESIS ? null : transactionIn(fields);
  if (transaction !== null) return wrong(transaction);
  if (process === null) return wrong(`expected a process, ${found(fields['process'])}`);
  const type = plainName(fields['type']);
  if (type === null) return wrong(`expected a type, ${found(fields['type'])}`);
  const known = EVENT_TYPES.find((name) => name === type);
  if (known === undefined) return wrong(`unknown type "${type}"${suggest(type, EVENT_TYPES)}`);
  const f = plainName(fields['f']);
  // A completion may omit `f`.
  if (f === null && (known === 'invoke' || (fields['f'] ?? null) !== null)) {
    return wrong(`expected f, the operation, ${found(fields['f'])}`);
  }
  return { process, type: known, f: f ?? '', fields, line: place.line, column: place.column };
}

const MICRO_OPERATIONS: ReadonlySet<Json> = new Set(['r', 'w', 'append']);

/**
 * Returns an error for a transaction over several objects, as recorded for Elle:
 * `{:type :ok, :f :txn, :value [[:append 3 1] [:r 4 [2]]]}`. Returns null for any other event.
 */
function transactionIn({ f = null, value = null }: Fields): string | null {
  const kinds = microOperationsIn(value);
  if (kinds === null && f !== 'txn' && f !== ':txn') return null;
  const known = kinds?.has('append') === true ? 'list-append' : 'rw-register';
  const [kind, model] = kinds === null ? ['', '<model>'] : [` (Elle's ${known})`, known];
  const tool = `elle-cli --model ${model}, github.com/ligurio/elle-cli`;
  return `fencepost does not check transactions${kind}; use Elle: ${tool}`;
}

/** Returns the kinds in `[[:append 3 1] [:r 4 nil]]`, or null if `value` has another form. */
function microOperationsIn(value: Json): ReadonlySet<Json> | null {
  if (!isArray(value) || value.length === 0) return null;
  const kinds = value.map((item) => {
    const [kind = null] = isArray(item) && item.length === 3 ? item : [];
    return typeof kind === 'string' ? kind.replace(/^:/, '') : null;
  });
  return kinds.every((kind) => MICRO_OPERATIONS.has(kind)) ? new Set(kinds) : null;
}

/** Returns a name without the colon of a keyword, or null if the value is not a name. */
export function plainName(value: Json | undefined): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return null;
  const name = value.startsWith(':') ? value.slice(1) : value;
  return name === '' ? null : name;
}

function found(value: Json | undefined): string {
  return value === undefined ? 'found none' : `found ${ednText(value)}`;
}

interface OpenCall {
  readonly event: RecordedEvent;
  readonly position: number;
}

/** Pairs events into operations: the next event of a process completes its open call. */
class Pairing {
  readonly marks: RecordedMark[] = [];
  private readonly take: TakeOperation;
  private readonly open: Map<string, OpenCall> = new Map();
  /** Keeps one copy of each name in memory. */
  private readonly names: Map<string, string> = new Map();

  constructor(take: TakeOperation) {
    this.take = take;
  }

  push(event: RecordedEvent, position: number): Malformed | null {
    if (event.process === NEMESIS) return this.mark(event, position);
    const isCall = event.type === 'invoke';
    return isCall ? this.invoke(event, position) : this.complete(event, position);
  }

  /** Passes on the calls that never completed. */
  end(): Malformed | null {
    for (const call of this.open.values()) {
      const problem = this.take(this.operationOf(call, null, null));
      if (problem !== null) return problem;
    }
    return null;
  }

  private mark({ f, fields, line }: RecordedEvent, position: number): null {
    const value = fields['value'] ?? null;
    const text = value === null ? f : `${f} ${typeof value === 'string' ? value : ednText(value)}`;
    this.marks.push({ text, position, line });
    return null;
  }

  private invoke(event: RecordedEvent, position: number): Malformed | null {
    const before = this.open.get(event.process)?.event;
    if (before !== undefined) {
      const message = `process ${event.process} calls ${event.f} while its ${before.f} of line ${before.line} is open`;
      return malformed(event, message);
    }
    this.open.set(event.process, { event, position });
    return null;
  }

  private complete(event: RecordedEvent, position: number): Malformed | null {
    const { process, type, f } = event;
    const call = this.open.get(process);
    if (call === undefined) {
      return malformed(event, `${type} of process ${process}, which has no call open`);
    }
    const asked = call.event;
    if (f !== '' && f !== asked.f) {
      const message = `${type} of ${f}, but process ${process} called ${asked.f} in line ${asked.line}`;
      return malformed(event, message);
    }
    this.open.delete(process);
    return this.take(this.operationOf(call, event, position));
  }

  private operationOf(
    { event: asked, position }: OpenCall,
    answer: RecordedEvent | null,
    end: number | null,
  ): RecordedOperation {
    const type = answer?.type ?? 'info';
    return {
      process: this.shared(asked.process),
      f: asked.f,
      asked: asked.fields,
      answered: answer?.fields ?? {},
      outcome: type === 'invoke' ? 'info' : type,
      invoke: position,
      return: type === 'info' ? null : end,
      invokedAt: asked,
      returnedAt: answer,
    };
  }

  private shared(name: string): string {
    const known = this.names.get(name);
    if (known !== undefined) return known;
    this.names.set(name, name);
    return name;
  }
}
