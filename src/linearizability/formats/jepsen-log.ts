/**
 * Reads the text log of a Jepsen test, of which the lines of the logger `jepsen.util` are events:
 *
 *     INFO  jepsen.util - 3 :invoke :write 4
 *     INFO  jepsen.util - 3 :info   :write :timed-out
 */
import type { Json } from '../../core/kernel/json.ts';
import { type Line, LineCutter } from './cutters.ts';
import { readEdn } from './edn.ts';
import { readEvents } from './events.ts';
import { type Format, type Malformed, malformed, type TakeFields } from './record.ts';

export const jepsenLog: Format = {
  name: 'jepsen-log',
  about: 'INFO  jepsen.util - 3 :invoke :write 4',
  begins: ({ text }) =>
    text.split('\n').some((line) => {
      const event = eventPart(line.trim());
      return event !== null && EVENT.test(event.text);
    }),
  open(take) {
    let isClosed = true;
    const reader = readEvents(take, (takeFields) => {
      return new LineCutter((line) => {
        isClosed = line.isClosed;
        return takeLine(takeFields, line);
      });
    });
    return { ...reader, mayBeCut: () => !isClosed };
  },
  hidesReads: true,
  readsPairs: true,
};

const LOGGER = 'jepsen.util';
/** Process, type, what is called; then its value and, in newer logs, its error. */
const EVENT = /^(:?[\w-]+)\s+(:[\w-]+)\s+(:\S+)(?=\s|$)/;
/** What a line of this logger holds that may be a broken event; it says other things too. */
const TYPE = /:(invoke|ok|fail|info)\b/;

function takeLine(takeFields: TakeFields, line: Line): Malformed | null {
  const part = eventPart(line.text);
  if (part === null) {
    // Of other loggers: stack traces and results span lines of their own.
    if (line.isClosed) return null;
    return malformed(line, 'the file ends in the middle of this line; it was cut');
  }
  const column = line.column + part.offset;
  const match = EVENT.exec(part.text);
  if (match === null) {
    if (line.isClosed && !TYPE.test(part.text)) return null;
    const what = 'expected a process, a type and what is called: "3 :invoke :write 4"';
    return malformed({ line: line.line, column }, what);
  }
  const [head, process = '', type = '', f = ''] = match;
  const read = readEdn(part.text.slice(head.length));
  if (read.kind === 'malformed') {
    return malformed({ line: line.line, column: column + head.length + read.offset }, read.what);
  }
  const [value, error] = read.forms;
  if (value === undefined) return malformed(line, 'expected a value at the end of the line');
  const named: Record<string, Json> = { process, type, f, value };
  if (error !== undefined) named['error'] = error;
  return takeFields(named, { line: line.line, column });
}

/** What follows the logger's name; null when the line is another logger's. */
function eventPart(text: string): { readonly text: string; readonly offset: number } | null {
  const at = text.indexOf(LOGGER);
  if (at < 0) return null;
  const rest = text.slice(at + LOGGER.length);
  const part = rest.replace(/^\s*[-:]?\s+/, '');
  return part === rest ? null : { text: part, offset: text.length - part.length };
}
