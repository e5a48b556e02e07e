/**
 * Captures all output of code under test: `console`, the standard streams and their file
 * descriptors, and warnings. The output is recorded per run, with the name of the process, and
 * never reaches the terminal.
 */
import { Buffer } from 'node:buffer';
import realConsole, { Console } from 'node:console';
import fs from 'node:fs';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';
import type { Trace } from '../../core/history/trace.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import { OutputLines } from '../../text/output-lines.ts';
import { ambient, noteImpure } from './ambient.ts';
import { framesIn, isUnderTest, pathOf } from './call-site.ts';
import { isFunction, layerOf, type Patches, type Shared } from './patches.ts';

/** Receives output: a simulated process, or the record of a run. */
interface Printer {
  print(text: string, stream?: unknown): void;
  monotonicUs?(): number;
}

/** The output of one run. */
export class Printed implements Printer {
  private readonly complete: OutputLines = new OutputLines();
  /** Incomplete lines, by process and stream. */
  private readonly begun: Map<string, { readonly process: string; readonly text: string }> =
    new Map();

  /** Records output, without stack frames of Node and of fencepost. */
  write(process: string, printed: string, stream: unknown = 1): void {
    const key = `${stream} ${process}`;
    const text = `${this.begun.get(key)?.text ?? ''}${stripVTControlCharacters(printed)}`;
    const lines = text.replaceAll('\r', '').split('\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      const [frame] = /^\s+at /.test(line) ? framesIn(line) : [];
      if (frame === undefined) this.complete.add(process, line);
      else if (isUnderTest(frame)) {
        this.complete.add(process, line.replace(frame.file, pathOf(frame)));
      }
    }
    if (rest === '') this.begun.delete(key);
    else this.begun.set(key, { process, text: rest.slice(0, MOST_BEGUN) });
  }

  print(text: string, stream: unknown): void {
    this.write('', text, stream);
  }

  /** Ends all incomplete lines and returns the output. */
  end(): readonly string[] {
    for (const { process, text } of this.begun.values()) this.complete.add(process, text);
    this.begun.clear();
    return this.complete.lines;
  }
}

const MOST_BEGUN = 10_000;

/** Returns the trace with the output of its run appended. */
export function withOutput(trace: Trace, printed: Printed): Trace {
  const lines = printed.end();
  return lines.length === 0 ? trace : { ...trace, output: [...(trace.output ?? []), ...lines] };
}

/** Discards all output. */
export const NO_READER: Printer = { print: () => {} };

/** Receives output of code under test outside any process, or null if there is no receiver. */
let shared: Printer | null = null;

/** Runs `code`; its output outside any simulated process goes to `printer`. */
export function printingTo<T>(printer: Printer, code: () => T): T {
  const before = shared;
  shared = printer;
  try {
    return code();
  } finally {
    shared = before;
  }
}

/** Prints outside any process, to the record of the current run if there is one. */
export function printShared(text: string, stream: unknown): void {
  shared?.print(text, stream);
}

/** Captures output while code under test may run. */
export const capturedOutput: Shared = layerOf((patches) => {
  patchConsoles(patches);
  patchStreams(patches);
  patchDescriptors(patches);
  patches.set(
    process,
    'emitWarning',
    replacing(process.emitWarning, (printer, args) => {
      if (printer === ambient.current) return null; // the process's own listeners get it
      const [warning, options] = args;
      printer.print(warningText(warning, options), 2);
      return { value: undefined };
    }),
  );
  patches.set(
    process,
    '_rawDebug',
    replacing(Reflect.get(process, '_rawDebug'), (printer, args) => {
      formatter(printer).error(...args);
      return { value: undefined };
    }),
  );
});

type Print = (printer: Printer, args: readonly unknown[]) => { readonly value: unknown } | null;

/** Returns a function that calls `print` instead of `real` for code under test. */
function replacing(real: unknown, print: Print): unknown {
  if (!isFunction(real)) return real;
  return function printing(this: unknown, ...args: unknown[]): unknown {
    const printer = ambient.current ?? shared;
    // A module that prints while it is loaded is not reused, because it must print each time.
    if (printer !== null) noteImpure();
    const printed = printer === null ? null : print(printer, args);
    return printed === null ? Reflect.apply(real, this, args) : printed.value;
  };
}

/** Returns `(node:300) [CODE] Warning: text`, as Node prints it. */
export function warningText(warning: unknown, options: unknown = {}): string {
  const isError = warning instanceof Error;
  const fields: object =
    typeof options === 'object' && options !== null ? options : { type: options };
  const { type = 'Warning', code = '' } = {
    type: Reflect.get(isError ? warning : fields, isError ? 'name' : 'type'),
    code: Reflect.get(isError ? warning : fields, 'code'),
  };
  const message = isError ? warning.message : String(warning);
  return `(node:${process.pid}) ${code ? `[${code}] ` : ''}${type}: ${message}\n`;
}

