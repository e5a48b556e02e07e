/** The story of a contradiction as a list: *Let … Then … However … Cure …*. */
import type { Explanation } from '../check/verdict.ts';
import { element, type Markup, sentenceMarkup } from '../text/markup.ts';
import { lead, sentence } from './failure.ts';

/** Its parts that say anything, each beside its leading word. */
export function storyList({ given, next, however, cure }: Explanation): Markup {
  const part = (name: string, clause: string): Markup | [] =>
    clause === ''
      ? []
      : element(
          'div',
          { class: name.toLowerCase() },
          element('dt', {}, name),
          element('dd', {}, sentenceMarkup(stripLead(name, clause))),
        );
  return element('dl', { class: 'story' }, [
    part('Let', given),
    part('Then', next),
    part('However', however),
    part('Cure', cure),
  ]);
}

/** The clause after its leading word, which stands beside it. */
function stripLead(name: string, clause: string): string {
  return name === 'Cure' ? sentence(clause) : lead(name, clause).slice(name.length + 1);
}
