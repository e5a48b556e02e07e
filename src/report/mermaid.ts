/**
 * Draws a shrunk trace as a Mermaid `sequenceDiagram`, which GitHub, GitLab and many wikis show: a
 * participant a process, an arrow a message, a bar where a process believes that it holds a lock.
 */
import type { ProcessInfo, Trace } from '../core/history/trace.ts';
import { countOf } from '../text/prose.ts';
import { clip, visible } from '../text/visible.ts';
import type { Finding } from './finding.ts';
import {
  diagramRows,
  type MessageRow,
  type NoteRow,
  type Row,
  type RowOptions,
} from './mermaid-rows.ts';
import { mermaidLines, mermaidText } from './mermaid-text.ts';
import { laneOrder } from './sequence-text.ts';

export interface DiagramOptions extends RowOptions {
  readonly title: string;
}

/** A diagram is no longer; Mermaid itself refuses 50,000. */
export const MOST_CHARACTERS = 40_000;
const TITLE_COLUMNS = 100;
const NAME_COLUMNS = 30;
const TEXT_COLUMNS = 36;

/** What of a finding is drawn. */
type Drawn = Pick<Finding, 'trace' | 'explanation' | 'verdict' | 'plan'>;

/** The diagram of a finding's shrunk trace, without a final line end. */
export function findingDiagram({ trace, explanation, verdict, plan }: Drawn): string {
  const title = explanation.headline.replaceAll('`', '');
  const { claim, evidence } = verdict;
  return renderDiagram(trace, { title, claim, evidence, faults: plan.faults });
}

/** The diagram of a trace. Where it would be too long, lesser and earlier rows are left out. */
export function renderDiagram(trace: Trace, options: DiagramOptions): string {
  const rows = diagramRows(trace, options);
  const ranked = rows
    .map(({ rank }, at) => ({ at, rank }))
    .sort((left, right) => left.rank - right.rank || right.at - left.at);
  const drawing = (kept: number): string => {
    const chosen = new Set(ranked.slice(0, kept).map(({ at }) => at));
    const shown = rows.filter((_, at) => chosen.has(at));
    return draw(shown, rows.length - kept, { trace, title: options.title });
  };
  const whole = drawing(rows.length);
  if (whole.length <= MOST_CHARACTERS) return whole;
  let fits = 0;
  let exceeds = rows.length;
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2);
    if (drawing(middle).length <= MOST_CHARACTERS) fits = middle;
    else exceeds = middle;
  }
  return drawing(fits);
}

interface Drawing {
  readonly trace: Trace;
  readonly title: string;
}

function draw(rows: readonly Row[], leftOut: number, { trace, title }: Drawing): string {
  const lanes = lanesOf(rows, trace.processes);
  const all = [...new Set([[...lanes.values()][0], [...lanes.values()].at(-1)])].join(',');
  const participants = [...lanes].map(
    ([name, id]) => `participant ${id} as ${mermaidText(clip(visible(name), NAME_COLUMNS))}`,
  );
  const more = `… ${countOf(leftOut, 'row')} left out: a diagram has room for the ${rows.length} that matter most`;
  const left = leftOut === 0 ? [] : [`Note over ${all}: ${mermaidLines(more, TEXT_COLUMNS)}`];
  const lines = [
    `title ${mermaidText(clip(visible(title), TITLE_COLUMNS))}`,
    ...participants,
    ...left,
    ...rowLines(rows, lanes, all),
  ];
  return ['sequenceDiagram', ...lines.map((line) => `  ${line}`)].join('\n');
}

/** Identifiers of ours by the names of processes, so that no name can be a word of Mermaid. */
function lanesOf(
  rows: readonly Row[],
  processes: readonly ProcessInfo[],
): ReadonlyMap<string, string> {
  const used = new Set(
    rows.flatMap((row) => (row.kind === 'note' ? [row.process] : [row.from, row.to])),
  );
  const ordered = laneOrder(processes).map(({ name }) => name);
  const shown = ordered.filter((name) => used.has(name));
  const names = shown.length > 0 ? shown : ordered.slice(0, 1);
  return new Map(names.map((name, at) => [name, `p${at + 1}`]));
}

function rowLines(rows: readonly Row[], lanes: ReadonlyMap<string, string>, all: string): string[] {
  const held = new Map<string, number>();
  const lines: string[] = [];
  for (const row of rows) {
    if (row.kind === 'message') lines.push(...messageLines(row, lanes));
    else {
      const id = lanes.get(row.process);
      lines.push(`Note over ${id ?? all}: ${mermaidLines(row.text, TEXT_COLUMNS)}`);
      if (id !== undefined) lines.push(...bars(row.holds, id, held));
    }
  }
  for (const [id, bar] of held) lines.push(...ends(id, bar));
  return lines;
}

const SHAFTS = {
  handled: ['->>', '-->>'],
  lost: ['-x', '--x'],
  'under way': ['-)', '--)'],
} as const;

function messageLines(row: MessageRow, lanes: ReadonlyMap<string, string>): string[] {
  const from = lanes.get(row.from);
  const to = lanes.get(row.to);
  if (from === undefined || to === undefined) return [];
  const shaft = SHAFTS[row.fate][row.isReply ? 1 : 0];
  return [`${from}${shaft}${to}: ${mermaidLines(row.text, TEXT_COLUMNS)}`];
}

/** The lines that begin or end a holder's bar; a bar ends only where one was begun. */
function bars(holds: NoteRow['holds'], id: string, held: Map<string, number>): string[] {
  const before = held.get(id) ?? 0;
  if (holds === 'more') {
    held.set(id, before + 1);
    return [`activate ${id}`];
  }
  if (holds === 'as before' || before === 0) return [];
  const ended = holds === 'none' ? before : 1;
  held.set(id, before - ended);
  return ends(id, ended);
}

function ends(id: string, times: number): string[] {
  return Array.from({ length: times }, () => `deactivate ${id}`);
}
