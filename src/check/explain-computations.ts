/** Tells of memoized values that several computed. */
import { at, whileFaults } from './phrases.ts';
import { type EventOf, find, findAll, letterOf, need, type Story, type Teller } from './story.ts';

const computedAtOnce: Teller = (story) => {
  const earlier = need(story, 'earlier computation', 'mark');
  const later = need(story, 'later computation', 'mark');
  const key = `\`${keyOf(story, later)}\``;
  const still = `while ${earlier.process} was still at it`;
  const again = deed(story, later, { role: 'later grant', what: `${key} as well` });
  return {
    headline: `${key} was computed by two clients at once`,
    course: deed(story, earlier, { role: 'earlier grant', what: key }),
    however: `${again}, ${still}${whileFaults(story)}`,
    cure: cureOf(story),
  };
};

/** `bob, who did not get the lock in time, began without it to compute `x` at 6 ms`. */
function deed(
  story: Story,
  began: EventOf<'mark'>,
  { role, what }: { readonly role: string; readonly what: string },
): string {
  const { process } = began;
  for (const [part, why] of WITHOUT) {
    if (!findAll(story, part, 'log').some((log) => log.process === process)) continue;
    return `${process}, who ${why}, began without it to compute ${what} ${at(began)}`;
  }
  const grant = find(story, role, 'grant');
  const under = grant === undefined ? '' : ` under ${letterOf(story, grant.ordinal)}`;
  return `${process} began to compute ${what}${under} ${at(began)}`;
}

/** Why somebody has no lock, by role. */
const WITHOUT = [
  ['wait in vain', 'did not get the lock in time'],
  ['denied once', 'was denied the lock'],
] as const;

function cureOf(story: Story): string {
  if (WITHOUT.some(([part]) => findAll(story, part, 'log').length > 0)) {
    return 'A client that waits for as long as it takes, or gives up, does not compute beside the holder';
  }
  return story.grants.length < 2
    ? 'Under a lock one client computes the value, and the others find it when their turn comes'
    : 'A lock that may be lost cannot rule it out: what is memoized must bear being computed twice';
}

/** The key that the computing section read last. */
function keyOf({ trace }: Story, computing: EventOf<'mark'>): string {
  let key = '';
  for (const event of trace.events) {
    if (event === computing) break;
    if (event.kind !== 'invoke' || event.process !== computing.process) continue;
    if (event.call.verb === 'read') key = event.call.key;
  }
  return key;
}

/** By rule. */
export const computationTellers: readonly (readonly [rule: string, teller: Teller])[] = [
  ['computed-at-once', computedAtOnce],
];
