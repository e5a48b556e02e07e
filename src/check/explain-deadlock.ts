/** Tells how clients came to wait for one another in a circle. */
import type { Deadlock } from '../core/history/trace.ts';
import { at, whileFaults } from './phrases.ts';
import { need, type Teller } from './story.ts';

const deadlock: Teller = (story) => {
  const circle = need(story, 'circle', 'deadlock');
  const locks = circle.waits.map(({ lock }) => `\`${lock}\``);
  const whom = circle.waits.length === 2 ? 'the other' : 'the next';
  return {
    headline: `Deadlock over ${locks.join(' and ')}: each waits for ${whom}`,
    course: circlePhrase(circle),
    however: `the circle closed ${at(circle)} and none of them gave its lock back${whileFaults(story)}`,
    cure:
      'Clients that take their locks in one order never wait in a circle, and a lock service that ' +
      'denies the request which closes it breaks it up',
  };
};

/** `alice waits for b, held by bob, who waits for a, held by alice`. */
export function circlePhrase({ waits }: Deadlock): string {
  const links = waits.map(({ client, lock }, place) => {
    const holder = waits[(place + 1) % waits.length]?.client ?? '';
    return `${place === 0 ? client : 'who'} waits for ${lock}, held by ${holder}`;
  });
  return links.join(', ');
}

/** By rule. */
export const deadlockTellers: readonly (readonly [rule: string, teller: Teller])[] = [
  ['deadlock', deadlock],
];
