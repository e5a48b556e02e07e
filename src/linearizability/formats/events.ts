/**
 * Reads a history whose records are events: whether the fields of a record make one, and which two
 * make an operation.
 */
import type { Json } from '../../core/kernel/json.ts';
import { suggest } from '../../text/problem.ts';
import { ednText } from './edn.ts';
import {
  EVENT_TYPES,
  type Fields,
  type FilePlace,
  type HistoryReader,
  type Malformed,
  malformed,
  type RecordedEvent,
  type RecordedMark,
  type RecordedOperation,
  type TakeFields,
  type TakeOperation,
} from './record.ts';

/** Jepsen's name for the process that puts the faults in, which no client can have. */
export const NEMESIS = 'nemesis';

/** Cuts a file that arrives in pieces into records. */
interface RecordCutter {
  push(piece: string): Malformed | null;
  end(): Malformed | null;
}

/** The reader of a format whose records, as `open` cuts and reads them, are events. */
export function readEvents(
  take: TakeOperation,
  open: (takeFields: TakeFields) => RecordCutter,
): HistoryReader {
  const pairing = new Pairing(take);
  const cutter = open((fields, place) => {
    const event = eventOf(fields, place);
    return 'what' in event ? event : pairing.push(event);
  });
  return {
    push: (piece) => cutter.push(piece),
    end: () => cutter.end() ?? pairing.end(),
    marks: pairing.marks,
  };
}

/** `process`, `type` and `f` may be keywords, with their colon or without; a process a number. */
function eventOf(fields: Fields, place: FilePlace): RecordedEvent | Malformed {
  const wrong = (what: string): Malformed => malformed(place, what);
  const process = plainName(fields['process']);
  if (process === null) return wrong(`expected a process, ${found(fields['process'])}`);
  const type = plainName(fields['type']);
  if (type === null) return wrong(`expected a type, ${found(fields['type'])}`);
  const known = EVENT_TYPES.find((name) => name === type);
  if (known === undefined) return wrong(`unknown type "${type}"${suggest(type, EVENT_TYPES)}`);
  const f = plainName(fields['f']);
  // A completion may leave it out.
  if (f === null && (known === 'invoke' || (fields['f'] ?? null) !== null)) {
    return wrong(`expected f, what is called, ${found(fields['f'])}`);
  }
  return { process, type: known, f: f ?? '', fields, line: place.line, column: place.column };
}

/** A name without the colon of a keyword; null when it is none. */
export function plainName(value: Json | undefined): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return null;
  const name = value.startsWith(':') ? value.slice(1) : value;
  return name === '' ? null : name;
}

function found(value: Json | undefined): string {
  return value === undefined ? 'and there is none' : `found ${ednText(value)}`;
}

interface OpenCall {
  readonly event: RecordedEvent;
  readonly position: number;
}

/**
 * Pairs events to operations: a process has at most one call open, and what completes it is the
 * next event of that process.
 */
class Pairing {
  readonly marks: RecordedMark[] = [];
  private readonly take: TakeOperation;
  private readonly open: Map<string, OpenCall> = new Map();
  /** Names that operations hold, so that each is in memory once. */
  private readonly names: Map<string, string> = new Map();
  private position = 0;

  constructor(take: TakeOperation) {
    this.take = take;
  }

  /** The next event of the file. Positions are the numbers of the events. */
  push(event: RecordedEvent): Malformed | null {
    this.position += 1;
    if (event.process === NEMESIS) return this.mark(event);
    return event.type === 'invoke' ? this.invoke(event) : this.complete(event);
  }

  /** What is open now never completed. */
  end(): Malformed | null {
    for (const call of this.open.values()) {
      const problem = this.take(this.operationOf(call, null));
      if (problem !== null) return problem;
    }
    return null;
  }

  private mark({ f, fields, line }: RecordedEvent): null {
    const value = fields['value'] ?? null;
    const text = value === null ? f : `${f} ${typeof value === 'string' ? value : ednText(value)}`;
    this.marks.push({ text, position: this.position, line });
    return null;
  }

  private invoke(event: RecordedEvent): Malformed | null {
    const before = this.open.get(event.process)?.event;
    if (before !== undefined) {
      const what = `process ${event.process} calls ${event.f} while its ${before.f} of line ${before.line} is open`;
      return malformed(event, what);
    }
    this.open.set(event.process, { event, position: this.position });
    return null;
  }

  private complete(event: RecordedEvent): Malformed | null {
    const { process, type, f } = event;
    const call = this.open.get(process);
    if (call === undefined) {
      return malformed(event, `${type} of process ${process}, which has no call open`);
    }
    const asked = call.event;
    if (f !== '' && f !== asked.f) {
      const what = `${type} of ${f}, but process ${process} called ${asked.f} in line ${asked.line}`;
      return malformed(event, what);
    }
    this.open.delete(process);
    return this.take(this.operationOf(call, event));
  }

  private operationOf(
    { event: asked, position }: OpenCall,
    answer: RecordedEvent | null,
  ): RecordedOperation {
    const type = answer?.type ?? 'info';
    return {
      process: this.shared(asked.process),
      f: asked.f,
      asked: asked.fields,
      answered: answer?.fields ?? {},
      outcome: type === 'invoke' ? 'info' : type,
      invoke: position,
      return: type === 'info' ? null : this.position,
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
