/**
 * `fencepost check` decides if a recorded history is linearizable with respect to a model, and
 * explains why not. This file has its options, its help and the flow of each file from reading to
 * report; `check-read.ts` reads a history, and `check-judge.ts` judges and explains it part by
 * part.
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
import { CheckLimits, judgeHistory } from './check-judge.ts';
import { readHistoryFile } from './check-read.ts';
import {
  type Done,
  given,
  type OutputFlags,
  outputOptions,
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
  /** The source of the order of events. */
  readonly order: string;
  /** The meaning of a failed operation. */
  readonly fail: string;
  /** The initial value of the object, as JSON or EDN. By default, that of the model. */
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
    .option('--model <name>', 'the sequential specification (default: told by the operations)')
    .option('--format <name>', 'how the file is written', 'auto')
    .option('--order <of>', 'events in the order of: file (its lines), time (their time)', 'file')
    .option('--fail <policy>', 'a failed call: drop (it did not happen), strict (say why)', 'drop')
    .option('--init <value>', 'what the object holds at first (default: nothing)')
    .option('--max-configurations <N>', 'how many the search may meet for each key')
    .option('--time <duration>', 'stop judging a history after this long, e.g. 60s')
    .option('--memory <MB>', 'how much the process may take for a history')
    .option('--html <file>', 'where a page with the picture is written')
    .option('--json', 'one JSON line a history on stdout and nothing else')
    .option(...shared.quiet)
    .addHelpText('after', CHECK_HELP)
    .action(async (files: string[], flags: CheckFlags) => done(await checkFiles(files, flags)));
}

const OWN_FORMAT = `\
              {"process":"alice","type":"invoke","f":"write","value":4,"token":33}
              {"process":"alice","type":"ok","f":"write","answer":"refused"}
  In jsonl, type is invoke, ok, fail (it did not happen) or info (nobody knows). An invoke says
  what is asked: value (of a cas [expected, new]), key or lock or resource, token, owner, permits,
  expected (the version that a write must find). Its completion says what is answered: value,
  token, version, answer (denied, refused, missed). index, error and note are for people, and so is
  time without --order time; any other field is refused. Elsewhere a value of two may be
  [key value], as Jepsen writes it, which the report then says.
  In every format the process nemesis is no client: its events are faults, drawn and not judged.
  A file may be gzipped. Of a folder that Jepsen left, the history.edn or history.txt of its run
  is read, or of its latest run. Elle's transactions (:txn) are not checked; elle-cli does.
  A deleted key of a kv holds nothing, whatever --init says.`;

/** The end of the help text, including the exit codes. */
export const CHECK_HELP: string = `
Models:
${rows(aboutModels)}

Formats:
${rows(new Map(formats.map(({ name, about }) => [name, about])))}
${OWN_FORMAT}

Limits:
  Each history has its own. --time counts from its first decision, when it has been read;
  --memory is what the process takes, the history and fencepost itself included, without what
  histories before it left behind; --max-configurations is for each key. Past one of them the
  verdict is unknown, with its cause; Ctrl-C ends with what is known so far.

Exit codes: 0 valid, 1 invalid, 2 unreadable, 5 unknown, 130 interrupted.`;

function rows(table: ReadonlyMap<string, string>): string {
  const width = Math.max(...[...table.keys()].map((name) => name.length));
  return [...table].map(([name, about]) => `  ${name.padEnd(width)}  ${about}`).join('\n');
}

const VERDICT_EXITS = {
  valid: exits.met,
  invalid: exits.broken,
  unknown: exits.incomplete,
} as const;

/** Judges every file, even if one cannot be read. Ctrl-C ends it with the results so far. */
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
  const maxConfigurations = given(flags.maxConfigurations, '--max-configurations', parsePositive);
  const timeMs = given(flags.time, '--time', parseTimeMs);
  const memoryMb = given(flags.memory, '--memory', parsePositive);
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
