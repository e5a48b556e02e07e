/** Validates a user's lock definition and fills in the defaults. */
import { mayBe, type OptionInfo, Options } from './options.ts';
import type { LockDefinition, Protocol } from './protocol.ts';

const ONE_SERVER: readonly string[] = ['lock'];

/** Returns the complete protocol. Throws an error that names the first invalid field. */
export function protocolOf(name: string, definition: LockDefinition): Protocol {
  const where = `locks.${name}`;
  const { about, source = '', options = [], servers = ONE_SERVER } = definition;
  if (typeof about !== 'string') refuse(`${where}.about`, 'is not a string');
  const built = buildOf(where, definition);
  for (const option of options) {
    const { name: named, values, fallback } = option;
    if (typeof named !== 'string') refuse(`${where}.options`, 'contains an option without a name');
    const isKnown = (values === 'integer' || Array.isArray(values)) && mayBe(option, fallback);
    if (!isKnown) refuse(`${where}.options.${named}.fallback`, 'is not one of its values');
  }
  const names = typeof servers === 'function' ? servers : (): readonly string[] => servers;
  checkServers(`${where}.servers`, names, options);
  const { takesSeveral = false, waitsInLine = false, notGuaranteed = [] } = definition;
  const { operations, lock } = definition;
  if (lock !== undefined && lock !== 'none') refuse(`${where}.lock`, "must be 'none' or omitted");
  const { canRenew = built.build !== undefined, jitter, problem, takesMessages } = definition;
  return {
    about,
    source,
    options,
    servers: names,
    takesSeveral,
    waitsInLine,
    canRenew,
    notGuaranteed,
    ...(lock === undefined ? {} : { hasGrants: false }),
    ...(jitter === undefined ? {} : { jitter }),
    ...(problem === undefined ? {} : { problem }),
    ...(operations === undefined ? {} : { operations }),
    ...(takesMessages === undefined ? {} : { takesMessages }),
    ...built,
  };
}

/** Throws unless exactly one of the four fields is set. */
function buildOf(
  where: string,
  { build, buildAsked, buildAsync, section }: LockDefinition,
): Pick<Protocol, 'build' | 'buildAsync' | 'buildAsked'> {
  const candidates = Object.entries({ section, build, buildAsked, buildAsync });
  const [entry, other] = candidates.filter(([, made]) => made !== undefined);
  if (entry === undefined) refuse(where, 'has no `section`, and no `build` or `buildAsync`');
  if (typeof entry[1] !== 'function') refuse(`${where}.${entry[0]}`, 'is not a function');
  if (other !== undefined) {
    refuse(`${where}.${other[0]}`, `conflicts with \`${entry[0]}\`: define only one of them`);
  }
  if (section !== undefined) {
    return { buildAsync: (_world, options) => () => (at) => section(at, options) };
  }
  if (buildAsync !== undefined) return { buildAsync };
  if (buildAsked !== undefined) {
    const build: NonNullable<Protocol['buildAsked']> = (world, options) => {
      const { driverOf, check } = buildAsked(world, options) ?? {};
      requireGiven('`buildAsked` did not return a function `driverOf`', driverOf);
      requireGiven('`buildAsked` did not return a function `check`', check);
      return { driverOf, check };
    };
    return { build: (world, options) => build(world, options).driverOf, buildAsked: build };
  }
  if (build === undefined) return {};
  return {
    build(world, options, queue) {
      const driverOf = build(world, options, queue);
      requireGiven('`build` did not return a function', driverOf);
      return driverOf;
    },
  };
}

function requireGiven(message: string, value: unknown): void {
  if (typeof value !== 'function') throw new Error(message);
}

function checkServers(
  where: string,
  servers: (options: Options) => readonly string[],
  options: readonly OptionInfo[],
): void {
  const defaults = Options.read(options, {});
  if (typeof defaults === 'string') refuse(where, defaults);
  const names: unknown = servers(defaults);
  if (!Array.isArray(names)) refuse(where, 'is not a list of names');
  for (const name of names) {
    if (name !== 'lock' && !String(name).startsWith('lock-')) {
      refuse(where, `has ${JSON.stringify(name)}; a lock's servers are called lock or lock-…`);
    }
  }
}

function refuse(where: string, problem: string): never {
  throw new Error(`${where} ${problem}`);
}
