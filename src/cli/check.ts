/** `fencepost check`: is a recorded history linearizable to a model, and if not, why? */
import { basename, join } from 'node:path';
import type { Json } from '../core/kernel/json.ts';
import { dialects } from '../linearizability/formats/dialects.ts';
import { readEdn } from '../linearizability/formats/edn.ts';
import { formats } from '../linearizability/formats/formats.ts';
import type { Format } from '../linearizability/formats/record.ts';
import { type HistoryReport, historyLine, renderHistory } from '../report/history-report.ts';
import { renderHistoryPage } from '../report/html/history-page.ts';
import { suggest } from '../text/problem.ts';
import { groupDigits } from '../text/prose.ts';
import { breathe } from './breathe.ts';
import { judgeHistory } from './check-judge.ts';
import { Limits } from './check-limits.ts';
import { readHistory } from './check-read.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { writeText } from './files.ts';
import { Interruption } from './interruption.ts';
import { openTerminal, type Terminal } from './terminal.ts';

export interface CheckCommandOptions {
  /** The names that were typed; null: as the file tells. */
  readonly model: string | null;
  readonly format: string | null;
  /** What a failed operation says. */
  readonly fail: string;
  /** What the object holds at first, as JSON or EDN; null: as the model says. */
  readonly initial: string | null;
  readonly maxConfigurations: number | null;
  readonly timeMs: number | null;
  readonly memoryMb: number | null;
  /** Where the page is written; null: nowhere. */
  readonly html: string | null;
  /** The folder of a page that is named after its history; null: no such page. */
  readonly output: string | null;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
}

const VERDICT_EXITS = {
  valid: exits.met,
  invalid: exits.broken,
  unknown: exits.incomplete,
} as const;

/** Every file is judged, even when another cannot be read; Ctrl-C ends it with what is known. */
export async function checkCommand(
  files: readonly string[],
  options: CheckCommandOptions,
): Promise<Exit> {
  const checker = prepare(options);
  const terminal = openTerminal(options);
  const interruption = new Interruption();
  const codes: Exit[] = [];
  const reports: HistoryReport[] = [];
  const left = [...files];
  interruption.listen();
  try {
    for (const file of files) {
      const report = await checkFile(file, { ...options, ...checker, terminal, interruption });
      if (report !== null) {
        printReport(report, { isFirst: reports.length === 0, isJson: options.isJson, terminal });
        reports.push(report);
      }
      if (report !== null || !interruption.isInterrupted) left.shift();
      codes.push(report === null ? exits.usage : VERDICT_EXITS[report.verdict]);
      await breathe();
      if (interruption.isInterrupted) break;
    }
  } finally {
    interruption.end();
  }
  writePages(reports, options, terminal);
  if (!interruption.isInterrupted) return worstOf(codes);
  terminal.note(left.length === 0 ? 'interrupted' : `interrupted; not judged: ${left.join(', ')}`);
  return exits.interrupted;
}

interface Checker {
  readonly known: Format | null;
  readonly failed: 'drop' | 'strict';
  readonly start: Json | undefined;
  /** What the process took before it read anything, in bytes. */
  readonly firstBytes: number;
}

/** Looks at what was typed before any file is read. */
function prepare(options: CheckCommandOptions): Checker {
  const { model, format, fail, initial } = options;
  if (model !== null && !dialects.has(model)) {
    const hint = suggest(model, [...dialects.keys()]);
    throw new UserError([`--model ${model}: unknown model "${model}"${hint}`]);
  }
  const known = formats.find(({ name }) => name === format) ?? null;
  if (format !== null && format !== 'auto' && known === null) {
    const names = ['auto', ...formats.map(({ name }) => name)];
    throw new UserError([
      `--format ${format}: unknown format "${format}"${suggest(format, names)}`,
    ]);
  }
  if (fail !== 'drop' && fail !== 'strict') {
    throw new UserError([`--fail ${fail}: unknown policy "${fail}"; known: drop, strict`]);
  }
  const firstBytes = process.memoryUsage.rss();
  return { known, failed: fail, start: parseInitial(initial), firstBytes };
}

/** JSON, or EDN, or else a text as it stands. */
function parseInitial(text: string | null): Json | undefined {
  if (text === null) return undefined;
  if (text === 'null') return null;
  const read = readEdn(text);
  const [value] = read.kind === 'forms' ? read.forms : [];
  const isOne = read.kind === 'forms' && read.forms.length === 1 && value !== undefined;
  return isOne ? value : text;
}

type FileOptions = CheckCommandOptions &
  Checker & { readonly terminal: Terminal; readonly interruption: Interruption };

/** Null for a file that cannot be read, which it says, or when reading it was interrupted. */
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

async function judgeFile(file: string, options: FileOptions): Promise<HistoryReport> {
  const { terminal, interruption, failed, maxConfigurations } = options;
  const leftBehind = Math.max(0, process.memoryUsage.rss() - options.firstBytes);
  const limits = new Limits({ ...options, leftBehind });
  const read = await readHistory(file, {
    model: options.model,
    initial: options.start,
    format: options.known,
    signal: interruption.signal,
    onProgress: (count) => {
      limits.refuseMore(file);
      terminal.progress(`${file}: ${groupDigits(count)} operations read`);
    },
  });
  const report = judgeHistory(read, {
    file,
    failed,
    maxConfigurations,
    limits,
    interruption,
    drawsValid: options.html !== null || options.output !== null,
    onProgress: (decided, parts) => {
      terminal.progress(`${file}: ${groupDigits(decided)} of ${groupDigits(parts)} keys decided`);
    },
  });
  terminal.endProgress();
  return report;
}

function printReport(
  report: HistoryReport,
  { isFirst, isJson, terminal }: { isFirst: boolean; isJson: boolean; terminal: Terminal },
): void {
  if (isJson) process.stdout.write(`${historyLine(report)}\n`);
  if (!isFirst) terminal.print('');
  terminal.printLines(renderHistory(report, terminal));
}

function writePages(
  reports: readonly HistoryReport[],
  { html, output }: CheckCommandOptions,
  terminal: Terminal,
): void {
  const [first] = reports;
  if (first === undefined) return;
  const name = first.file === '-' ? 'stdin' : basename(first.file);
  const inFolder = output === null ? null : join(output, `${name}.html`);
  const files = [html, inFolder].flatMap((file) => file ?? []);
  if (files.length === 0) return;
  const page = renderHistoryPage(reports);
  for (const file of files) {
    writeText(file, page);
    terminal.print('');
    terminal.print(`report: ${file}`);
  }
}
