/** The line that `check --json` writes for one file; `output-schema.ts` has its shape. */
import type { HistoryReport, PartReport, ReportedOperation } from './history-report.ts';

/** One JSON line, without its end. */
export function historyLine(report: HistoryReport): string {
  const { file, format, model, operations, verdict, configurations, parts } = report;
  const head = { type: 'check', version: 1, file, format, model, operations };
  return JSON.stringify({ ...head, verdict, configurations, parts: parts.map(partOf) });
}

function partOf(part: PartReport): object {
  const { key, verdict, operations, configurations, returns, because, isPerhapsLate } = part;
  const satisfied = isPerhapsLate ? null : part.satisfied;
  const counts = { operations, configurations, returns, satisfied };
  const isMinimal = part.core.length === 0 ? null : part.isMinimal;
  return { key, verdict, ...counts, core: part.core.map(coreEntry), isMinimal, because };
}

function coreEntry(operation: ReportedOperation): object {
  const { process, text, invokeLine, returnLine, role } = operation;
  return { process, operation: text, invokeLine, returnLine, role };
}
