/** Why something waits: the server's sentence, with times in the viewer's zone, and links to the runs that it names and to where more can be learnt. */
import type { Why } from '@signalbox/protocol';
import { Link } from '@tanstack/react-router';
import { actorName, shortId } from './format.ts';
import { Ago, Time } from './now.tsx';
import { visible } from './visible.ts';

type Place = readonly [to: string, label: string];

const PLACES: Readonly<Partial<Record<Why['code'], Place>>> = {
  frozen: ['/limits', 'Limits'],
  halted: ['/limits', 'Limits'],
  breaker: ['/breakers', 'Breakers'],
  pool_missing: ['/limits', 'Limits'],
  pool_too_small: ['/limits', 'Limits'],
  pool_full: ['/limits', 'Limits'],
  cap_full: ['/limits', 'Limits'],
  reserved: ['/limits', 'Limits'],
  no_worker: ['/workers', 'Workers'],
  no_worker_fits: ['/workers', 'Workers'],
  no_room: ['/workers', 'Workers'],
  gang: ['/workers', 'Workers'],
  workers_busy: ['/queues', 'Queues'],
};

const RUN = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const INSTANT = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`;
const NAMED = new RegExp(`(${RUN}|${INSTANT})`);
const IS_RUN = new RegExp(`^${RUN}$`);
const IS_INSTANT = new RegExp(`^${INSTANT}$`);

export function WhyText({ why }: { readonly why: Why }) {
  const place = PLACES[why.code];
  const isTimed = why.until !== null && !why.message.includes(why.until);
  return (
    <>
      <Linked text={why.message} />
      {isTimed && (
        <>
          {' '}
          That ends <Ago at={why.until} />.
        </>
      )}
      {place !== undefined && (
        <>
          {' '}
          <Link to={place[0]} className="nowrap">
            {place[1]}
          </Link>
        </>
      )}
    </>
  );
}

/** Runs become links, instants local times. */
export function Linked({ text }: { readonly text: string }) {
  return visible(text)
    .split(NAMED)
    .map((part, at) => {
      const key = `${at} ${part}`;
      if (IS_RUN.test(part)) {
        return (
          <Link key={key} to="/runs/$id" params={{ id: part }} title={part}>
            {shortId(part)}
          </Link>
        );
      }
      if (IS_INSTANT.test(part)) return <Time key={key} at={part} />;
      // Tokens are told apart from people only where that matters.
      return part.replaceAll(/token:\S+?(?=[\s,.]|$)/g, actorName);
    });
}
