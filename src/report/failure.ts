/**
 * Renders the block for a failure: what broke, why, the few essential events, and the next
 * commands. A block has at most 25 lines, plus one per twin and up to 20 lines of output of user
 * code.
 */
import type { Explanation } from '../check/verdict.ts';
import type { Finding, ShrunkSize } from '../search/campaign/result.ts';
import { type Paint, paintFor, type Screen, type TerminalText } from '../text/colour.ts';
import { firstLines } from '../text/output-lines.ts';
import { countOf, groupDigits, lead, sentence, shellWords } from '../text/prose.ts';
import { clip, hang, visible, wrap } from '../text/visible.ts';
import { trialText } from './exhausted.ts';
import { evidenceShown, keepCommand, replayCommand, rerunCommand } from './finding.ts';
import { renderSequence } from './sequence-text.ts';
import { essentialSteps, fitSteps } from './story-steps.ts';

/** Lines have at most 100 columns, even on a wider terminal. */
export interface FailureOptions extends TerminalText {
  /** Replacements for texts that apply only to `fencepost run`. */
  readonly wording?: FailureWording;
}

/** Each omitted text defaults to the text of `run`. */
export interface FailureWording {
  /** The claim and its place: `grant-order of unfenced in zombie-writer, seed 1`. */
  readonly place?: string;
  /** The effect of shrinking; '' omits the line. */
  readonly size?: string;
  /** The next commands, each with a label and its words. */
  readonly next?: readonly (readonly [label: string, words: readonly string[]])[];
}

const MOST_LINES = 25;
const MOST_COLUMNS = 100;
const MOST_STORY_LINES = 9;
const MOST_SIBLINGS = 3;

/** Renders the findings of a scenario. A repeated plan is rendered briefly. */
export function renderFailures(
  findings: readonly Finding[],
  options: FailureOptions,
): readonly string[] {
  const byClaim = new Map<string, Finding>();
  return findings.map((finding) => {
    const story = JSON.stringify([finding.claim, finding.plan.clients, finding.plan.faults]);
    const first = byClaim.get(story);
    if (first !== undefined) return renderRepeat(finding, first, options);
    byClaim.set(story, finding);
    return renderFailure(finding, options);
  });
}

/** Renders a block as lines joined by `\n`, without a final line break. */
export function renderFailure(finding: Finding, options: FailureOptions): string {
  const screen = screenFor(options);
  const { width, paint } = screen;
  const { wording = {} } = options;
  const above = [...headlineOf(finding, screen, wording.place), ...storyLines(finding, width)];
  const size = sizeLines(finding, width, wording.size);
  const paste = pasteLines(finding, paint, wording);
  const below = [...size, ...siblingLines(finding, width), ...paste];
  const space = MOST_LINES - above.length - size.length - paste.length - 3;
  const { trace, explanation } = finding;
  const words = storyOf(explanation).join(' ');
  const evidence = evidenceShown(finding);
  const all = essentialSteps(trace, { evidence, words });
  const fitting = fitSteps(all, space);
  // If evidence needs a second line, omit other steps.
  const over = Math.max(0, renderSequence(fitting, trace.processes, screen).length - 1 - space);
  const needed = all.filter(({ weight }) => weight === 0).length;
  const steps =
    over === 0 ? fitting : fitSteps(all, Math.min(space, Math.max(needed, space - over)));
  const sequence = renderSequence(steps, trace.processes, screen, space - steps.length);
  const output = outputBlock(trace.output, width);
  const printed = output.length === 0 ? [] : [...output, ''];
  return [...above, '', ...sequence, '', ...printed, ...below].join('\n');
}

/**
 * Renders a finding with the same plan as `first` on another system: the headline, the differences
 * in the explanation, and the replay command.
 */
export function renderRepeat(finding: Finding, first: Finding, options: FailureOptions): string {
  const screen = screenFor(options);
  const { width, paint } = screen;
  const same = `The plan for ${first.system} also breaks ${finding.claim} of ${finding.system}.`;
  const known = new Set(storyOf(first.explanation));
  const news = storyOf(finding.explanation).filter((line) => !known.has(line));
  const story = wrap(visible([same, ...news].join(' ')), width - 2).map((line) => `  ${line}`);
  const replay = pasteLine('replay:', replayCommand(finding), paint);
  return [...headlineOf(finding, screen), ...story, ...replay].join('\n');
}

/** Renders an expected finding briefly: its headline with the place, and the replay command. */
export function renderBrief(finding: Finding, options: FailureOptions): string {
  const screen = screenFor(options);
  const replay = pasteLine('replay:', replayCommand(finding), screen.paint);
  return [...headlineOf(finding, screen), ...replay].join('\n');
}

