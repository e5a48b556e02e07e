/** The clocks of Node for simulated processes: each reads its own, of which faults know. */
import process from 'node:process';
import { ambient } from './ambient.ts';
import type { Patches } from './patches.ts';

const BILLION = 1_000_000_000n;

/** `Date`, `performance.now`, `performance.timeOrigin`, `process.hrtime` and `process.uptime`. */
export function patchClocks(patches: Patches): void {
  patchDate(patches);
  patchPerformance(patches);
  patchProcess(patches);
}

/**
 * The constructor is a proxy, so that dates made before and after are of one class; `now` is set
 * on the real one, which modules may have kept.
 */
function patchDate(patches: Patches): void {
  const RealDate = Date;
  const realNow = Date.now;
  patches.set(RealDate, 'now', () => ambient.current?.dateMs() ?? realNow());
  const VirtualDate = new Proxy(RealDate, {
    apply: () => new VirtualDate().toString(),
    construct(target, given, newTarget): Date {
      const { current } = ambient;
      const args = given.length === 0 && current !== null ? [current.dateMs()] : given;
      return Reflect.construct(target, args, newTarget);
    },
  });
  patches.set(globalThis, 'Date', VirtualDate);
  patches.set(RealDate.prototype, 'constructor', VirtualDate);
}

function patchPerformance(patches: Patches): void {
  const { performance } = globalThis;
  const realNow = performance.now.bind(performance);
  const { timeOrigin } = performance;
  patches.set(performance, 'now', () => {
    const { current } = ambient;
    return current === null ? realNow() : current.monotonicUs() / 1000;
  });
  patches.define(performance, 'timeOrigin', {
    get: () => {
      const { current } = ambient;
      return current === null ? timeOrigin : current.dateMs() - current.monotonicUs() / 1000;
    },
  });
}

function patchProcess(patches: Patches): void {
  const realHrtime = process.hrtime;
  const realBigint = process.hrtime.bigint;
  const realUptime = process.uptime.bind(process);
  const bigint = (): bigint => {
    const { current } = ambient;
    return current === null ? realBigint() : BigInt(current.monotonicUs()) * 1000n;
  };
  const hrtime = (since?: [number, number]): [number, number] => {
    if (ambient.current === null) return realHrtime(since);
    const [seconds, nanoseconds] = since ?? [0, 0];
    const passed = bigint() - BigInt(seconds) * BILLION - BigInt(nanoseconds);
    const rest = ((passed % BILLION) + BILLION) % BILLION;
    return [Number((passed - rest) / BILLION), Number(rest)];
  };
  patches.set(process, 'hrtime', Object.assign(hrtime, { bigint }));
  patches.set(process, 'uptime', () => {
    const { current } = ambient;
    return current === null ? realUptime() : current.monotonicUs() / 1_000_000;
  });
}
