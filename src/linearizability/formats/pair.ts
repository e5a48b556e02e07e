/**
 * Pairs events to operations: a process has at most one call open, and what completes it is the
 * next event of that process.
 */
import { textOf } from './edn-text.ts';
import {
  type Malformed,
  malformed,
  type RecordedEvent,
  type RecordedMark,
  type TakeOperation,
} from './record.ts';

/** Jepsen's name for the process that puts the faults in, which no client can have. */
export const NEMESIS = 'nemesis';

interface OpenCall {
  readonly event: RecordedEvent;
  readonly position: number;
}

export class Pairing {
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
    for (const { event, position } of this.open.values()) {
      const problem = this.take({
        process: this.nameOf(event.process),
        f: event.f,
        asked: event.fields,
        answered: {},
        outcome: 'info',
        invoke: position,
        return: null,
        invokedAt: event,
        returnedAt: null,
      });
      if (problem !== null) return problem;
    }
    return null;
  }

  private mark({ f, fields, line }: RecordedEvent): null {
    const value = fields['value'] ?? null;
    const text = value === null ? f : `${f} ${typeof value === 'string' ? value : textOf(value)}`;
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
    return this.take({
      process: this.nameOf(process),
      f: asked.f,
      asked: asked.fields,
      answered: event.fields,
      outcome: type === 'invoke' ? 'info' : type,
      invoke: call.position,
      return: type === 'info' ? null : this.position,
      invokedAt: asked,
      returnedAt: event,
    });
  }

  private nameOf(name: string): string {
    const known = this.names.get(name);
    if (known !== undefined) return known;
    this.names.set(name, name);
    return name;
  }
}
