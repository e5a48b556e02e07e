/**
 * Tells what did not last or did not come: forgotten fences and writes, broken sums, no progress.
 */
import { accessPhrase, at, listOf, whileFaults } from './phrases.ts';
import { find, findAll, letterOf, need, type Teller } from './story.ts';

const fenceForgotten: Teller = (story) => {
  const write = need(story, 'highest write', 'write');
  const recovery = need(story, 'recovery', 'recovered');
  const highest = `the highest token it knew for \`${recovery.resource}\` was ${recovery.highest}`;
  return {
    headline: `Highest token forgotten by \`${recovery.process}\``,
    course: accessPhrase(story, write),
    however: `the store came back ${at(recovery)} and ${highest}${whileFaults(story)}`,
    cure: 'A store that keeps its highest token where it keeps its values would have known it',
  };
};

const lostInRecovery: Teller = (story) => {
  const write = find(story, 'lost write', 'write');
  const recovery = find(story, 'recovery', 'recovered');
  const read = find(story, 'read', 'read');
  const acknowledgement = find(story, 'acknowledgement', 'return');
  const told =
    acknowledgement === undefined ? '' : `, which was acknowledged ${at(acknowledgement)}`;
  const back = recovery === undefined ? '' : `the store came back ${at(recovery)} without it`;
  const seen = read === undefined ? '' : `, and ${accessPhrase(story, read)}`;
  return {
    headline: `Accepted write lost by \`${write?.process ?? recovery?.process ?? 'the store'}\``,
    course: write === undefined ? '' : `${accessPhrase(story, write)}${told}`,
    however: `${back}${seen}${whileFaults(story)}`,
    cure: 'A store that answers only what it has made durable would have kept it',
  };
};

const sumBroken: Teller = (story) => {
  const reads = findAll(story, 'read', 'read');
  const writes = findAll(story, 'write', 'write');
  const key = (reads[0] ?? writes[0])?.key ?? '';
  const seen =
    reads.length === 0
      ? `\`${key}\` was left with a sum that is not 0`
      : listOf(reads.map((read) => `${accessPhrase(story, read)} in \`${read.process}\``));
  return {
    headline: `Transfer of \`${key}\` seen half done`,
    course: listOf(writes.map((write) => `${accessPhrase(story, write)} in \`${write.process}\``)),
    however: `${seen}${whileFaults(story)}`,
    cure: 'Fencing orders the writes of one store; only a transaction changes two stores at once',
  };
};

const probeWaited: Teller = (story) => {
  const first = need(story, 'first try', 'invoke');
  const grant = find(story, 'grant', 'grant');
  const holder = find(story, 'holder grant', 'grant');
  const denial = find(story, 'denial', 'deny');
  const lock = 'lock' in first.call ? first.call.lock : '';
  const end = grant === undefined ? 'was never granted it' : `was granted it only ${at(grant)}`;
  const who = holder === undefined ? '' : `, because ${letterOf(story, holder.ordinal)} held it`;
  const verb = denial?.waits === true ? 'put in line' : 'last denied';
  const denied = denial === undefined ? '' : `, ${verb} ${at(denial)}${who}`;
  return {
    headline: `\`${lock}\` is not given to a fresh client after healing`,
    course: `${first.process} asked for \`${lock}\` from ${at(first).slice(3)} on`,
    however: `it ${end}${denied}${whileFaults(story)}`,
    cure: 'A lease that ends by itself does not outlive a holder that is gone',
  };
};

const accessRefused: Teller = (story) => {
  const refused = need(story, 'refused access', 'write', 'read');
  const earlier = find(story, 'earlier access', 'write', 'read');
  const letter = letterOf(story, refused.under);
  const late = `the ${refused.kind} that came ${at(refused)} with token ${refused.token}`;
  const known =
    earlier === undefined ? '' : `, because ${accessPhrase(story, earlier)}, which it accepted`;
  return {
    headline: `Rightful holder refused by \`${refused.process}\``,
    course: `${refused.client} held ${letter}, the latest grant of \`${refused.resource}\``,
    however: `the store refused ${late}${known}`,
    cure: 'A store that refuses only lower tokens, of a lock whose tokens increase, takes it',
  };
};

const probeUnheard: Teller = (story) => {
  const write = need(story, 'first write', 'invoke');
  return {
    headline: `First write of ${write.process} never handled`,
    course: `${write.process} sent \`${write.operation}\` ${at(write)}, after healing`,
    however: 'no store handled it',
    cure: '',
  };
};

const probeDidNotWrite: Teller = (story) => {
  const grant = need(story, 'grant', 'grant');
  const held = `${grant.client} was granted ${letterOf(story, grant.ordinal)} ${at(grant)}`;
  return {
    headline: `${grant.client} holds \`${grant.lock}\` and does not write`,
    course: `${held}, after healing`,
    however: 'it never sent the write that its section has: what came before it stopped it',
    cure: '',
  };
};

/** By rule. */
export const promiseTellers: readonly (readonly [rule: string, teller: Teller])[] = [
  ['fence-forgotten', fenceForgotten],
  ['lost-in-recovery', lostInRecovery],
  ['sum-read', sumBroken],
  ['sum-at-end', sumBroken],
  ['probe-not-granted', probeWaited],
  ['probe-granted-late', probeWaited],
  ['probe-refused', accessRefused],
  ['holder-refused', accessRefused],
  ['probe-unheard', probeUnheard],
  ['probe-did-not-write', probeDidNotWrite],
];
