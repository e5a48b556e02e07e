/**
 * Reads the two texts that a Jepsen test writes. The log contains events among many other lines.
 * The events are lines of the logger `jepsen.util` or, since 2026, `jepsen.print`:
 *
 *     INFO  jepsen.util - 3 :invoke :write 4
 *     INFO  jepsen.util - 3 :info   :write :timed-out
 *
 * The file `history.txt` contains only events, one per line, with tabs between the process, the
 * type, the operation, its value, and possibly an error. The text of an error may continue on
 * further lines.
 */
import type { Json } from '../../core/kernel/json.ts';
import { type Line, LineCutter } from './cutters.ts';
import { readEdn } from './edn.ts';
import { readEvents } from './events.ts';
import {
  type EventOrder,
  type Format,
  type HistoryReader,
  type Malformed,
  malformed,
  type TakeFields,
  type TakeOperation,
} from './record.ts';

export const jepsenLog: Format = {
  name: 'jepsen-log',
  about: 'INFO  jepsen.util - 3 :invoke :write 4',
  begins: ({ text }) =>
    text.split('\n').some((line) => {
      const event = eventPart(line.trim());
      return event === null ? TEST_RUNNER.test(line) : EVENT.test(event.text);
    }),
  open: (take, order) =>
    readLines(take, order, (takeFields) => (line) => takeLogLine(takeFields, line)),
  hidesReads: true,
  readsPairs: true,
};

export const jepsenText: Format = {
  name: 'jepsen-txt',
  about: 'history.txt of a Jepsen test: 3 :invoke :write 4, between tabs',
  begins: ({ text }) => BEGINNING.test(text),
  open: (take, order) =>
    readLines(take, order, (takeFields) => {
      let hasError = false;
      return (line) => {
        // This line continues the text of an error.
        if (hasError && !EVENT.test(line.text)) return null;
        hasError = line.text.split('\t').length > 4;
        return takeEvent(takeFields, { text: line.text, offset: 0 }, line);
      };
    }),
  hidesReads: true,
  readsPairs: true,
};

function readLines(
  take: TakeOperation,
  order: EventOrder | undefined,
  open: (takeFields: TakeFields) => (line: Line) => Malformed | null,
): HistoryReader {
  let isClosed = true;
  const reader = readEvents(take, order, (takeFields) => {
    const takeLine = open(takeFields);
    return new LineCutter((line) => {
      isClosed = line.isClosed;
      return takeLine(line);
    });
  });
  return { ...reader, mayBeTruncated: () => !isClosed };
}

const LOGGER = /\bjepsen\.(?:util|print)\s*[-:]?\s+/;
/** Matches the beginning of a log, which may describe the test at length before any event. */
const TEST_RUNNER = /\bINFO\b.*\bjepsen test runner\b/;
/** Matches process, type and operation. A value follows, and in newer logs an error. */
const EVENT = /^(:?[\w-]+)\s+(:[\w-]+)\s+(:\S+)(?=\s|$)/;
const BEGINNING = /^:?[\w-]+\s+:(?:invoke|ok|fail|info)\s+:\S/;
/** Matches a line that is probably an event, even if malformed. */
const TYPE = /:(invoke|ok|fail|info)\b/;

interface EventPart {
  readonly text: string;
  readonly offset: number;
}

function takeLogLine(takeFields: TakeFields, line: Line): Malformed | null {
  const part = eventPart(line.text);
  if (part === null) {
    // Other loggers' stack traces and results span several lines.
    if (line.isClosed) return null;
    return malformed(line, 'the file ends in the middle of this line: it is truncated');
  }
  if (line.isClosed && !EVENT.test(part.text) && !TYPE.test(part.text)) return null;
  return takeEvent(takeFields, part, line);
}

function takeEvent(takeFields: TakeFields, part: EventPart, line: Line): Malformed | null {
  const column = line.column + part.offset;
  const match = EVENT.exec(part.text);
  if (match === null) {
    const message = 'expected a process, a type and an operation: "3 :invoke :write 4"';
    return malformed({ line: line.line, column }, message);
  }
  const [head, process = '', type = '', f = ''] = match;
  const rest = part.text.slice(head.length);
  // If the value comes after a tab, an error may follow the value. The error may be any text.
  const [data = '', ...errors] = rest.startsWith('\t') ? rest.slice(1).split('\t') : [rest];
  const read = readEdn(data);
  if (read.kind === 'malformed') {
    const offset = head.length + (data === rest ? 0 : 1) + read.offset;
    return malformed({ line: line.line, column: column + offset }, read.what);
  }
  const [value, error = errors.join('\t')] = read.forms;
  if (value === undefined) return malformed(line, 'expected a value at the end of the line');
  const named: Record<string, Json> = { process, type, f, value };
  if (error !== '') named['error'] = error;
  return takeFields(named, { line: line.line, column });
}

/** Returns the text after the logger's name, or null if the line is from another logger. */
function eventPart(text: string): EventPart | null {
  const match = LOGGER.exec(text);
  if (match === null) return null;
  const offset = match.index + match[0].length;
  return { text: text.slice(offset), offset };
}
