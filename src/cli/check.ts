/**
 * `fencepost check` decides whether a recorded history is linearizable with respect to a model, and
 * explains why if it is not. This file contains the options, the help text and the steps per file.
 * `check-read.ts` reads a history; `check-judge.ts` judges and explains it.
 */
import { setImmediate } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Json } from '../core/kernel/json.ts';
import { dialects } from '../linearizability/formats/dialects.ts';
import { readEdn } from '../linearizability/formats/edn.ts';
import { formats } from '../linearizability/formats/formats.ts';
import { EVENT_ORDERS, type EventOrder, type Format } from '../linearizability/formats/record.ts';
import { aboutModels } from '../linearizability/models.ts';
import { type HistoryReport, historyLine, renderHistory } from '../report/history-report.ts';
import { renderHistoryPage } from '../report/html/history-page.ts';
import { type Exit, exits, worstOf } from '../search/campaign/exit-codes.ts';
import { suggest } from '../text/problem.ts';
import { groupDigits } from '../text/prose.ts';
import { hang } from '../text/visible.ts';
import { CheckLimits, judgeHistory } from './check-judge.ts';
import { readHistoryFile } from './check-read.ts';
import {
  type Done,
  HELP_COLUMNS,
  type OutputFlags,
  outputOptions,
  parseOption,
  parsePositive,
  parseTimeMs,
  shared,
  withExample,
} from './command.ts';
import { UserError } from './exit.ts';
import { writeText } from './files.ts';
import { findHistory } from './history-file.ts';
import { Interruption } from './interruption.ts';
import { openTerminal, type Terminal } from './terminal.ts';

interface CheckFlags extends OutputFlags {
  /** If absent, detected from the file. */
  readonly model?: string;
  readonly format: string;
  /** The order of events: `file` or `time`. */
  readonly order: string;
  /** The meaning of a failed operation: `drop` or `strict`. */
  readonly fail: string;
  /** The initial value of the object, as JSON or EDN. Default: the initial value of the model. */
  readonly init?: string;
  readonly maxConfigurations?: string;
  readonly time?: string;
  readonly memory?: string;
  readonly html?: string;
}

/** A Jepsen log that ships with the package. */
const SHIPPED_LOG = 'node_modules/fencepost/fixtures/histories/register-invalid.log';

export function addCheck(command: Command, done: Done): void {
  withExample(command, `check ${SHIPPED_LOG} --model cas-register --html why.html`)
    .option('--model <name>', 'sequential specification (default: inferred from the operations)')
    .option('--format <name>', 'format of the file', 'auto')
    .option('--order <of>', 'order of events: file (line order) or time', 'file')
    .option('--fail <policy>', 'failed calls: drop (never executed), strict (explain)', 'drop')
    .option('--init <value>', 'initial value of the object (default: none)')
    .option('--max-configurations <N>', 'limit of the search per key')
    .option('--time <duration>', 'time limit per history, e.g. 60s')
    .option('--memory <MB>', 'memory limit of the process per history')
    .option('--html <file>', 'file for a page with a picture')
    .option('--json', 'print only one JSON line per history on stdout')
    .option(...shared.quiet)
    .addHelpText('after', CHECK_HELP)
    .action(async (files: string[], flags: CheckFlags) => done(await checkFiles(files, flags)));
}

const OPERATIONS_FORMAT = `\
    {"process":"alice","type":"invoke","f":"write","value":4,"token":33}
    {"process":"alice","type":"ok","f":"write","answer":"refused"}

  In jsonl, type is invoke, ok, fail (never executed) or info (unknown). An
  invoke gives the request: value (of a cas [expected, new]), key or lock or
  resource, token, owner, permits, expected (the version that a write must
  find). Its completion gives the answer: value, token, version, answer (denied,
  refused, missed). index, error and note are comments, as is time without
  --order time; any other field is refused.

  In other formats a value of two may be [key value], as Jepsen writes it; the
  report then says so. In every format, events of the process nemesis are
  faults, drawn but not judged. A file may be gzipped. In a Jepsen folder,
  history.edn or history.txt of the run is read, or of its latest run.
  Transactions of Elle (:txn) are not checked; use elle-cli. A deleted key of a
  kv has no value, whatever the value of --init.`;

/** The end of the help text, including the exit codes. */
export const CHECK_HELP: string = `
Models:
${rows(aboutModels)}

Formats:
${rows(new Map(formats.map(({ name, about }) => [name, about])))}
${OPERATIONS_FORMAT}

Limits per history; if one is exceeded, the verdict is unknown:
  --time                begins with the first decision, after the file is read
  --memory              counts the history and fencepost, not earlier histories
  --max-configurations  counts per key
  Ctrl-C prints the results so far.

Exit codes: 0 valid, 1 invalid, 2 unreadable, 5 unknown, 130 interrupted.`;

function rows(table: ReadonlyMap<string, string>): string {
  const width = Math.max(...[...table.keys()].map((name) => name.length));
  const margin = ' '.repeat(width + 4);
  return [...table]
    .flatMap(([name, about]) =>
      hang(about, HELP_COLUMNS - margin.length, `  ${name.padEnd(width)}  `, margin),
    )
    .join('\n');
}

const VERDICT_EXITS = {
  valid: exits.met,
  invalid: exits.broken,
  unknown: exits.incomplete,
} as const;

/**
 * Judges every file, even if one cannot be read. Ctrl-C ends the command with the results so far.
 */
