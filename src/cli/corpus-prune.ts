/** `fencepost corpus prune`: lists what a corpus could do without, and deletes it if asked. */
import { type Superfluous, superfluousIn } from '../search/corpus/entry.ts';
import { changeWhole } from '../search/corpus/write-whole.ts';
import { countOf } from '../text/prose.ts';
import { requireUnreserved, written } from './corpus-add.ts';
import { type CorpusOptions, entryOf, type FiledEntry, replayCorpus } from './corpus-entries.ts';
import { type Exit, exits } from './exit.ts';
import { openTerminal } from './terminal.ts';

export interface PruneOptions extends CorpusOptions {
  /** Whether what is listed is deleted. */
  readonly isConfirmed: boolean;
}

/** Lists or deletes; a plan that cannot be read is told, left alone, and makes the exit code 2. */
export async function pruneCorpus(options: PruneOptions): Promise<Exit> {
  const { isJson, isConfirmed } = options;
  const terminal = openTerminal({ ...options, isQuiet: false });
  const entries: FiledEntry[] = [];
  let exit: Exit = exits.met;
  for await (const kept of replayCorpus(options)) {
    const entry = entryOf(kept);
    if (entry !== null) entries.push(entry);
    if (kept.kind !== 'damaged') continue;
    exit = exits.usage;
    for (const line of kept.lines) terminal.warn(line);
  }
  const superfluous = superfluousIn(entries);
  for (const one of superfluous) {
    const { file } = one.entry;
    const isDeleted = isConfirmed && deleted(file, entries);
    terminal.print(`${isDeleted ? 'deleted ' : ''}${file}: ${whyOf(one)}`);
    if (isConfirmed && !isDeleted) terminal.warn(`${file}:1:1: was changed meanwhile, and is kept`);
    if (!isJson) continue;
    const of = one.kind === 'duplicate' ? one.of.file : null;
    const line = { type: 'superfluous-plan', version: 1, file, why: one.kind, of, isDeleted };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  const isListed = superfluous.length > 0 && !isConfirmed;
  const rest = isListed ? '; --yes deletes them' : '';
  terminal.note(`${superfluous.length} of ${countOf(entries.length, 'plan')} superfluous${rest}`);
  return exit;
}

/** Deletes a file that is still what was replayed. */
function deleted(file: string, entries: readonly FiledEntry[]): boolean {
  const before = entries.find((entry) => entry.file === file)?.text ?? '';
  const change = written(file, () => changeWhole(file, before, null));
  requireUnreserved(file, change);
  return change.kind === 'done';
}

function whyOf(one: Superfluous): string {
  if (one.kind === 'inert') return 'the hazard no longer arises';
  return `${one.of.file} shows the same failure and is as simple`;
}
