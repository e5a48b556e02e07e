/** What `fencepost check --help` says beyond its options: models, formats, limits, exit codes. */
import { formats } from '../linearizability/formats/formats.ts';
import { aboutModels } from '../linearizability/models.ts';

const OWN_FORMAT = `\
              {"process":"alice","type":"invoke","f":"write","value":4,"token":33}
              {"process":"alice","type":"ok","f":"write","answer":"refused"}
  In jsonl, type is invoke, ok, fail (it did not happen) or info (nobody knows). An invoke says
  what is asked: value (of a cas [expected, new]), key or lock or resource, token, owner, permits,
  expected (the version that a write must find). Its completion says what is answered: value,
  token, version, answer (denied, refused, missed). time, index, error and note are for people; any
  other field is refused. Elsewhere a value of two may be [key value], as Jepsen writes it, which
  the report then says.
  In every format the process nemesis is no client: its events are faults, drawn and not judged.`;

/** Ends with the exit codes. */
export const CHECK_HELP: string = `
Models:
${rows(aboutModels)}

Formats:
${rows(new Map(formats.map(({ name, about }) => [name, about])))}
${OWN_FORMAT}

Limits:
  Each history has its own. --time counts from its first decision, when it has been read;
  --memory is what the process takes, the history and fencepost itself included, without what
  histories before it left behind; --max-configurations is for each key. Past one of them the
  verdict is unknown, with its cause; Ctrl-C ends with what is known so far.

Exit codes: 0 valid, 1 invalid, 2 unreadable, 5 unknown, 130 interrupted.`;

function rows(table: ReadonlyMap<string, string>): string {
  const width = Math.max(...[...table.keys()].map((name) => name.length));
  return [...table].map(([name, about]) => `  ${name.padEnd(width)}  ${about}`).join('\n');
}