/** One console per printer, with its own counts, groups and timers. */
const formatters: WeakMap<Printer, Console> = new WeakMap();

function formatter(printer: Printer): Console {
  return entryOf(formatters, printer, () => formatterFor(printer));
}

function formatterFor(printer: Printer): Console {
  const stream = (fd: number): NodeJS.WritableStream =>
    Object.assign(Object.create(null), {
      write: (text: string) => {
        printer.print(text, fd);
        return true;
      },
    });
  const made = new Console({
    stdout: stream(1),
    stderr: stream(2),
    ignoreErrors: false,
    colorMode: false,
  });
  for (const [key, method] of Object.entries(virtualTimes(printer, made))) {
    Reflect.set(made, key, method);
  }
  return made;
}

/** Returns the console methods that print durations, measured by the clock of the process. */
function virtualTimes(printer: Printer, made: Console): object {
  const begun = new Map<string, number>();
  const nowUs = (): number => printer.monotonicUs?.() ?? 0;
  const log = (label: unknown, data: readonly unknown[]): void => {
    const sinceUs = begun.get(String(label));
    if (sinceUs === undefined) made.warn(`Warning: No such label '${String(label)}'`);
    else made.log('%s: %sms', label, (nowUs() - sinceUs) / 1000, ...data);
  };
  return {
    time: (label: unknown = 'default') => begun.set(String(label), nowUs()) && undefined,
    timeLog: (label: unknown = 'default', ...data: unknown[]) => log(label, data),
    timeEnd: (label: unknown = 'default') => {
      log(label, []);
      begun.delete(String(label));
    },
  };
}

function patchConsoles(patches: Patches): void {
  const virtualFormat = formatter(NO_READER);
  for (const target of new Set([globalThis.console, realConsole])) {
    for (const key of Object.keys(virtualFormat)) {
      const print: Print = (printer, args) => {
        const method: unknown = Reflect.get(formatter(printer), key);
        return { value: isFunction(method) ? method(...args) : undefined };
      };
      patches.set(target, key, replacing(Reflect.get(target, key), print));
    }
  }
}

/** Patches the streams, including those that a test runner gave to `console`. */
function patchStreams(patches: Patches): void {
  const { console: currentConsole } = globalThis;
  for (const [fd, stream] of [
    [1, process.stdout],
    [2, process.stderr],
    [1, Reflect.get(currentConsole, '_stdout')],
    [2, Reflect.get(currentConsole, '_stderr')],
  ]) {
    if (typeof stream !== 'object' || stream === null) continue;
    const print: Print = (printer, [chunk, ...rest]) => {
      printer.print(textOf(chunk), fd);
      const done = rest.find(isFunction);
      if (done !== undefined) process.nextTick(done);
      return { value: true };
    };
    patches.set(stream, 'write', replacing(Reflect.get(stream, 'write'), print));
  }
}

function textOf(chunk: unknown): string {
  if (!ArrayBuffer.isView(chunk)) return String(chunk);
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString();
}

/** Functions of `fs` that write to a descriptor; each has a form that ends in Sync. */
const WRITERS = ['write', 'writev', 'writeFile', 'appendFile', 'fsync', 'fdatasync'] as const;

/** Returns true if a call, such as `fs.writeSync`, prints. */
export function isPrint(call: string, [descriptor]: readonly unknown[]): boolean {
  const [, name] = /^fs\.(\w+?)(?:Sync)?$/.exec(call) ?? [];
  return isStandard(descriptor) && WRITERS.some((writer) => writer === name);
}

/** Returns true for the descriptors of standard output and standard error. */
export function isStandard(descriptor: unknown): boolean {
  return descriptor === 1 || descriptor === 2;
}

function patchDescriptors(patches: Patches): void {
  for (const name of WRITERS) {
    const print: Print = (printer, [descriptor, data, ...rest]) => {
      if (!isStandard(descriptor)) return null;
      const text = writtenText(data, rest);
      if (text !== '') printer.print(text, descriptor);
      const done = [data, ...rest].find(isFunction);
      const bytes = Buffer.byteLength(text);
      if (done !== undefined) process.nextTick(done, null, bytes, data);
      return { value: done === undefined ? bytes : undefined };
    };
    for (const key of [name, `${name}Sync`]) {
      patches.set(fs, key, replacing(Reflect.get(fs, key), print));
    }
  }
}

function writtenText(data: unknown, [first, second]: readonly unknown[]): string {
  if (data === undefined || isFunction(data)) return '';
  if (Array.isArray(data)) return data.map(textOf).join('');
  if (!(data instanceof Uint8Array)) return textOf(data);
  const part =
    typeof first === 'object' && first !== null ? first : { offset: first, length: second };
  const [offset, length] = [Reflect.get(part, 'offset'), Reflect.get(part, 'length')];
  const from = typeof offset === 'number' ? offset : 0;
  return textOf(data.subarray(from, typeof length === 'number' ? from + length : undefined));
}
