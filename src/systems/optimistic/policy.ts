/** What an optimistic client does when it cannot know whether its write was applied. */

export type Policy = 'read-again' | 'give-up' | 'retry-blindly';

/** The policy that an option's word names; any other word is that of giving up. */
export function policyOf(word: string): Policy {
  return word === 'read-again' || word === 'retry-blindly' ? word : 'give-up';
}
