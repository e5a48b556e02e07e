/** The shape of one fault: its kind, what it strikes and where, without times and sizes. */
import type { Fault, FaultOf, When, Which, WhichTimer } from '../../core/plan/fault.ts';
import { FAULT_WORDS } from '../../core/plan/fault-words.ts';
import type { Names } from './shape-names.ts';

/** One clause: `pause A before A/1/write`. */
export function shapeOfFault(fault: Fault, names: Names): string {
  const parts = [FAULT_WORDS[fault.kind].shape, subjectShape(fault, names)];
  if ('clocks' in fault && fault.clocks === 'freeze') parts.push(' with frozen clocks');
  if ('restartAfterUs' in fault && fault.restartAfterUs === null) parts.push(' for good');
  if ('stepUs' in fault) parts.push(clockShape(fault));
  if ('key' in fault) parts.push(` forgets ${names.item(fault.key)}`);
  if ('when' in fault) parts.push(whenShape(fault.when, names));
  return parts.join('');
}

/** Whom or what it hits. */
function subjectShape(fault: Fault, names: Names): string {
  if ('process' in fault) return names.process(fault.process);
  switch (fault.kind) {
    case 'partition': {
      const sides = [fault.from, fault.to].map((side) => groupShape(side, names));
      return sides.join(fault.direction === 'both' ? ' and ' : ' to ');
    }
    case 'reset':
      return linkShape(fault, names);
    case 'late-timer':
      return timerShape(fault.which, names);
    default:
      return whichShape(fault.which, names);
  }
}

/** Empty for a time: times are no part of a shape. */
function whenShape(when: When, names: Names): string {
  return when.kind === 'at' ? '' : ` ${when.kind} ${names.point(when.point)}`;
}

function whichShape(which: Which, names: Names): string {
  return which.kind === 'message' ? names.point(which.message) : linkShape(which, names);
}

function timerShape(which: WhichTimer, names: Names): string {
  return which.kind === 'timer' ? names.point(which.timer) : `of ${names.process(which.process)}`;
}

function linkShape(link: { readonly from: string; readonly to: string }, names: Names): string {
  return `${names.process(link.from)} to ${names.process(link.to)}`;
}

function groupShape(group: readonly string[], names: Names): string {
  return group
    .map((name) => names.process(name))
    .sort()
    .join('+');
}

/** Which way a clock goes wrong. */
function clockShape({ stepUs, ratePpm }: FaultOf<'clock'>): string {
  const step = stepUs === 0 ? '' : stepUs > 0 ? ' steps forwards' : ' steps back';
  const rate = ratePpm === 0 ? '' : ratePpm > 0 ? ' runs fast' : ' runs slow';
  return `${step}${rate}`;
}
