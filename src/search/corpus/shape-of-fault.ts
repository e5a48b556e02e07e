/** The shape of one fault: its kind, what it strikes and where, without times and sizes. */
import type { Fault, FaultOf, When, Which, WhichTimer } from '../../core/plan/fault.ts';
import type { Names } from './shape-names.ts';

/** One clause: `pause A before A/1/write`. */
export function shapeOfFault(fault: Fault, names: Names): string {
  switch (fault.kind) {
    case 'pause': {
      const frozen = fault.clocks === 'freeze' ? ' with frozen clocks' : '';
      return `pause ${names.process(fault.process)}${frozen}${whenShape(fault.when, names)}`;
    }
    case 'crash': {
      const end = fault.restartAfterUs === null ? ' for good' : '';
      return `crash ${names.process(fault.process)}${end}${whenShape(fault.when, names)}`;
    }
    case 'partition': {
      const sides = [fault.from, fault.to].map((side) => groupShape(side, names));
      const way = fault.direction === 'both' ? ' and ' : ' to ';
      return `partition ${sides.join(way)}${whenShape(fault.when, names)}`;
    }
    case 'clock':
      return `clock ${names.process(fault.process)}${clockShape(fault)}${whenShape(fault.when, names)}`;
    case 'evict': {
      const what = `${names.process(fault.process)} forgets ${names.item(fault.key)}`;
      return `${what}${whenShape(fault.when, names)}`;
    }
    case 'failover':
      return `failover ${names.process(fault.process)}${whenShape(fault.when, names)}`;
    case 'reset': {
      const link = linkShape(fault, names);
      return `reset ${link}${whenShape(fault.when, names)}`;
    }
    case 'delay':
    case 'drop':
    case 'duplicate':
      return `${fault.kind} ${whichShape(fault.which, names)}`;
    case 'late-timer':
      return `late timer ${timerShape(fault.which, names)}`;
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
