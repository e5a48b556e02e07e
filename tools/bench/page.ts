/**
 * Writes `reports/speed.md`: the rows of the benchmark, and the comparisons with other programs,
 * which are measured outside of this repository and recorded here with their method.
 */
import type { Row } from './measure.ts';

/** The machine on which the rows were measured. */
export interface Machine {
  readonly node: string;
  readonly cores: number;
  readonly model: string;
}

const METHOD = `# How fast it is

Written by \`npm run bench -- --page\`, which measures again and replaces this page.

Figures are medians of **processor time on one core**, because wall time on a shared machine differs by up to six times.
Each action runs once to warm up (a sweep five times), then five times, alternating with the others of its subject.
Across machines, compare only ratios. \`npm run bench -- seeds\` measures one subject, \`-- --nodes 20,24 seeds\` two
versions of Node.`;

const NOTES = `Sweeps run 1,000 seeds. *All plans* are exhaustive searches of clients × sections with a lease of 10 ms and pauses and
delays of 6 or 14 ms. A *realm* gives each process its own instances of modules.`;

const RECORDED = `## Comparison with other programs

All programs except simloop run the zombie writer, 3 clients × 3 sections, in about 70 lines; simloop runs its example
\`jobqueue\`, which \`tools/bench/queue.ts\` rewrites. Figures are processor time on one core of an AMD EPYC, with Node
20.20.2, rustc 1.95.0 and CPython 3.13.0: medians of alternating rounds, which differed by up to 1.5 times.

| program | per second | fencepost, same rounds | finds the bug on |
| --- | --- | --- | --- |
| madsim 0.2.34 | 9,950 seeds, 653,000 messages | 1,530 seeds, 118,000 messages | 90 %; fencepost 38 % |
| turmoil 0.7.2 | 1,460 seeds, 101,000 messages | | 94 % |
| shuttle 0.8.1 | 33,600 executions, 2.45 million messages | 1,270 seeds, 98,500 messages | 36 % |
| stateright 0.31.0 | 3.7 million states | | all orders of its model |
| simloop 0.2.0 | 31.5 seeds, 2,220 messages | 750 seeds, 59,800 messages | |

fencepost misses its target of 50 times the speed of simloop: it is 24 times as fast per seed, and 27 times per message.
The work differs:

- fencepost keeps a trace of 318 events per seed and judges 22 claims; the Rust programs decide one boolean. Half of
  fencepost's seeds draw no pauses.
- shuttle and stateright have no time: an execution has no clock or network, and a state is one step.
- simloop opens a connection per request and collects garbage twice per seed (38.6 % of its time).

madsim, turmoil and shuttle run 21 processes each, of 4,000 seeds, 500 seeds and 40,000 executions; stateright searches
224,405 states; fencepost makes nine passes of 1,000 seeds. simloop runs seven rounds of 150 seeds of
\`benchmarks/campaign.py\` (commit 579ae3b) after 150 to warm up, beside \`npm run bench -- queue\`.`;

/** Returns the page's text, with the rows that have a target, without those of paused clients. */
export function renderPage({ node, cores, model }: Machine, rows: readonly Row[]): string {
  const aimed = rows.filter(({ what, target }) => target !== '' && !what.endsWith(', paused'));
  const cells = aimed.map(({ what, cpu, ratio, target }) => [what, cpu, ratio, target]);
  const head = ['median of each', 'processor', 'against the same run', 'target'];
  const table = [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`);
  const place = `## Measured\n\nNode ${node}, ${cores} cores, ${model}, with other work on the machine:`;
  return `${[METHOD, place, table.join('\n'), NOTES, RECORDED].join('\n\n')}\n`;
}