async function checkFiles(files: readonly string[], flags: CheckFlags): Promise<Exit> {
  const checker = prepare(flags);
  const output = outputOptions(flags);
  const terminal = openTerminal(output);
  const interruption = new Interruption();
  const codes: Exit[] = [];
  const reports: HistoryReport[] = [];
  const left = [...files];
  interruption.listen();
  try {
    for (const file of files) {
      const report = await checkFile(file, { ...checker, terminal, interruption });
      if (report !== null) {
        if (output.isJson) process.stdout.write(`${historyLine(report)}\n`);
        if (reports.length > 0) terminal.print('');
        terminal.printLines(renderHistory(report, terminal));
        reports.push(report);
      }
      if (report !== null || !interruption.isInterrupted) left.shift();
      codes.push(report === null ? exits.usage : VERDICT_EXITS[report.verdict]);
      await setImmediate();
      if (interruption.isInterrupted) break;
    }
  } finally {
    interruption.end();
  }
  writePage(reports, flags, terminal);
  if (!interruption.isInterrupted) return worstOf(codes);
  terminal.note(left.length === 0 ? 'interrupted' : `interrupted; not judged: ${left.join(', ')}`);
  return exits.interrupted;
}

interface Checker {
  readonly model: string | null;
  /** Null to detect the format from the beginning of the file. */
  readonly format: Format | null;
  readonly order: EventOrder;
  readonly failed: 'drop' | 'strict';
  readonly initial: Json | undefined;
  readonly maxConfigurations: number | null;
  readonly timeMs: number | null;
  readonly memoryMb: number | null;
  readonly drawsValid: boolean;
  /** The memory of the process before it read anything, in bytes. */
  readonly firstBytes: number;
}

/** Validates the flags before any file is read. */
function prepare(flags: CheckFlags): Checker {
  const maxConfigurations = parseOption(
    flags.maxConfigurations,
    '--max-configurations',
    parsePositive,
  );
  const timeMs = parseOption(flags.time, '--time', parseTimeMs);
  const memoryMb = parseOption(flags.memory, '--memory', parsePositive);
  const { model = null, format, fail: failed } = flags;
  const order = EVENT_ORDERS.find((name) => name === flags.order);
  if (model !== null && !dialects.has(model)) {
    const hint = suggest(model, [...dialects.keys()]);
    throw new UserError([`--model ${model}: unknown model "${model}"${hint}`]);
  }
  const known = formats.find(({ name }) => name === format) ?? null;
  if (format !== 'auto' && known === null) {
    const names = ['auto', ...formats.map(({ name }) => name)];
    throw new UserError([
      `--format ${format}: unknown format "${format}"${suggest(format, names)}`,
    ]);
  }
  if (failed !== 'drop' && failed !== 'strict') {
    throw new UserError([`--fail ${failed}: unknown policy "${failed}"; known: drop, strict`]);
  }
  if (order === undefined) {
    throw new UserError([
      `--order ${flags.order}: unknown order "${flags.order}"; known: file, time`,
    ]);
  }
  return {
    model,
    format: known,
    order,
    failed,
    initial: parseInitial(flags.init),
    maxConfigurations,
    timeMs,
    memoryMb,
    drawsValid: flags.html !== undefined,
    firstBytes: process.memoryUsage.rss(),
  };
}

/** Parses JSON or EDN, or returns the text unchanged if it is neither. */
function parseInitial(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  if (text === 'null') return null;
  const read = readEdn(text);
  const [value] = read.kind === 'forms' ? read.forms : [];
  const isOne = read.kind === 'forms' && read.forms.length === 1 && value !== undefined;
  return isOne ? value : text;
}

interface FileOptions extends Checker {
  readonly terminal: Terminal;
  readonly interruption: Interruption;
}

/** Checks a file. Resolves to null if it cannot be read or reading was interrupted. */
async function checkFile(file: string, options: FileOptions): Promise<HistoryReport | null> {
  try {
    return await judgeFile(file, options);
  } catch (error) {
    if (!(error instanceof UserError)) {
      if (options.interruption.isInterrupted) return null;
      throw error;
    }
    options.terminal.endProgress();
    for (const line of error.lines) process.stderr.write(`${line}\n`);
    return null;
  }
}

async function judgeFile(path: string, options: FileOptions): Promise<HistoryReport> {
  const { terminal, interruption } = options;
  const file = findHistory(path);
  const leftBehind = Math.max(0, process.memoryUsage.rss() - options.firstBytes);
  const limits = new CheckLimits({ ...options, leftBehind });
  const read = await readHistoryFile(file, {
    ...options,
    signal: interruption.signal,
    onProgress: (count) => {
      limits.refuseMore(file);
      terminal.progress(`${file}: ${groupDigits(count)} operations read`);
    },
  });
  const report = judgeHistory(read, {
    ...options,
    file,
    limits,
    onProgress: (decided, parts) => {
      terminal.progress(`${file}: ${groupDigits(decided)} of ${groupDigits(parts)} keys decided`);
    },
  });
  terminal.endProgress();
  return report;
}

function writePage(
  reports: readonly HistoryReport[],
  { html }: CheckFlags,
  terminal: Terminal,
): void {
  if (reports.length === 0 || html === undefined) return;
  writeText(html, renderHistoryPage(reports));
  terminal.print('');
  terminal.print(`report: ${html}`);
}
