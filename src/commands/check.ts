/** `fencepost check`: is a recorded history linearizable to a model, and if not, why? */
import { basename, join } from 'node:path';
import type { Json } from '../kernel/json.ts';
import { dialects } from '../linearizability/formats/dialects.ts';
import { readEdn } from '../linearizability/formats/edn.ts';
import { type Format, formats } from '../linearizability/formats/formats.ts';
import { suggest } from '../plan/problem.ts';
import { historyLine } from '../report/history-line.ts';
import { renderHistoryPage } from '../report/history-page.ts';
import type { HistoryReport } from '../report/history-report.ts';
import { renderHistory } from '../report/history-text.ts';
import { groupDigits } from '../report/prose.ts';
import { judgeHistory } from './check-judge.ts';
import { Limits } from './check-limits.ts';
import { readHistory } from './check-read.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { writeText } from './files.ts';
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

/** Every file is judged, even when another one cannot be read. */
export async function checkCommand(
  files: readonly string[],
  options: CheckCommandOptions,
): Promise<Exit> {
  const checker = prepare(options);
  const terminal = openTerminal(options);
  const codes: Exit[] = [];
  const reports: HistoryReport[] = [];
  for (const file of files) {
    try {
      const report = await checkFile(file, { ...options, ...checker, terminal });
      printReport(report, { isFirst: reports.length === 0, isJson: options.isJson, terminal });
      reports.push(report);
      codes.push(VERDICT_EXITS[report.verdict]);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      terminal.endProgress();
      for (const line of error.lines) process.stderr.write(`${line}\n`);
      codes.push(exits.usage);
    }
  }
  writePages(reports, options, terminal);
  return worstOf(codes);
}

interface Checker {
  readonly known: Format | null;
  readonly failed: 'drop' | 'strict';
  readonly start: Json | undefined;
  readonly limits: Limits;
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
  return { known, failed: fail, start: parseInitial(initial), limits: new Limits(options) };
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

type FileOptions = CheckCommandOptions & Checker & { readonly terminal: Terminal };

async function checkFile(file: string, options: FileOptions): Promise<HistoryReport> {
  const { terminal, model, known, start, limits, failed, maxConfigurations, memoryMb } = options;
  const read = await readHistory(file, {
    model,
    initial: start,
    format: known,
    onProgress: (count) => {
      limits.refuseMore(file);
      terminal.progress(`${file}: ${groupDigits(count)} operations read`);
    },
  });
  const report = judgeHistory(read, {
    file,
    failed,
    maxConfigurations,
    maxMb: memoryMb,
    limits,
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
  terminal.print(renderHistory(report, terminal));
}

function writePages(
  reports: readonly HistoryReport[],
  { html, output }: CheckCommandOptions,
  terminal: Terminal,
): void {
  const [first] = reports;
  if (first === undefined) return;
  const inFolder = output === null ? null : join(output, `${basename(first.file)}.html`);
  const file = html === null ? inFolder : html;
  if (file === null) return;
  writeText(file, renderHistoryPage(reports));
  terminal.print('');
  terminal.print(`report: ${file}`);
}