function headlineOf(finding: Finding, { width, paint }: Screen, otherwise?: string): string[] {
  const isExpected = finding.isExpected === true;
  const sign = isExpected ? '✗ (expected)' : '✗';
  const headline = clip(visible(`${sign} ${finding.explanation.headline}`), width);
  const { claim, system, scenario } = finding;
  const place = `  ${otherwise ?? `${claim} of ${system} in ${scenario}, ${trialText(finding)}`}`;
  const tinted = isExpected ? headline : paint.red(headline);
  return [paint.bold(tinted), paint.faint(clip(visible(place), width))];
}

function screenFor({ width, colour }: TerminalText): Screen {
  return { width: Math.max(40, Math.min(MOST_COLUMNS, width)), paint: paintFor(colour) };
}

const MOST_OUTPUT = 20;

/** Renders the output of a run, at most 20 lines. Empty if there is none. */
export function outputBlock(output: readonly string[] = [], width: number): readonly string[] {
  if (output.length === 0) return [];
  const lines = firstLines(output, MOST_OUTPUT - 1);
  return ['printed:', ...lines.map((line) => clip(`  ${visible(line)}`, width))];
}

/** Returns the explanation as one text, *Let … Then … However …*, followed by the cure. */
export function storyOf(explanation: Explanation): readonly string[] {
  return [
    lead('Let', explanation.given),
    lead('Then', explanation.next),
    lead('However,', explanation.however),
    sentence(explanation.cure),
  ].filter((line) => line !== '');
}

function storyLines(finding: Finding, width: number): string[] {
  const text = visible(storyOf(finding.explanation).join(' '));
  const lines = wrap(text, width - 2);
  const kept = lines.slice(0, MOST_STORY_LINES);
  if (lines.length > kept.length) kept.push(clip(`${kept.pop() ?? ''} …`, width - 2));
  return kept.map((line) => `  ${line}`);
}

function sizeLines(finding: Finding, width: number, otherwise?: string): string[] {
  if (otherwise !== undefined) return otherwise === '' ? [] : [clip(visible(otherwise), width)];
  const text = shrunkText(finding.size);
  const { boundary } = finding;
  if (boundary === null || text === '') return [clip(visible(boundary ?? text), width)];
  const joined = `${text}; ${visible(boundary)}`;
  return joined.length <= width ? [joined] : [text, clip(visible(boundary), width)];
}

/** Returns `shrunk 812 → 9 events, 5 faults → 1`, or '' if neither number changed. */
export function shrunkText(size: ShrunkSize): string {
  const { originalEvents, events, originalFaults, faults } = size;
  if (originalEvents === events && originalFaults === faults) return '';
  const parts: string[] = [];
  if (originalEvents > 0)
    parts.push(`${groupDigits(originalEvents)} → ${countOf(events, 'event')}`);
  if (originalFaults > 0) parts.push(`${countOf(originalFaults, 'fault')} → ${faults}`);
  return parts.length === 0 ? '' : `shrunk ${parts.join(', ')}`;
}

/** Returns the results of the first few twins, and the number of the others. */
function siblingLines({ siblings = [] }: Finding, width: number): string[] {
  const left = siblings.length - MOST_SIBLINGS;
  const shown = left > 0 ? siblings.slice(0, MOST_SIBLINGS - 1) : siblings;
  const lines = shown.flatMap(({ text }) => hang(visible(text), width - 2, '', '  '));
  return left > 0 ? [...lines, `… and on ${left + 1} more twins`] : lines;
}

function pasteLines(finding: Finding, paint: Paint, { next }: FailureWording): string[] {
  if (next !== undefined) return next.flatMap(([label, words]) => pasteLine(label, words, paint));
  return [
    ...pasteLine('replay:', replayCommand(finding), paint),
    ...pasteLine('again: ', rerunCommand(finding), paint),
    ...(finding.pageFile === '' ? [] : pasteLine('report:', [finding.pageFile], paint)),
    ...pasteLine('keep:  ', keepCommand(finding), paint),
  ];
}

/** Returns a command as one line if it fits, otherwise as lines with shell continuations. */
function pasteLine(label: string, words: readonly string[], paint: Paint): string[] {
  const lines: string[] = [];
  let line = label;
  for (const word of shellWords(words)) {
    if (line !== label && line.length + word.length + 3 > MOST_COLUMNS) {
      lines.push(`${line} \\`);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map((text) => text.replace(label, paint.faint(label)));
}
